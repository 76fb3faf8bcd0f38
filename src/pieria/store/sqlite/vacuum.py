"""Rewrites a whole file, and chooses the folder where SQLite builds the new one.

The new file is not built in memory, where it may not fit, nor in the system's shared temporary folder. It is unlinked
right after opening, so that nothing of it remains, even after a crash.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pieria.runtime import forks

_lock: forks.Own[threading.Lock] = forks.Own()
"""SQLite's folder for temporary files is one setting of the process, so one thread holds it at a time."""


@contextmanager
def _building_in(folder: Path, connection: sqlite3.Connection) -> Iterator[None]:
    with _lock.get(threading.Lock):
        before = connection.execute("PRAGMA temp_store_directory").fetchone()
        _put(connection, str(folder))
        try:
            yield
        finally:
            _put(connection, before[0] if before else "")


def _put(connection: sqlite3.Connection, folder: str) -> None:
    written = folder.replace("'", "''")
    connection.execute(f"PRAGMA temp_store_directory = '{written}'")


def vacuum(connection: sqlite3.Connection, path: Path) -> None:
    with _building_in(path.parent.absolute(), connection):
        connection.execute("PRAGMA temp_store = FILE")
        try:
            connection.execute("VACUUM")
        finally:
            connection.execute("PRAGMA temp_store = MEMORY")
