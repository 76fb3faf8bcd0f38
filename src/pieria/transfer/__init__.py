"""A bank as a file: exports that any program can read, their import, and bringing back backups.

Files are read and written here; a bank is only read. What an import wants written is handed up as changesets.
"""
