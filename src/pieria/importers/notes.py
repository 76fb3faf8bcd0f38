"""Folders of Markdown notes: find them, read their front matter, and resolve the links between them.

Systems that keep such folders give notes their meaning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from pieria.errors import TransferError
from pieria.importers.items import Left, Problem
from pieria.importers.source import Source
from pieria.vault import front
from pieria.vault.front import BadFrontError, Value
from pieria.vault.markdown import hashtags, links

LARGEST = 1 << 20
"""Bytes of a note: the most that a memory holds."""
SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class Note:
    """A note. `path` is relative to the folder, with / between its parts."""

    path: str
    front: dict[str, Value]
    body: str
    changed: datetime

    @property
    def title(self) -> str:
        given = self.front.get("title")
        return given if isinstance(given, str) and given.strip() else PurePosixPath(self.path).stem

    @property
    def folder(self) -> str:
        """Return the folder of the note within the top one; empty at the top."""
        parent = str(PurePosixPath(self.path).parent)
        return "" if parent == "." else parent

    def text(self, name: str) -> str | None:
        """Return an entry of the front matter that is a text."""
        value = self.front.get(name)
        return value if isinstance(value, str) and value.strip() else None

    def tags(self) -> list[str]:
        """Return the tags of the front matter and of the text."""
        return list(dict.fromkeys((*front.tags(self.front), *hashtags(self.body))))

    def links(self) -> tuple[str, ...]:
        return links(self.body)


def notes(source: Source, expects: str) -> Iterator[Note | Problem | Left]:
    """Yield every note below a folder, in the order of their paths. Hidden folders and links are not followed."""
    top = source.path
    if not top.is_dir():
        raise TransferError(top, "it is not a folder", hint=f"Expected {expects}.")
    for path in paths(top):
        yield _note(top, path)


def paths(top: Path) -> Iterator[Path]:
    """Yield the files of notes below a folder."""
    for folder, below, files in os.walk(top, followlinks=False):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder) / name
            if name.lower().endswith(SUFFIX) and not name.startswith(".") and not path.is_symlink():
                yield path


def _note(top: Path, path: Path) -> Note | Problem | Left:
    where = path.relative_to(top).as_posix()
    try:
        status = path.stat()
        if status.st_size > LARGEST:
            return Left(f"notes above {LARGEST >> 20} MiB")
        written = path.read_text(encoding="utf-8-sig")
        parts = front.split(written)
        values = {} if parts.front is None else front.read(parts.front)
    except OSError as problem:
        return Problem(where, f"expected a note that can be read ({problem.strerror or problem})")
    except UnicodeDecodeError:
        return Problem(where, "expected UTF-8 text")
    except BadFrontError as problem:
        return Problem(where, f"expected front matter that can be read: {problem}")
    if parts.problem is not None:
        return Problem(where, parts.problem)
    if not parts.body.strip():
        return Left("notes without text")
    return Note(where, values, parts.body.strip(), datetime.fromtimestamp(status.st_mtime, UTC))
