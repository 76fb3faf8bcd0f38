"""The embedded store, on the standard library's SQLite."""

from pieria.store.sqlite.file import is_database, is_live_database
from pieria.store.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore", "is_database", "is_live_database"]
