"""The verbs that read: by id, list, query and links."""
