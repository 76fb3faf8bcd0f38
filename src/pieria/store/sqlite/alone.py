"""A bank's file while nobody else has it open: what takes it away, or puts another in its place, does so meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pieria.errors import BusyError, StorageError
from pieria.store.sqlite.file import existing

IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_READONLY_DBMOVED", "SQLITE_CANTOPEN")
"""Another connection stands in the way, or somebody else has just put a file in this one's place or taken it away."""


@contextmanager
def nobody_using(target: Path, operation: str) -> Iterator[sqlite3.Connection]:
    """Holds the bank for itself alone, its log written into it. Raises `BusyError` where another has it open.

    Of a file that is damaged or no database nobody can tell; then nobody can be using it as a bank either.
    """
    try:
        present = sqlite3.connect(existing(target), uri=True, timeout=0, isolation_level=None)
    except sqlite3.OperationalError as problem:
        raise _refused(problem, target, operation) from problem
    with closing(present):
        try:
            present.execute("PRAGMA journal_mode = DELETE")
            present.execute("BEGIN EXCLUSIVE")
            [(mode,)] = present.execute("PRAGMA journal_mode")
        except sqlite3.DatabaseError as problem:
            if not _name(problem).startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                raise _refused(problem, target, operation) from problem
        else:
            if mode != "delete":
                # Opened between the two: beside a log, to hold the file for writing keeps no reader out.
                raise _in_use(target, operation)
        yield present


def _refused(problem: sqlite3.DatabaseError, target: Path, operation: str) -> StorageError:
    if not _name(problem).startswith(IN_USE):
        return StorageError(operation, f"{target} cannot be opened ({problem})")
    return _in_use(target, operation)


def _in_use(target: Path, operation: str) -> BusyError:
    return BusyError(
        operation,
        f"another process has {target.name} open, or is restoring or removing it",
        hint=f"Close it there, then {operation} again; nothing was changed.",
    )


def _name(problem: sqlite3.DatabaseError) -> str:
    return getattr(problem, "sqlite_errorname", None) or ""
