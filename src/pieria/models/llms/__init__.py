"""The language models: one file for what all servers share, one a protocol, and one for a function of the user's."""
