"""The folder of a vault: which notes it has, and the only way to write one.

Nothing outside the folder is read or written, wherever links lead. A file that was changed meanwhile is not replaced.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, attrgetter
from pathlib import Path
from typing import NamedTuple

from pieria.errors import ConflictError, NotFoundError, StorageError
from pieria.runtime.lazy import cached_property
from pieria.store.files import PRIVATE_FILE, PRIVATE_FOLDER, flush, storage_error, written_aside
from pieria.vault.file_names import ENDING, same_name

LARGEST = 64 << 20
"""Largest note to read, in bytes."""
LINKS, TOO_LARGE = "links", "too large"
_LAX = 0o066


class Seen(NamedTuple):
    """A note's size and time of change in nanoseconds: enough to tell whether it needs to be read again."""

    size: int
    changed: int


@dataclass(slots=True)
class Scan:
    """`notes` are keyed by path in the vault; `unseen` are unreadable paths, each with the reason.

    `folders` are the times of change of the folders, which change when a name in them does.
    """

    notes: dict[str, Seen] = field(default_factory=dict)
    folders: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)

    def is_unseen(self, path: str) -> bool:
        return any(path == other or path.startswith(f"{other}/") or other == "." for other in self.unseen)

    def newest(self) -> int:
        """Return the latest time of change of a note or folder."""
        return max((*self.folders.values(), *(seen.changed for seen in self.notes.values())), default=0)


def digest_of(written: bytes) -> str:
    return hashlib.sha256(written).hexdigest()


class Folder:
    """`root` is the vault, `own` the folder in it for the notes of memories."""

    def __init__(self, root: Path, own: str) -> None:
        self.root = root
        self.own = own

    def check(self) -> None:
        """Raise `NotFoundError` if the vault is missing: it must not look as if all notes were deleted."""
        if not self.root.is_dir():
            hint = f"Make the folder {self.root}, or name another with the setting vault. Is its disk there?"
            raise NotFoundError("vault", str(self.root), hint=hint)

    def scan(self) -> Scan:
        """Return every Markdown file that is not hidden: hidden ones belong to the editor or are trash."""
        self.check()
        found = Scan()
        self._look(self.root, "", found)
        return found

    def is_still(self, scan: Scan) -> bool:
        """Return whether each note and folder still has the size and time that this scan saw: half the cost of a scan.

        A scan of folders or notes that are newer than file systems tell times apart cannot say so.
        """
        root = f"{self.root}/"
        try:
            if any(os.stat(root + path).st_mtime_ns != changed for path, changed in scan.folders.items()):
                return False
            for path, (size, changed) in scan.notes.items():
                about = os.stat(root + path, follow_symlinks=False)
                if about.st_mtime_ns != changed or about.st_size != size:
                    return False
        except OSError:
            return False
        return True

    def _look(self, folder: Path, path: str, found: Scan) -> None:
        try:
            found.folders[path] = os.stat(folder).st_mtime_ns
            entries = sorted(os.scandir(folder), key=attrgetter("name"))
        except OSError as problem:
            found.unseen[path.removesuffix("/") or "."] = f"cannot be looked into ({problem.strerror})"
            return
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            if not (name.isascii() or _is_text(name)):
                spelt = (path + name).encode("utf-8", "replace").decode()
                found.unseen[spelt] = "its name is not UTF-8"
            elif entry.is_file(follow_symlinks=False):
                if name.endswith(ENDING) or name.lower().endswith(ENDING):
                    self._note(entry, path + name, found)
            elif entry.is_dir(follow_symlinks=False):
                self._look(Path(entry.path), f"{path}{name}/", found)
            elif entry.is_symlink():
                found.left[LINKS] += name.lower().endswith(ENDING) or entry.is_dir()

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
        """Return the bytes. Raise `OSError` if it cannot be read, or is no regular file."""
        handle = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(None, "no file")
            return file.read(LARGEST + 1)

    def taken(self) -> set[str]:
        """Return the names in the folder for notes of memories, spelt by `same_name`."""
        try:
            return {same_name(other) for other in os.listdir(self.root / self.own)}
        except FileNotFoundError:
            return set()
        except OSError as problem:
            raise StorageError("read", f"{self.root / self.own} cannot be read ({problem.strerror})") from problem

    def create(self, path: str, written: bytes) -> Seen:
        """Write a new file, whole or not at all; `settle` makes it durable. Raise `ConflictError` if the name
        is taken."""
        target = self._inside(path)
        mode = self._mode
        with written_aside(target, "vault") as aside:
            seen = self._fill(aside, written, mode)
            try:
                # Reserve the name first, so that only one of two writers gets it, on every file system.
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE))
            except FileExistsError:
                raise ConflictError("there is a note of that name", ids=(path,), hint="Sync again.") from None
            os.replace(aside, target)
        return seen

    def settle(self) -> None:
        """Flush the names of new notes to the disk, before a caller reports them. If the folder was removed meanwhile,
        there is nothing to flush."""
        folder = self.root / self.own
        try:
            flush(folder)
        except FileNotFoundError:
            return
        except OSError as problem:
            raise storage_error("vault", folder, problem) from problem

    def replace(self, path: str, written: bytes, before: str) -> Seen:
        """Replace a note. Raise `ConflictError` if the file no longer has the digest `before`: a user is editing it."""
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
        """Delete a note. Raise `ConflictError` if the file no longer has the digest `before`."""
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
        """Return the file's state before it gets its name: afterwards another program may have replaced it."""
        aside.write_bytes(written)
        os.chmod(aside, mode)
        flush(aside)
        return _seen(os.stat(aside))

    def _inside(self, path: str) -> Path:
        """Return the full path. Raise `StorageError` if a link on the way leads out of the vault."""
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
        """Return the mode of new notes: private, unless all notes at the top of the vault are shared."""
        modes = []
        with os.scandir(self.root) as entries:
            for one in entries:
                if one.name.lower().endswith(ENDING) and one.is_file(follow_symlinks=False):
                    # A file removed by now does not count.
                    with suppress(FileNotFoundError):
                        modes.append(stat.S_IMODE(one.stat(follow_symlinks=False).st_mode))
        return PRIVATE_FILE | (reduce(and_, modes) & _LAX if modes else 0)

    def _searchable(self) -> int:
        """Return the search bits of a folder: readers of a note must be able to enter its folder."""
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
