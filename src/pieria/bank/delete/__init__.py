"""Removal, erasure, undo and quarantine."""
