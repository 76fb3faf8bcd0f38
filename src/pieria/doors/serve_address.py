"""The address of the running `pieria serve` of a data folder, for other processes of its user.

The server writes the address into a file and keeps that locked: an address without its server does not count. The
local socket cannot tell the address, since a `pieria mcp` that began earlier may hold it.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger(__name__)

FILE = "serve.lock"
_LONGEST = 1_000


@contextmanager
def noted(folder: Path, url: str) -> Iterator[None]:
    """Note the address while the server runs, unless another server of this folder has noted its own."""
    try:
        file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        log.info("the address is not noted in %s: %s", folder, problem)
        yield
        return
    try:
        if _got_lock(file, fcntl.LOCK_EX):
            os.ftruncate(file, 0)
            os.pwrite(file, url.encode(), 0)
        yield
    finally:
        os.close(file)


def address(folder: Path) -> str | None:
    """Return the address of the folder's running server, or None without one."""
    try:
        file = os.open(folder / FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return None if _got_lock(file, fcntl.LOCK_SH) else os.pread(file, _LONGEST, 0).decode() or None
    finally:
        os.close(file)


def _got_lock(file: int, how: int) -> bool:
    """Return whether this process got the lock, for as long as the file is open."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
