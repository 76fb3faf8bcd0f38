"""Finds out what database a file is, without opening it outside of SQLite.

A process that opens and closes a database's file itself drops the locks of all its connections on it. Other processes
may then delete the log of a bank in use. SQLite knows its own open files and avoids that.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from pieria.store.seal import Seal
from pieria.store.sqlite.seal_driver import ciphered, connect, database_errors, is_sealed, mark_of, name_of
from pieria.store.sqlite.write_lock import beside

APPLICATION_ID = 0x50494552
"""Marks a file as a bank: `PIER` in its header."""
LOGS = ("-wal", "-shm", "-journal")
"""Suffixes of SQLite's files beside a database."""


def read_only(path: Path, seal: Seal | None = None) -> sqlite3.Connection:
    return connect(path, seal, "read", "ro", timeout=0)


def is_database(path: Path) -> bool:
    return mark_of(path) is not None


def is_live_database(path: Path) -> bool:
    """Return whether the file has a write-ahead log, as banks in use do and backups do not. For a sealed file, return
    whether it was ever written to as a bank.
    """
    if is_sealed(path):
        return beside(path).exists()
    return _journal_mode(path) in ("wal", "")


def logs(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in LOGS]


def _journal_mode(path: Path) -> str | None:
    """Return the journal mode; None for a file that is no database, empty for one that is damaged or locked."""
    if mark_of(path) is None:
        return None
    try:
        with closing(read_only(path)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
            mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
            return mode
    except database_errors() as problem:
        return None if name_of(problem) == "SQLITE_NOTADB" else ""


def as_backup(path: Path, seal: Seal | None = None) -> None:
    """Turn the log off, so that the file can be read in a folder without write permission."""
    with closing(connect(path, seal, "backup")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def empty(path: Path, seal: Seal | None, operation: str) -> sqlite3.Connection:
    """Return a connection to an empty file, which a `seal` encrypts."""
    if seal is not None:
        return ciphered(path, seal, operation, is_sealed=True)
    return sqlite3.connect(path, isolation_level=None)
