"""A toolset that no server should trust: it is slow, prints, fails and returns invalid JSON."""
