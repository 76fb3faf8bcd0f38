"""Files that appear under their name only when they are whole, and what goes wrong with them, in our words.

For every store and for what is written beside one. What is in a file is not known here.
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
"""How a file's name ends as long as it is written. One that stays was left by a process that was killed."""
FULL = (errno.ENOSPC, errno.EDQUOT)
TROUBLE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBUSY, errno.ESTALE, errno.EFBIG)
"""What the machine cannot do now, whoever may write there."""


def storage_error(operation: str, path: Path, problem: OSError) -> StorageError:
    """The system's error in our words, with what it was that could not be made; the system's stays as the cause."""
    if problem.errno in FULL:
        return DiskFullError(operation, f"no space left for {path.name}")
    folder = path.parent
    if problem.errno in TROUBLE:
        hint = "Nobody's rights are in the way: repeat the call when that is over, or name another place."
        return StorageError(operation, f"{path} cannot be written ({problem.strerror})", hint=hint)
    if not os.path.isdir(folder):
        reason = f"{path} cannot be written, since its folder could not be made ({problem.strerror})"
        return ReadOnlyError(operation, reason, hint=f"Make the folder {folder}, or name another place.")
    hint = f"Allow this user to write in {folder}, or name another place."
    return ReadOnlyError(operation, f"{path} cannot be written ({problem.strerror})", hint=hint)


def unreadable(path: Path, problem: OSError) -> TransferError:
    """A file that was to be brought in cannot be read; the system's error becomes the cause."""
    missing = isinstance(problem, FileNotFoundError)
    return TransferError(path, "there is no such file" if missing else f"it cannot be read ({problem.strerror})")


def made_aside(path: Path) -> Path:
    """An empty file for its owner alone, under the name by which this thread may write what is to be at the path."""
    written = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}{UNFINISHED}")
    path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    os.close(os.open(written, os.O_RDWR | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE))
    return written


@contextmanager
def written_aside(path: Path, operation: str, beside: tuple[str, ...] = ()) -> Iterator[Path]:
    """The file to write instead of the path. Nothing of it stays, unless it was put in its place by then.

    `beside` are the endings of what may come to lie beside it.
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
    """Holds a lock on an empty file at the path. `BusyError` where somebody else does, in this process or another."""
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
                # To close it is not enough: what was forked off meanwhile has the file open as long as it runs.
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def flush(path: Path) -> None:
    """A file's content, or the names in a folder, on the disk as well as they are: a crash keeps them."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def stamp(at: datetime) -> str:
    """A time as part of a file's name."""
    return iso(at).replace("-", "").replace(":", "").replace(".", "-")
