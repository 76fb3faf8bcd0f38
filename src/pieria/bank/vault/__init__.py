"""Memories as notes in a folder of Markdown files."""
