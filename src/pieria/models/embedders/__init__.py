"""What makes vectors, one way a file; `registry` chooses."""
