"""Rewrites a file whole. SQLite builds the new one aside, and here is said where.

Not in memory, which a bank may not fit into, and not in the system's folder for temporary files, which is shared. The
file has no name: it is unlinked as soon as it is open, so that nothing stays of it, not even after a crash.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _Folder:
    """Where SQLite puts temporary files is one setting of the whole process; so one thread has it at a time."""

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """After a fork the lock may be held by a thread that does not exist here."""
        self._lock = threading.Lock()

    @contextmanager
    def at(self, connection: sqlite3.Connection, folder: Path) -> Iterator[None]:
        with self._lock:
            before = connection.execute("PRAGMA temp_store_directory").fetchone()
            self._put(connection, str(folder))
            try:
                yield
            finally:
                self._put(connection, before[0] if before else "")

    def _put(self, connection: sqlite3.Connection, folder: str) -> None:
        written = folder.replace("'", "''")
        connection.execute(f"PRAGMA temp_store_directory = '{written}'")


_folder = _Folder()
os.register_at_fork(after_in_child=_folder.start_anew)


def vacuum(connection: sqlite3.Connection, path: Path) -> None:
    with _folder.at(connection, path.parent.absolute()):
        connection.execute("PRAGMA temp_store = FILE")
        try:
            connection.execute("VACUUM")
        finally:
            connection.execute("PRAGMA temp_store = MEMORY")
