"""The folder of a vault: which notes are in it, and the only way to write one.

Nothing outside the folder is read or written, wherever links lead, and no file that was changed meanwhile is replaced.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import NamedTuple

from pieria.errors import ConflictError, NotFoundError, StorageError
from pieria.store.files import PRIVATE_FILE, PRIVATE_FOLDER, flush, storage_error, written_aside
from pieria.vault.file_names import ENDING, same_name

LARGEST = 64 << 20
"""Bytes of a note that is read."""
LINKS, TOO_LARGE = "links", "too large"
_LAX = 0o066


class Seen(NamedTuple):
    """A note's size, and when it was changed, in nanoseconds: enough to tell whether to look again."""

    size: int
    changed: int


@dataclass(slots=True)
class Scan:
    """`notes` by their paths from the vault; `unseen` are paths that could not be looked at, each with the reason."""

    notes: dict[str, Seen] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)

    def is_unseen(self, path: str) -> bool:
        return any(path == other or path.startswith(f"{other}/") or other == "." for other in self.unseen)


def digest_of(written: bytes) -> str:
    return hashlib.sha256(written).hexdigest()


class Folder:
    """`root` is the vault, `own` the folder in it where notes of memories are kept."""

    def __init__(self, root: Path, own: str) -> None:
        self.root = root
        self.own = own

    def check(self) -> None:
        """Raises `NotFoundError` where the vault is not there: nobody is to think that all its notes were deleted."""
        if not self.root.is_dir():
            hint = f"Make the folder {self.root}, or name another with the setting vault. Is its disk there?"
            raise NotFoundError("vault", str(self.root), hint=hint)

    def scan(self) -> Scan:
        """Every Markdown file, but nothing hidden: that is the editor's, or was thrown away."""
        self.check()
        found = Scan()
        self._look(self.root, "", found)
        return found

    def _look(self, folder: Path, path: str, found: Scan) -> None:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as problem:
            found.unseen[path.removesuffix("/") or "."] = f"cannot be looked into ({problem.strerror})"
            return
        for entry in entries:
            named = path + entry.name
            if entry.name.startswith("."):
                continue
            if not _is_text(entry.name):
                spelt = named.encode("utf-8", "replace").decode()
                found.unseen[spelt] = "its name is not UTF-8"
            elif entry.is_symlink():
                found.left[LINKS] += entry.name.lower().endswith(ENDING) or entry.is_dir()
            elif entry.is_dir(follow_symlinks=False):
                self._look(Path(entry.path), f"{named}/", found)
            elif entry.name.lower().endswith(ENDING) and entry.is_file(follow_symlinks=False):
                self._note(entry, named, found)

    def _note(self, entry: os.DirEntry[str], path: str, found: Scan) -> None:
        try:
            about = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as problem:
            found.unseen[path] = f"cannot be looked at ({problem.strerror})"
            return
        if about.st_size > LARGEST:
            found.unseen[path] = f"it is larger than {LARGEST:,} bytes"
        else:
            found.notes[path] = _seen(about)

    def read(self, path: str) -> bytes:
        """Raises `OSError`, also where something that is no file has taken the note's place."""
        handle = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(None, "no file")
            return file.read(LARGEST + 1)

    def taken(self) -> set[str]:
        """The names in the folder for notes of memories, as `same_name` spells them."""
        try:
            return {same_name(other) for other in os.listdir(self.root / self.own)}
        except FileNotFoundError:
            return set()
        except OSError as problem:
            raise StorageError("read", f"{self.root / self.own} cannot be read ({problem.strerror})") from problem

    def create(self, path: str, written: bytes) -> Seen:
        """A new file, whole or not at all, and on the disk after `settle`. `ConflictError` where the name is taken."""
        target = self._inside(path)
        mode = self._mode
        with written_aside(target, "vault") as aside:
            seen = self._fill(aside, written, mode)
            try:
                # The name is taken first, so that of two who want it one gets it, on every file system.
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE))
            except FileExistsError:
                raise ConflictError("there is a note of that name", ids=(path,), hint="Sync again.") from None
            os.replace(aside, target)
        return seen

    def settle(self) -> None:
        """Puts the names of new notes on the disk, before anybody is told of them. Nothing is left to put there where
        somebody took their folder away meanwhile."""
        folder = self.root / self.own
        try:
            flush(folder)
        except FileNotFoundError:
            return
        except OSError as problem:
            raise storage_error("vault", folder, problem) from problem

    def replace(self, path: str, written: bytes, before: str) -> Seen:
        """Raises `ConflictError` where the file is no longer the one of this digest: somebody is at it."""
        target = self._inside(path)
        with written_aside(target, "vault") as aside:
            try:
                mode = stat.S_IMODE(os.stat(target, follow_symlinks=False).st_mode)
            except FileNotFoundError:
                raise _changed(path) from None
            seen = self._fill(aside, written, mode)
            self._same(path, before)
            os.replace(aside, target)
            flush(target.parent)
        return seen

    def delete(self, path: str, before: str) -> None:
        """The same for taking it away."""
        target = self._inside(path)
        self._same(path, before)
        try:
            target.unlink(missing_ok=True)
        except OSError as problem:
            raise storage_error("vault", target, problem) from problem

    def _same(self, path: str, digest: str) -> None:
        try:
            same = digest_of(self.read(path)) == digest
        except OSError:
            same = False
        if not same:
            raise _changed(path)

    def _fill(self, aside: Path, written: bytes, mode: int) -> Seen:
        """As it will be seen under its name: by the time it has that, somebody else may have taken it."""
        aside.write_bytes(written)
        os.chmod(aside, mode)
        flush(aside)
        return _seen(os.stat(aside))

    def _inside(self, path: str) -> Path:
        """In full. Raises `StorageError` where a link on the way would lead elsewhere."""
        target = self.root / path
        root = os.path.realpath(self.root)
        folder = Path(os.path.normpath(os.path.join(root, path))).parent
        if not folder.is_relative_to(root) or os.path.realpath(folder) != str(folder) or target.is_symlink():
            hint = "Make it a folder of its own, or name another one with the setting vault_folder."
            raise StorageError("vault", f"{target} would lie outside the vault, for it leads through a link", hint=hint)
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER | self._mode & 0o077 | self._searchable())
        return target

    @cached_property
    def _mode(self) -> int:
        """For the owner alone, unless all notes at the top of the vault are for others as well."""
        modes = []
        with os.scandir(self.root) as entries:
            for one in entries:
                if one.name.lower().endswith(ENDING) and one.is_file(follow_symlinks=False):
                    # What has gone by now is for nobody.
                    with suppress(FileNotFoundError):
                        modes.append(stat.S_IMODE(one.stat(follow_symlinks=False).st_mode))
        return PRIVATE_FILE | (reduce(and_, modes) & _LAX if modes else 0)

    def _searchable(self) -> int:
        """Whoever may read a note must be let through its folder."""
        lax = self._mode & 0o044
        return lax | lax >> 2


def _seen(about: os.stat_result) -> Seen:
    return Seen(about.st_size, about.st_mtime_ns)


def _changed(path: str) -> ConflictError:
    return ConflictError("the note was changed just now", ids=(path,), hint="Sync again.")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
