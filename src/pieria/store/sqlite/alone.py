"""Exclusive use of a bank's file, for removing or replacing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pieria.errors import BusyError, StorageError
from pieria.store.files import flush
from pieria.store.seal import Seal
from pieria.store.sqlite.seal_driver import ciphered, connect, database_errors, name_of, operational_errors
from pieria.store.sqlite.write_lock import beside

IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_READONLY_DBMOVED", "SQLITE_CANTOPEN")
"""Errors if another connection has the file open, or another process just replaced or removed it."""


@contextmanager
def nobody_using(
    target: Path, operation: str, seal: Seal | None = None, *, to_seal: bool = False
) -> Iterator[sqlite3.Connection]:
    """Hold the bank exclusively, with its log merged into it. Raise `BusyError` if another connection has it open.

    A damaged file, or one that is no database, is yielded without a lock. It cannot be in use as a bank. With
    `to_seal`, a plain file is opened by the driver that can encrypt it.
    """
    try:
        if to_seal:
            present = ciphered(target, None, operation, is_sealed=False, timeout=0)
        else:
            present = connect(target, seal, operation, timeout=0)
    except operational_errors() as problem:
        raise _refused(problem, target, operation) from problem
    with closing(present):
        try:
            present.execute("PRAGMA journal_mode = DELETE")
            present.execute("BEGIN EXCLUSIVE")
            [(mode,)] = present.execute("PRAGMA journal_mode")
        except database_errors() as problem:
            if not name_of(problem).startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                raise _refused(problem, target, operation) from problem
        else:
            if mode != "delete":
                # Opened between the two statements: in WAL mode the exclusive lock keeps no reader out.
                raise _in_use(target, operation)
        yield present


def take_away(target: Path) -> list[str]:
    """Delete a bank's file, held by `nobody_using`. Raise `StorageError` if the bank still exists, complete.

    Return what failed after the bank was deleted. The turn's file goes first: a new bank of this name makes its own.
    """
    file = target.resolve()
    is_link = target.is_symlink()
    for each in (beside(target), file):
        try:
            each.unlink(missing_ok=each != file)
        except OSError as problem:
            raise StorageError(
                "remove",
                f"{each} cannot be deleted ({problem.strerror}); the bank is still there, and whole",
                hint=f"Allow this user to delete files in {each.parent}, then remove the bank again.",
            ) from problem
    left = []
    try:
        # Without a link the name is free already: a file there now is a new bank.
        if is_link:
            target.unlink(missing_ok=True)
    except OSError as problem:
        left.append(f"the dangling link {target.name}: it cannot be deleted ({problem.strerror})")
    try:
        flush(file.parent)
        flush(target.parent)
    except OSError as problem:
        left.append(f"its file after a power cut: the disk does not confirm that it is gone ({problem.strerror})")
    return left


def _refused(problem: Exception, target: Path, operation: str) -> StorageError:
    if not name_of(problem).startswith(IN_USE):
        return StorageError(operation, f"{target} cannot be opened ({problem})")
    return _in_use(target, operation)


def _in_use(target: Path, operation: str) -> BusyError:
    return BusyError(
        operation,
        f"another process has {target.name} open, or is restoring or removing it",
        hint=f"Close the bank there, then {operation} again; nothing was changed.",
    )
