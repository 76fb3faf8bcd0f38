"""What database a file is, asked without ever opening it beside SQLite.

A process that opens and closes a database's file by itself gives up the locks its connections hold on it, whoever they
belong to; others may then take the log away under a bank in use. SQLite knows its own open files and takes care.
"""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

UNREADABLE = -1
"""The mark of a database that cannot be looked into."""
LOGS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, after the database's own name."""


def existing(path: Path) -> str:
    """The file as an address by which SQLite opens what is there, and makes nothing: a bank that was taken away under
    whoever has it open must not come back as an empty file.
    """
    return f"{path.absolute().as_uri()}?mode=rw"


def read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0, isolation_level=None)


def is_database(path: Path) -> bool:
    return mark_of(path) is not None


def mark_of(path: Path) -> int | None:
    """By which number a database says whose it is, as far as it stands in the file itself; None for no database.

    Nothing is left beside the file, as a look at one that keeps a write-ahead log otherwise would: taken for
    immutable, its log is not asked, and no lock of it is touched.
    """
    if not _holds_something(path):
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
            return mark
    except sqlite3.DatabaseError as problem:
        return None if _is_no_database(problem) else UNREADABLE


def is_live_database(path: Path) -> bool:
    """One that keeps a write-ahead log, as banks in use do and backups do not."""
    return _journal_mode(path) in ("wal", "")


def logs(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in LOGS]


def _journal_mode(path: Path) -> str | None:
    """None for what is no database; empty for one that cannot be looked into, damaged or locked."""
    if not _holds_something(path):
        return None
    try:
        with closing(read_only(path)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
            mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
            return mode
    except sqlite3.DatabaseError as problem:
        return None if _is_no_database(problem) else ""


def _holds_something(path: Path) -> bool:
    """Whether it is a file and not empty. What has gone since it was named is neither."""
    try:
        about = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISREG(about.st_mode) and about.st_size > 0


def _is_no_database(problem: sqlite3.DatabaseError) -> bool:
    return getattr(problem, "sqlite_errorname", None) == "SQLITE_NOTADB"


def as_backup(path: Path) -> None:
    """From now on nothing is kept beside it, so that it can be read from a folder in which nobody may write."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
