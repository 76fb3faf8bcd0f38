"""Reads: by id, by list, by question and along links."""
