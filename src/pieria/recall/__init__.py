"""Reading: from a question to ranked hits with their reasons, through the store's `Reader`. It never writes."""
