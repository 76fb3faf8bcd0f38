"""Conversations: one module for each format, from a host's files to turns, and the search for such files."""
