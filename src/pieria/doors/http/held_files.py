"""Files on their way between a caller and a verb: uploads for one import, and exports to fetch once.

They have no name on the disk, so no other caller, tool or path reaches them, and nothing is left behind.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path
from typing import Any, TypeVar, cast

from pieria.errors import InputError, LimitError, NotFoundError, StorageError
from pieria.record.ids import new_id

T = TypeVar("T")
MOST = 16
"""Files held at the same time; a further one drops the one that is unused for longest."""
UNUSED = 60.0
"""Seconds after which an unused file may be dropped."""
PIECE = 1 << 20


@dataclass
class HeldFile:
    """An open file without a name. `owner` is the caller and the bank that it belongs to."""

    owner: tuple[str, str]
    file: BufferedIOBase
    bytes: int = 0
    used: float = field(default_factory=time.monotonic)


class HeldFiles:
    """Thread-safe. `folder` is on the disk of the banks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._held: dict[str, HeldFile] = {}

    def append(self, owner: tuple[str, str], id: str | None, at: int, chunk: bytes) -> dict[str, Any]:
        """Begin a file, or write the next piece of one. Return its id and its size."""
        if id is None:
            id = self._hold(HeldFile(owner, self._on_disk(lambda: cast(BufferedIOBase, self._nameless()))))
        held = self._found(owner, id)
        if at != held.bytes:
            raise InputError("at", f"{held.bytes}, the size so far", at)
        self._on_disk(lambda: held.file.write(chunk))
        held.bytes += len(chunk)
        held.used = time.monotonic()
        return {"id": id, "bytes": held.bytes}

    def made_by(self, owner: tuple[str, str], write: Callable[[Path], T]) -> tuple[T, dict[str, Any]]:
        """Let `write` make a file, hold it, and return the result, and the file's id and size."""
        folder = Path(self._on_disk(lambda: tempfile.mkdtemp(prefix=".file-", dir=self._folder)))
        try:
            path = folder / "file"
            result = write(path)
            file = self._on_disk(lambda: path.open("rb"))
            size = path.stat().st_size
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return result, {"file": self._hold(HeldFile(owner, file, size)), "bytes": size}

    def take(self, owner: tuple[str, str], id: str) -> BufferedIOBase:
        """Return the file and hold it no longer. The caller closes it."""
        self._found(owner, id)
        with self._lock:
            return self._held.pop(id).file

    def close(self) -> None:
        with self._lock:
            held, self._held = self._held, {}
        for each in held.values():
            each.file.close()

    def _nameless(self) -> Any:
        return tempfile.TemporaryFile(dir=self._folder)

    def _hold(self, held: HeldFile) -> str:
        id = new_id()
        with self._lock:
            oldest = min(self._held, key=lambda one: self._held[one].used, default="")
            if len(self._held) >= MOST:
                if time.monotonic() - self._held[oldest].used < UNUSED:
                    held.file.close()
                    raise LimitError("files of unfinished imports and exports", str(MOST), int(UNUSED))
                self._held.pop(oldest).file.close()
            self._held[id] = held
        return id

    def _found(self, owner: tuple[str, str], id: str) -> HeldFile:
        with self._lock:
            held = self._held.get(id)
        if held is None or held.owner != owner:
            raise NotFoundError("file", id, hint="Send it again: a server drops a file that waits for too long.")
        return held

    def _on_disk(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as problem:
            raise StorageError("hold a file", problem.strerror) from problem


def pieces(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the bytes of a file from its beginning, and close it."""
    with file:
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece
