"""The read path: from a query to ranked hits with reasons, through the store's `Reader`. It never writes."""
