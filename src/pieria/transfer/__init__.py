"""A bank as a file: exports that any program can read, their import, and the restore of backups.

Files are read and written here; a bank is only read. Imports return changesets for the caller to apply.
"""
