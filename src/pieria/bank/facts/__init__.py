"""Facts: the verbs, and the extraction of facts from texts."""
