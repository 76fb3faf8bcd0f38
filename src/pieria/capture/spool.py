"""The spool: lines that hooks wrote and a drain has not stored yet. Only this file knows how hooks and drains share
it.

A hook takes a shared lock on the live file for its write. A drain renames the file, so that hooks start a new one, and
locks the renamed file exclusively. If the drain is killed, the next one continues after the last noted commit. This
module does not read the lines.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pieria.capture.hook import ASKING, FULL, LIVE, LOG, note
from pieria.errors import StorageError
from pieria.settings.source import PROJECT

if TYPE_CHECKING:
    from pieria.workspace import Workspace

FOLDER = "spool"
ANYWHERE = "/"
"""Folder for events outside any project."""
TAKEN, NOTED = ".taken", ".at"
ASIDE = ".new"
FORGOTTEN = 3_600.0
"""Seconds after which a temporary file counts as abandoned."""
REFUSED, LOCK = "refused.jsonl", ".lock"
BATCH = 200
"""Lines stored at once."""
MOST_OF_A_BATCH = 4 << 20
WAITS = (0.01, 0.02, 0.05)
"""Seconds before each further attempt to lock a file: a hook may be writing."""


@dataclass(frozen=True, slots=True)
class Batch:
    lines: list[bytes]
    end: int
    """Offset of the next batch in the file."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a spool."""

    folder: str
    waiting_bytes: int
    refused: int
    last_problem: str | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def spool_of(workspace: Workspace) -> Spool:
    """Return the spool that hooks write to. Hooks do not use a project's setting for the data folder."""
    from pieria.workspace import Workspace, is_data_doubted

    place = workspace if workspace.resolved.origins["data"] != PROJECT else Workspace(folder=ANYWHERE)
    return Spool(place.data / FOLDER, foreign=is_data_doubted(place.resolved))


