"""Export, import, backup and restore."""
