"""A whole bank from one store to another, as it stands: every version, time and number, and what is still to be done.

Unlike an export this is for stores alone: it needs nothing but their protocol, and nobody can tell the copy by what it
answers. It is taken from one moment of the source, while others write there, and is there whole or not at all.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pieria.store.files import flush, written_aside
from pieria.store.protocol import Progress, Store
from pieria.store.seal import Seal


def copy(source: Store, target: Store, progress: Progress | None = None) -> dict[str, int]:
    """Returns how many lines each table has. Raises `ConflictError` where the target holds anything yet."""
    with source.reading() as reader, target.writing() as writer:
        return writer.fill(reader, progress)


def copy_to_file(
    source: Store, path: Path, progress: Progress | None = None, seal: Seal | None = None
) -> dict[str, int]:
    """As a file of the embedded store, which can be opened where it is; it appears only when it is whole."""
    from pieria.store.sqlite import SQLiteStore
    from pieria.store.sqlite.file import LOGS, as_backup
    from pieria.store.sqlite.turn import ENDING

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
    """What `copy_to_file` made, or the backup of an embedded bank, however old; the file stays as it is."""
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
