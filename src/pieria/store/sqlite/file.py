"""What database a file is, asked without ever opening it beside SQLite.

A process that opens and closes a database's file by itself gives up the locks its connections hold on it, whoever they
belong to; others may then take the log away under a bank in use. SQLite knows its own open files and takes care.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from pieria.store.seal import Seal
from pieria.store.sqlite.seal_driver import ciphered, connect, database_errors, is_sealed, mark_of, name_of
from pieria.store.sqlite.turn import beside

LOGS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, after the database's own name."""


def read_only(path: Path, seal: Seal | None = None) -> sqlite3.Connection:
    return connect(path, seal, "read", "ro", timeout=0)


def is_database(path: Path) -> bool:
    return mark_of(path) is not None


def is_live_database(path: Path) -> bool:
    """One that keeps a write-ahead log, as banks in use do and backups do not. Of a sealed one only that can be said
    whether anybody ever wrote to it as a bank.
    """
    if is_sealed(path):
        return beside(path).exists()
    return _journal_mode(path) in ("wal", "")


def logs(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in LOGS]


def _journal_mode(path: Path) -> str | None:
    """None for what is no database; empty for one that cannot be looked into, damaged or locked."""
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
    """From now on nothing is kept beside it, so that it can be read from a folder in which nobody may write."""
    with closing(connect(path, seal, "backup")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def empty(path: Path, seal: Seal | None, operation: str) -> sqlite3.Connection:
    """A connection to a file in which nothing is yet, and which is sealed with a `seal`."""
    if seal is not None:
        return ciphered(path, seal, operation, is_sealed=True)
    return sqlite3.connect(path, isolation_level=None)
