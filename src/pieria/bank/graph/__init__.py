"""The graph of experience and knowledge."""
