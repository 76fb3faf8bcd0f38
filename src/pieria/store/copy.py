"""Copies a whole bank from one store to another: all versions, times, row numbers and pending work.

Unlike an export it needs only the protocol of stores, and the copy gives the same answers as the source. It reads one
snapshot of the source while others write there. The copy appears complete or not at all.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pieria.store.files import flush, written_aside
from pieria.store.protocol import Progress, Store
from pieria.store.seal import Seal


def copy(source: Store, target: Store, progress: Progress | None = None) -> dict[str, int]:
    """Return the number of rows of each table. Raise `ConflictError` if the target is not empty."""
    with source.reading() as reader, target.writing() as writer:
        return writer.fill(reader, progress)


def copy_to_file(
    source: Store, path: Path, progress: Progress | None = None, seal: Seal | None = None
) -> dict[str, int]:
    """Copy into a file of the embedded store, ready to open. The file appears only when it is complete."""
    from pieria.store.sqlite import SQLiteStore
    from pieria.store.sqlite.file import LOGS, as_backup
    from pieria.store.sqlite.write_lock import ENDING

    with written_aside(path, "backup", (*LOGS, ENDING)) as aside:
        aside.unlink()
        made = SQLiteStore(aside, durability="off", seal=seal)
        try:
            lines = copy(source, made, progress)
        finally:
            made.close()
        as_backup(aside, seal)
        flush(aside)
        os.replace(aside, path)
        flush(path.parent)
    return lines


def copy_from_file(
    file: Path, target: Store, progress: Progress | None = None, seal: Seal | None = None
) -> dict[str, int]:
    """Copy from a file of `copy_to_file`, or from any backup of an embedded bank. The file is not changed."""
    from pieria.store.sqlite import SQLiteStore
    from pieria.store.sqlite.restore import restore_file

    with tempfile.TemporaryDirectory(prefix="pieria-") as folder:
        aside = Path(folder) / "bank.db"
        restore_file(file, aside, replace=False, progress=None, seal=seal)
        source = SQLiteStore(aside, seal=seal)
        try:
            return copy(source, target, progress)
        finally:
            source.close()
