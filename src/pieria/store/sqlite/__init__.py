"""The embedded store, on the standard library's SQLite."""

from pieria.store.sqlite.file import LOGS, is_database, is_live_database
from pieria.store.sqlite.store import SQLiteStore
from pieria.store.sqlite.turn import ENDING

BESIDE = (*LOGS, ENDING)
"""How the names of files end that come to lie beside a bank's."""

__all__ = ["BESIDE", "SQLiteStore", "is_database", "is_live_database"]
