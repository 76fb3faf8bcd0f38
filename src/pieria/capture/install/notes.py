"""The notes of `pieria setup`: how each file was before it, so that removal restores every byte.

`setup.json` in the data folder has them. A note holds only the part of a file that changed.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pieria.capture.install import files
from pieria.errors import ConfigError, StorageError

FILE = "setup.json"
CACHE = "__pycache__"


@dataclass(frozen=True, slots=True)
class Note:
    """`digest` is that of the file as setup left it; its characters from `start` to `end` replaced `before`.

    `is_new`: there was no file. `container`: setup also made the object that holds the entry. `mended` are the
    keys that setup replaced in an entry, if it mended one.
    """

    digest: str
    start: int = 0
    end: int = 0
    before: str = ""
    is_new: bool = False
    container: bool = False
    mended: Any = None

    def is_of(self, text: str) -> bool:
        """Return whether the file is as setup left it."""
        return _digest(text) == self.digest

    def restored(self, text: str) -> str | None:
        return None if self.is_new else text[: self.start] + self.before + text[self.end :]


def note_of(before: str | None, after: str, **more: Any) -> Note:
    if before is None:
        return Note(_digest(after), is_new=True, **more)
    start = _shared(before, after)
    tail = _shared(before[start:][::-1], after[start:][::-1])
    return Note(_digest(after), start, len(after) - tail, before[start : len(before) - tail], **more)


class Notes:
    """The notes by file, and the folders that setup made, outermost first. Each change is written at once."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        text = files.read(self.file)
        try:
            held = {"files": {}, "folders": []} if text is None else json.loads(text)
            self._notes = {name: Note(**one) for name, one in held["files"].items()}
            self._folders = [str(each) for each in held["folders"]]
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            hint = "Move it away; then setup --remove removes its entries, but may leave blank lines and empty folders."
            raise ConfigError(f"{self.file}: not written by setup", hint=hint) from problem

    def get(self, file: Path) -> Note | None:
        return self._notes.get(str(file))

    def put(self, file: Path, note: Note) -> None:
        """Store the note of a file, and which folders are still to be made for it."""
        self._notes[str(file)] = note
        missing = [str(folder) for folder in reversed(file.parents) if not folder.exists()]
        self._folders = list(dict.fromkeys((*self._folders, *missing)))
        self._write()

    def drop(self, file: Path) -> None:
        """Drop the note of a file that is as before, and remove the folders that setup made and that are empty now."""
        self._notes.pop(str(file), None)
        self._folders = [name for name in reversed(self._folders) if not _is_removed(Path(name))][::-1]
        if not self._notes:
            self._folders = []
        self._write()

    def _write(self) -> None:
        held = {"files": {name: asdict(one) for name, one in self._notes.items()}, "folders": self._folders}
        if self._notes:
            # `default`: a TOML file may have dates.
            files.write(self.file, json.dumps(held, ensure_ascii=False, indent=1, default=str) + "\n")
        else:
            files.remove(self.file)


def _is_removed(folder: Path) -> bool:
    """Remove the folder if it is empty, apart from Python's cache of a plugin."""
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    if set(names) - {CACHE}:
        return False
    try:
        shutil.rmtree(folder / CACHE, ignore_errors=True)
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError as problem:
        raise StorageError("setup", f"{folder} cannot be removed ({problem.strerror})") from problem
    return True


def _shared(one: str, other: str) -> int:
    """Return the length of the beginning that both texts have."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