class Spool:
    def __init__(self, folder: Path, *, foreign: bool = False) -> None:
        """A `foreign` spool is never drained until its project is trusted: the project's author could have added
        lines, and hook lines count as a person's words.
        """
        self.folder = folder
        self.is_foreign = foreign

    @property
    def is_waiting(self) -> bool:
        """Return whether there may be something to drain, by a look into one folder."""
        return not self.is_foreign and any(size for _, size in self._files())

    def standing(self) -> Standing:
        waiting = sum(size for _, size in self._files())
        return Standing(str(self.folder), waiting, len(_lines(self.folder / REFUSED)), _last(self.folder / LOG))

    def claims(self) -> Generator[Claim, None, None]:
        """Yield the files that no other drain holds, oldest first. Each stays locked until the next is requested."""
        if self.is_foreign:
            return
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(self.folder / LIVE).st_mode):
                raise StorageError(
                    "drain", f"{self.folder / LIVE} is not a file", hint="Remove it: hooks cannot write to it."
                )
            os.rename(self.folder / LIVE, self.folder / f"{time.time_ns():020d}-{os.getpid()}{TAKEN}")
        self._clear()
        for name, _ in self._files():
            if name.endswith(TAKEN):
                with self._held(self.folder / name) as claim:
                    if claim is not None:
                        yield claim

    def _clear(self) -> None:
        """Delete abandoned temporary files. Their content is still in the original file."""
        for aside in self.folder.glob(f"*{ASIDE}"):
            with suppress(FileNotFoundError):
                if time.time() - aside.stat().st_mtime > FORGOTTEN:
                    aside.unlink()

    def refuse(self, line: bytes, reason: str) -> None:
        """Set aside a line that cannot be stored, with the reason. The file has a size limit."""
        if _size(self.folder / REFUSED) > FULL:
            note(str(self.folder), f"a line is dropped, since {REFUSED} is full")
            return
        told = json.dumps({"reason": reason, "line": line.decode("utf-8", "surrogateescape")})
        self._add(REFUSED, told.encode() + b"\n")

    def again(self) -> int:
        """Move the lines set aside back into the spool and return their count. Unreadable lines stay aside."""
        aside = self.folder / REFUSED
        with self._locked():
            told = [(line, _set_aside(line)) for line in _bytes(aside).split(b"\n") if line]
            lines = [read for _, read in told if read is not None]
            spoiled = [line for line, read in told if read is None]
            if lines:
                self._put(b"".join(b"\n" + line + b"\n" for line in lines))
                if spoiled:
                    self._lay(REFUSED, b"\n".join([*spoiled, b""]))
                else:
                    aside.unlink()
        if spoiled:
            note(str(self.folder), f"{len(spoiled)} lines in {REFUSED} cannot be read, and stay there")
        return len(lines)

    def put_back(self, lines: Iterable[bytes]) -> None:
        """Put lines back that cannot be stored now, so that later lines can go on."""
        with self._locked():
            self._put(b"".join(b"\n" + line + b"\n" for line in lines))

    def _put(self, written: bytes) -> None:
        """Write the lines as a taken file; hooks keep using the live one."""
        self._lay(f"{time.time_ns():020d}-{os.getpid()}{TAKEN}", written)

    def _lay(self, name: str, written: bytes) -> None:
        """Write a file atomically."""
        aside = self.folder / f"{time.time_ns():020d}-{os.getpid()}{ASIDE}"
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        os.rename(aside, self.folder / name)

    def note_asking(self, folders: set[str], wanted: bool) -> None:
        """Record whether hooks should remind agents in these folders to save."""
        path = self.folder / ASKING
        if not wanted and not path.exists():
            return
        with self._locked():
            before = _asking(path)
            now = before | folders if wanted else before - folders
            if now and now != before:
                aside = path.with_suffix(ASIDE)
                aside.write_text(json.dumps(sorted(now)), "utf-8")
                os.replace(aside, path)
            elif not now:
                path.unlink(missing_ok=True)

    def _files(self) -> list[tuple[str, int]]:
        found = []
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            for one in entries:
                # Skip links and pipes: hooks did not make them.
                if (one.name == LIVE or one.name.endswith(TAKEN)) and one.is_file(follow_symlinks=False):
                    # Another drain may have finished the file meanwhile.
                    with suppress(FileNotFoundError):
                        found.append((one.name, one.stat().st_size))
        return sorted(found)

    @contextmanager
    def _held(self, path: Path) -> Iterator[Claim | None]:
        """Yield the locked file, or None if another drain has it or just finished it."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            yield None
            return
        with file:
            yield Claim(path, file) if _hold(file) and _is_at(path, file) else None

    def _add(self, name: str, written: bytes) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        # Open after locking: the holder before may have removed the file.
        with self._locked(), os.fdopen(os.open(self.folder / name, flags, 0o600), "ab", buffering=0) as stream:
            end = os.fstat(stream.fileno()).st_size
            # A power cut may have left a partial line, which would spoil this one.
            is_cut = end > 0 and os.pread(stream.fileno(), 1, end - 1) != b"\n"
            left = memoryview(b"\n" + written if is_cut else written)
            try:
                while left:
                    left = left[stream.write(left) :]
            except OSError:
                # A full disk may leave a partial line, which would spoil the next.
                stream.truncate(end)
                raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock for files beside the spooled lines."""
        # The mode holds only for the last folder.
        for folder in (self.folder.parent, self.folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Claim:
    """A file taken from the hooks, locked until it is stored or released."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._noted = path.with_suffix(NOTED)

    def batches(self) -> Iterator[Batch]:
        """Yield batches from the last noted commit on. Delete the file when all are stored."""
        self._file.seek(self._begin())
        while lines := self._some():
            yield Batch([line.strip() for line in lines if line.strip()], self._file.tell())
        self._path.unlink()
        self._noted.unlink(missing_ok=True)

    def note(self, batch: Batch) -> None:
        """Record that everything up to the batch's end is stored."""
        aside = self._noted.with_suffix(ASIDE)
        aside.write_text(str(batch.end), "ascii")
        os.replace(aside, self._noted)

    def _some(self) -> list[bytes]:
        lines: list[bytes] = []
        size = 0
        while len(lines) < 2 * BATCH and size < MOST_OF_A_BATCH and (line := self._file.readline()):
            lines.append(line)
            size += len(line)
        return lines

    def _begin(self) -> int:
        """Return the start offset: 0 without a readable note. Banks recognise repeated events."""
        try:
            return int(self._noted.read_text("ascii"))
        except (FileNotFoundError, ValueError):
            return 0


def _asking(path: Path) -> set[str]:
    """Return the folders, none if the file is missing or damaged; the next drain writes it again."""
    try:
        return set(json.loads(path.read_text("utf-8")))
    except (FileNotFoundError, ValueError):
        return set()


def _set_aside(told: bytes) -> bytes | None:
    """Return the line, or None if it is not a whole line as `refuse` writes it."""
    try:
        line: bytes = json.loads(told)["line"].encode("utf-8", "surrogateescape")
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return line


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _hold(file: BinaryIO) -> bool:
    for pause in (*WAITS, None):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if pause is not None:
                time.sleep(pause)
            continue
        return True
    return False


def _is_at(path: Path, file: BinaryIO) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(file.fileno())
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _lines(path: Path) -> list[str]:
    return [line for line in _bytes(path).decode("utf-8", "replace").split("\n") if line]


def _last(path: Path) -> str | None:
    lines = _lines(path)
    return lines[-1] if lines else None
