"""The files beside a bank: copies, unfinished copies, and the permissions of the bank's file.

Only SQLite may open a bank's file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pieria.errors import InputError
from pieria.record.banks import check_bank_name
from pieria.store.files import UNFINISHED
from pieria.store.protocol import Finding
from pieria.store.sqlite.file import APPLICATION_ID, LOGS
from pieria.store.sqlite.seal_driver import NEITHER, SEALED, is_sealed, mark_of
from pieria.store.sqlite.write_lock import ENDING as TURN

BANK = ".db"
BACKUP = ".backup"
SETTINGS = (".toml",)
OF_OTHERS = (
    *("tokens.json", "tokens.lock", "setup.json", "serve.lock", "pieria.sock.lock"),
    *("model.lock", "model.failed"),
)
"""Files of the doors: they hold nothing of any bank."""
EXPORT_BEGINS = b'{"pieria":"export"'
EXPORTS = ("exports",)
"""Folders where every file counts as an export, even without the first bytes of one: it may have been compressed."""


def copies(path: Path, *, plain: bool = False) -> list[str]:
    """List files in or below the bank's folder that may hold earlier contents of the bank, each with its kind. A file
    that disappears meanwhile, such as a finished export's temporary file, is left out. With `plain`, sealed files are
    left out.
    """
    folder, own = path.parent, (path, path.resolve())
    closed: list[OSError] = []
    lines = [
        f"{what} {found.relative_to(folder)}"
        for found in sorted(_files(folder, closed))
        if found not in own and (what := _what(found, folder)) and os.path.lexists(found)
        if not (plain and is_sealed(found))
    ]
    return lines + [
        f"folder {problem.filename}: it cannot be read ({problem.strerror})"
        for problem in closed
        if not isinstance(problem, FileNotFoundError)
    ]


def mode(path: Path) -> Finding:
    if os.name != "posix":
        return Finding("file mode", True, "not kept by this system")
    try:
        held = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        remedy = "Make a backup while the bank is still open here, then restore that backup."
        return Finding("file mode", False, f"{path.name} was deleted or moved while the bank was open", remedy)
    well = not held & 0o077
    return Finding("file mode", well, f"{held:o}", None if well else f"Run `chmod 600 {path}`: others can read it.")


def leftovers(path: Path) -> Finding:
    """Name unfinished copies. They are no damage, but no purge reaches them."""
    found = sorted(path.parent.glob(f".*{UNFINISHED}"))
    if not found:
        return Finding("leftovers", True, "no unfinished copies in the bank's folder")
    whole = sum(size(part) for part in found)
    names = ", ".join(part.name for part in found)
    remedy = f"Unless a backup, export or restore is under way, delete in {path.parent}: {names}."
    return Finding("leftovers", True, f"{len(found)} unfinished, of {whole:,} bytes: {names}", remedy)


def _files(folder: Path, closed: list[OSError]) -> Iterator[Path]:
    for root, _, names in os.walk(folder, onerror=closed.append):
        for name in names:
            found = Path(root, name)
            try:
                is_file = stat.S_ISREG(found.lstat().st_mode)
            except OSError as problem:
                closed.append(problem)
            else:
                if is_file:
                    yield found


def _what(found: Path, folder: Path) -> str | None:
    """Return what kind of copy a file is. None for banks, their logs, settings, empty files, and other files below.

    An empty file may become a bank at any moment and must not be opened outside of SQLite. A database of another
    program counts as any other file.
    """
    name, log_of = found.name, _log_of(found)
    if not size(found):
        return None
    if UNFINISHED in found.suffixes or name.endswith(tuple(UNFINISHED + log for log in LOGS)):
        return "unfinished copy"
    if log_of is not None and log_of.name.endswith(BANK):
        # Its bank's file may be gone, while the log still has content.
        return None if log_of.exists() else "log"
    mark = mark_of(found)
    if mark is not None and found.suffix == BANK and _is_bank(found, mark, folder):
        return None
    if BACKUP in name or mark in (APPLICATION_ID, NEITHER, SEALED):
        return "backup"
    if found.relative_to(folder).parts[0] in EXPORTS or _begins_like_an_export(found):
        return "export"
    return "file" if found.parent == folder and found.suffix not in SETTINGS and name not in OF_OTHERS else None


def _is_bank(found: Path, mark: int, folder: Path) -> bool:
    """Return whether a file is a bank. In the data folder its name must be a bank's. A new bank has its mark in the
    log.

    A folder below may be another data folder. There, a file that was opened as a bank counts, but no mere copy.
    """
    if found.parent != folder:
        return found.with_name(found.name + TURN).exists()
    try:
        check_bank_name(found.name.removesuffix(BANK))
    except InputError:
        return False
    return mark in (APPLICATION_ID, SEALED) or size(found.with_name(f"{found.name}-wal")) > 0


def size(found: Path) -> int:
    """Return the file's size; 0 if it disappeared."""
    try:
        return found.stat().st_size
    except FileNotFoundError:
        return 0


def _log_of(found: Path) -> Path | None:
    for ending in LOGS:
        if found.name.endswith(ending):
            return found.with_name(found.name.removesuffix(ending))
    return None


def _begins_like_an_export(found: Path) -> bool:
    try:
        with found.open("rb") as opened:
            return opened.read(len(EXPORT_BEGINS)) == EXPORT_BEGINS
    except OSError:
        # A file that cannot be read is listed rather than left out.
        return True
