"""The lock for writing to a file, among all processes: held by every writer and every checkpoint.

SQLite itself keeps writers apart, but not a writer from a checkpoint. SQLite up to 3.51.2 has the WAL-reset bug. If a
commit restarts the log while another connection checkpoints it a second time, pages can stay unread forever. A
checkpoint runs within the commit that made it due, so holding this lock around both keeps them apart.

The lock belongs to an open file, not to a process. So two stores that one process opens on the same file exclude each
other too. The system releases it when its holder ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pieria.store.files import PRIVATE_FILE, storage_error

ENDING = "-turn"


def beside(path: Path) -> Path:
    """Return the path of the file that is locked."""
    return path.with_name(path.name + ENDING)


class Turn:
    def __init__(self, path: Path) -> None:
        self._path = beside(path)
        self._file: int | None = None

    def take(self) -> None:
        """Take the lock. Raise `BlockingIOError` at once if another holder has it."""
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
        """Close the file. After a fork the other side keeps its lock: it ends with the last copy of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
