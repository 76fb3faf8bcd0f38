"""Seals a bank's file, unseals it, or changes its key. A new file is written beside, compared, and renamed into place.

Only the rename changes the bank. A crash leaves files beside it that are no banks. The next opening deletes them, after
overwriting those that could be read.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from pieria.errors import CorruptError
from pieria.store.files import UNFINISHED, flush, written_aside
from pieria.store.protocol import Progress
from pieria.store.seal import Seal
from pieria.store.sqlite.alone import nobody_using
from pieria.store.sqlite.connection import translated
from pieria.store.sqlite.file import LOGS, logs
from pieria.store.sqlite.seal_driver import ciphered, connect, is_sealed, key_of
from pieria.store.sqlite.statements import statements

log = logging.getLogger(__name__)

BESIDE = ".converting"
FORMER = ".former"
AT_ONCE = 1 << 20


def convert(
    target: Path, operation: str, held: Seal | None, wanted: Seal | None, progress: Progress | None = None
) -> list[str]:
    """Convert a file from the seal `held` to the seal `wanted`; None is no seal. Return where plain text is left, as
    far as known. Raise `BusyError`, with nothing changed, if another connection has the bank open.
    """
    file = target.resolve()
    beside = file.with_name(file.name + BESIDE)
    with (
        translated(operation, target),
        nobody_using(file, operation, held, to_seal=held is None) as connection,
        written_aside(beside, operation, LOGS) as aside,
    ):
        # The lock must outlive the transaction: within one, no other file can be attached.
        connection.execute("PRAGMA main.locking_mode = EXCLUSIVE")
        connection.execute("COMMIT")
        write_anew(connection, file, aside, wanted, operation, progress)
        return _put_in_place(file, aside, was_sealed=held is not None)


def sealed_copy(plain: Path, aside: Path, seal: Seal, operation: str) -> None:
    """Write a sealed copy of a plain file that no other process knows."""
    with closing(ciphered(plain, None, operation, is_sealed=False)) as connection:
        write_anew(connection, plain, aside, seal, operation)


def write_anew(
    source: sqlite3.Connection,
    file: Path,
    aside: Path,
    wanted: Seal | None,
    operation: str,
    progress: Progress | None = None,
) -> None:
    """Copy everything from a connection's file, compare it row by row, and sync it to the disk."""
    sql = statements("converting.sql")
    key = "" if wanted is None else key_of(wanted, is_new=True)
    source.execute(sql["attach"], (str(aside), key))
    try:
        source.execute(sql["write"]).fetchall()
        for mark in ("application_id", "user_version"):
            [(value,)] = source.execute(f"PRAGMA main.{mark}")
            source.execute(f"PRAGMA made.{mark} = {value}")
        _compare(source, file, operation, progress)
    finally:
        source.execute(sql["detach"])
    with closing(connect(aside, wanted, operation)) as made:
        said = [row[0] for row in made.execute("PRAGMA integrity_check(5)")]
    if said != ["ok"]:
        raise _differs(operation, file, "; ".join(said))
    flush(aside)


def _compare(connection: sqlite3.Connection, file: Path, operation: str, progress: Progress | None) -> None:
    sql = statements("converting.sql")
    schemas = [connection.execute(sql["schema"].format(name=name)).fetchall() for name in ("main", "made")]
    if schemas[0] != schemas[1]:
        raise _differs(operation, file, "its tables")
    tables = [name for (name,) in connection.execute(sql["tables"])]
    for number, table in enumerate(tables):
        if progress is not None:
            progress(number, len(tables))
        spelt = table.replace('"', '""')
        both = (connection.execute(sql["rows"].format(name=name, table=spelt)) for name in ("main", "made"))
        if any(one != other for one, other in zip_longest(*both)):
            raise _differs(operation, file, table)
    if progress is not None:
        progress(len(tables), len(tables))


def _differs(operation: str, file: Path, what: str) -> CorruptError:
    hint = "The bank was not changed. Run `pieria doctor` to check its file."
    return CorruptError(operation, f"the new copy of {file} differs from it in {what}", hint=hint)


def _put_in_place(file: Path, aside: Path, *, was_sealed: bool) -> list[str]:
    links = file.stat().st_nlink - 1
    former = aside.with_name(aside.name.removesuffix(UNFINISHED) + FORMER + UNFINISHED)
    os.link(file, former)
    os.replace(aside, file)
    flush(file.parent)
    for log_of in logs(file):
        log_of.unlink(missing_ok=True)
    if was_sealed:
        former.unlink()
        return []
    if links:
        former.unlink()
        return [f"the unencrypted file, under {links} other names on the disk (hard links)"]
    _wipe(former)
    flush(file.parent)
    return []


def clear(bank: Path) -> list[str]:
    """Delete files that a killed conversion left. The caller must have the bank open, which keeps conversions out.
    Return the names of those that held plain text.
    """
    file = bank.resolve()
    plain = []
    for found in file.parent.glob(f".{glob_of(file.name)}{BESIDE}.*{UNFINISHED}*"):
        try:
            about = found.stat()
            if about.st_nlink > 1 or not about.st_size or is_sealed(found):
                # A further name of the bank's own file, or a file without readable text.
                found.unlink()
                continue
            _wipe(found)
        except FileNotFoundError:
            # Another process that opened the bank has just deleted it.
            continue
        plain.append(found.name)
    for name in plain:
        log.warning("%s: a crash during the conversion left %s unencrypted; it was erased", bank.name, name)
    return plain


def glob_of(name: str) -> str:
    """Return the name escaped, so that a glob pattern matches it alone."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in name)


def _wipe(path: Path) -> None:
    """Overwrite and delete a file. It must not be open as a database."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOFOLLOW), "wb", buffering=0) as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            left -= file.write(bytes(min(left, AT_ONCE)))
        os.fsync(file.fileno())
    path.unlink()
