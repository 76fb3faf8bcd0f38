"""Conversations: a file a format, each from what a host wrote down to turns, and the search for them."""
