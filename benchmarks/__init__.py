"""Measures the promised speed and retrieval quality on any machine. Not part of the installed package."""
