"""Rewrites a whole file, and chooses the folder where SQLite builds the new one.

The new file is not built in memory, where it may not fit, nor in the system's shared temporary folder. It is unlinked
right after opening, so that nothing of it remains, even after a crash.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _Folder:
    """SQLite's folder for temporary files. It is one setting of the process, so one thread holds it at a time."""

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Reset after a fork, when a missing thread may hold the lock."""
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
