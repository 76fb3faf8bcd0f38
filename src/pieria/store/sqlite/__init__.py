"""The embedded store, on the standard library's SQLite."""

from pieria.store.sqlite.file import LOGS, is_database, is_live_database
from pieria.store.sqlite.store import SQLiteStore
from pieria.store.sqlite.write_lock import ENDING

BESIDE = (*LOGS, ENDING)
"""Suffixes of the files that may appear beside a bank's file."""

__all__ = ["BESIDE", "SQLiteStore", "is_database", "is_live_database"]
