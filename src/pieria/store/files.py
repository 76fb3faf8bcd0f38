"""Files that appear under their name only when they are complete, and the translation of file errors.

Every store uses it, and all code that writes files beside one. It knows nothing of a file's content.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pieria.errors import BusyError, DiskFullError, ReadOnlyError, StorageError, TransferError
from pieria.record.time import iso

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
UNFINISHED = ".part"
"""Suffix of a file that is still being written. A killed process may leave one behind."""
FULL = (errno.ENOSPC, errno.EDQUOT)
TROUBLE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBUSY, errno.ESTALE, errno.EFBIG)
"""Errors of the machine that have nothing to do with permissions."""


def storage_error(operation: str, path: Path, problem: OSError) -> StorageError:
    """Return the system's error as one of ours, naming what could not be written. The caller sets the cause."""
    if problem.errno in FULL:
        return DiskFullError(operation, f"no space left for {path.name}")
    folder = path.parent
    if problem.errno in TROUBLE:
        hint = "This is no problem of permissions. Repeat the call later, or name another place."
        return StorageError(operation, f"{path} cannot be written ({problem.strerror})", hint=hint)
    if not os.path.isdir(folder):
        reason = f"{path} cannot be written, since its folder could not be made ({problem.strerror})"
        return ReadOnlyError(operation, reason, hint=f"Make the folder {folder}, or name another place.")
    hint = f"Allow this user to write in {folder}, or name another place."
    return ReadOnlyError(operation, f"{path} cannot be written ({problem.strerror})", hint=hint)


def unreadable(path: Path, problem: OSError) -> TransferError:
    """Return the error for a file to import that cannot be read. The caller sets the cause."""
    missing = isinstance(problem, FileNotFoundError)
    return TransferError(path, "there is no such file" if missing else f"it cannot be read ({problem.strerror})")


def made_aside(path: Path) -> Path:
    """Return an empty, private file beside `path`, under a name that only this thread uses."""
    written = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}{UNFINISHED}")
    path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    os.close(os.open(written, os.O_RDWR | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE))
    return written


@contextmanager
def written_aside(path: Path, operation: str, beside: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the file to write instead of `path`. The caller moves it into place; otherwise it is deleted.

    `beside` are the suffixes of files that may appear next to it.
    """
    try:
        written = made_aside(path)
        try:
            yield written
        finally:
            for ending in ("", *beside):
                written.with_name(written.name + ending).unlink(missing_ok=True)
    except OSError as problem:
        raise storage_error(operation, path, problem) from problem


@contextmanager
def alone(path: Path, operation: str, otherwise: str) -> Iterator[None]:
    """Hold a lock on an empty file at `path`. Raise `BusyError` if this or another process holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as problem:
        raise storage_error(operation, path, problem) from problem
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(operation, otherwise, hint="Try again when it is done.") from None
        process = os.getpid()
        try:
            yield
        finally:
            if process == os.getpid():
                # Closing is not enough: a process forked meanwhile keeps the file open as long as it runs.
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def flush(path: Path) -> None:
    """Sync a file's content, or a folder's names, to the disk, so that a crash keeps them."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def stamp(at: datetime) -> str:
    """Return a time as part of a file's name."""
    return iso(at).replace("-", "").replace(":", "").replace(".", "-")
