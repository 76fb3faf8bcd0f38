"""A toolset that no server should trust: it is slow, it prints, it fails, it answers what is no JSON."""
