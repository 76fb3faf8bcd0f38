"""Who may write to a file now, among all processes: a lock that whoever writes or checkpoints holds meanwhile.

SQLite keeps writers apart by itself, but not a writer from a checkpoint: up to 3.51.2 a commit that starts the log anew
while another connection checks it in for the second time can leave pages of the log unread for ever (its makers call it
the WAL-reset bug). A checkpoint runs within the commit that made it due, so holding this around both keeps them apart.

The lock belongs to an open file, not to a process, so that two banks open on one file in one process exclude each other
as well. It goes with its holder, however that ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pieria.store.files import PRIVATE_FILE, storage_error

ENDING = "-turn"


def beside(path: Path) -> Path:
    """The file that the lock is on."""
    return path.with_name(path.name + ENDING)


class Turn:
    def __init__(self, path: Path) -> None:
        self._path = beside(path)
        self._file: int | None = None

    def take(self) -> None:
        """Raises `BlockingIOError` where somebody else has it; never waits."""
        if self._file is None:
            self._file = self._opened()
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        except OSError as problem:
            raise storage_error("write", self._path, problem) from problem

    def give(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """After a fork this leaves the other side's turn as it is: a lock goes when the last copy of its file does."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
