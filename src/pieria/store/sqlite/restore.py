"""Restores a bank from a backup: copies it aside, checks it completely, and then puts it in place.

A replaced bank is never deleted: it stays beside the new one, under a name with the time of replacement.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from pieria.errors import (
    ConflictError,
    CorruptError,
    ForeignFileError,
    PieriaError,
    TransferError,
)
from pieria.record.time import iso, system_clock
from pieria.store.files import flush, stamp, unreadable, written_aside
from pieria.store.parts import Tallied, counts
from pieria.store.protocol import Progress
from pieria.store.seal import Seal
from pieria.store.sqlite.alone import nobody_using
from pieria.store.sqlite.connection import translated
from pieria.store.sqlite.conversion import sealed_copy
from pieria.store.sqlite.file import APPLICATION_ID, LOGS, empty, is_database, logs, read_only
from pieria.store.sqlite.migrate import migrate
from pieria.store.sqlite.seal_driver import connect, database_errors, is_sealed
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.sums import RECORD, differing

OPERATION = "restore"
PAGES_A_STEP = 2_000


class Restored(NamedTuple):
    replaced: Path | None
    """Where the replaced bank is now."""
    bytes: int
    seq: int
    counts: dict[str, int]
    unpurged: tuple[str, ...] | None
    """Ids that the replaced bank had purged and that are back. None if that bank could not be read."""


def restore_file(
    file: Path, target: Path, *, replace: bool, progress: Progress | None, seal: Seal | None = None
) -> Restored:
    """Restore a backup. A sealed backup becomes a sealed bank; with a `seal`, a plain one does too.

    Raise before the target is changed if the file is no complete bank, or the target is in the way.
    """
    if not is_database(file):
        raise _no_backup(file)
    if target.exists() and os.path.samefile(file, target):
        raise TransferError(file, "it is the bank's own file, not a backup of it")
    if target.exists() and not replace:
        raise _in_the_way(target)
    with written_aside(target, OPERATION, LOGS) as copy:
        _copy(file, copy, progress, seal)
        seq, counts = _checked(file, copy, seal)
        if seal is not None and not is_sealed(copy):
            with written_aside(copy, OPERATION, LOGS) as sealed:
                sealed_copy(copy, sealed, seal, OPERATION)
                os.replace(sealed, copy)
        size = copy.stat().st_size
        unpurged = _unpurged(target, copy, seal)
        replaced = _put_in_place(copy, target, replace, seal)
    return Restored(replaced, size, seq, counts, unpurged)


def _no_backup(file: Path) -> PieriaError:
    if file.is_dir():
        return TransferError(file, "it is a folder; name the backup in it")
    try:
        with file.open("rb") as opened:
            start = opened.read(64)
    except OSError as problem:
        raise unreadable(file, problem) from problem
    if start.startswith(b'{"pieria":"export"'):
        return TransferError(file, "it is an export, not a backup", hint="Import it with `pieria import`.")
    return ForeignFileError(OPERATION, f"{file} is not a database", hint="Give the file that `backup` made.")


def _in_the_way(target: Path) -> ConflictError:
    hint = "Restore under another name, or with replace, which keeps a copy of the present bank."
    return ConflictError("a bank of this name exists already", ids=(target.stem,), hint=hint)


def _copy(file: Path, target: Path, progress: Progress | None, seal: Seal | None) -> None:
    """Copy through SQLite, so that a log left beside a copied database is included."""

    def report(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with (
        translated(OPERATION, file, seal),
        closing(read_only(file, seal)) as source,
        closing(empty(target, seal if is_sealed(file) else None, OPERATION)) as copy,
    ):
        source.backup(copy, pages=PAGES_A_STEP, progress=report)
        copy.execute("PRAGMA journal_mode = DELETE")


def _checked(file: Path, copied: Path, seal: Seal | None) -> tuple[int, dict[str, int]]:
    """Return (seq, counts) of a complete bank of a known schema, else raise. Migrates an older schema in the copy."""
    with translated(OPERATION, file, seal), closing(connect(copied, seal, OPERATION)) as copy:
        if copy.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise ForeignFileError(OPERATION, f"{file} is a database of another program")
        said = [row[0] for row in copy.execute("PRAGMA integrity_check(5)")]
        if said != ["ok"]:
            hint = "Restore an older backup; the bank was not changed."
            raise CorruptError(OPERATION, f"{file} is damaged ({'; '.join(said)})", hint=hint)
        migrate(copy, file, iso(system_clock()), lambda number: None)
        if damaged := [table for table in RECORD if differing(copy, table)]:
            reason = f"{file} is damaged: rows of {', '.join(damaged)} differ from their checksums"
            raise CorruptError(OPERATION, reason, hint="Restore an older backup; the bank was not changed.")
        sql = statements("queries.sql")
        seq = dict(copy.execute(sql["head"]))["seq"]
        held = counts(map(Tallied._make, copy.execute(sql["tally"])), dict(copy.execute(sql["totals"])))
    flush(copied)
    return seq, held


def _unpurged(target: Path, copy: Path, seal: Seal | None) -> tuple[str, ...] | None:
    """Return the ids that the target purged and the copy holds. None if the target is too damaged to say."""
    if not is_database(target):
        return ()
    sql = statements("restoring.sql")
    try:
        with closing(read_only(target, seal)) as held:
            purged = [id for (id,) in held.execute(sql["every_purged"])]
    except database_errors():
        return None
    with closing(read_only(copy, seal)) as restored:
        return tuple(id for (id,) in restored.execute(sql["held_of"], {"ids": json.dumps(purged)}))


def _put_in_place(copy: Path, target: Path, replace: bool, seal: Seal | None) -> Path | None:
    kept = _kept_name(target)
    if not target.exists():
        _move_logs(target, kept)
        _appear(copy, target)
        return None
    if not replace:
        raise _in_the_way(target)
    with nobody_using(target, OPERATION, seal):
        _move_logs(target, kept)
        os.link(target, kept)
        os.replace(copy, target)
    flush(target.parent)
    return kept


def _appear(copy: Path, target: Path) -> None:
    """Put the copy in place by a link: unlike a rename, it cannot replace a bank made meanwhile."""
    try:
        os.link(copy, target)
    except FileExistsError:
        raise _in_the_way(target) from None
    flush(target.parent)


def _kept_name(target: Path) -> Path:
    """Return the name for the replaced bank. Its suffix makes a purge list it as a backup."""
    return target.with_name(f"{target.stem}.replaced-{stamp(system_clock())}.backup")


def _move_logs(target: Path, kept: Path) -> None:
    """Move old logs along with the replaced file: SQLite would apply them to the new one."""
    for log, beside in zip(logs(target), logs(kept), strict=True):
        if log.exists():
            os.replace(log, beside)
