"""Banks as files in a folder."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.errors import InputError, ReadOnlyError, StorageError
from pieria.errors.description import counted
from pieria.record.banks import USER_BANK, check_bank_name
from pieria.workspace.locations import Making, Way, in_the_way, spelt_in

if TYPE_CHECKING:
    from pieria.bank.results.transfer import RestoreReport
    from pieria.store.protocol import Progress, Store
    from pieria.store.seal import Seal

log = logging.getLogger("pieria.workspace")

ENDING = ".db"


class Folder:
    """A folder in which each bank is a file."""

    is_shared = False
    keeps_user = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def is_there(self) -> bool:
        return self.folder.exists()

    def check_ready(self) -> None:
        self._files()
        made = next(folder for folder in (self.folder, *self.folder.resolve().parents) if folder.exists())
        if not os.access(made, os.W_OK | os.X_OK):
            raise ReadOnlyError("open", f"{made} cannot be written")

    def names(self) -> list[str]:
        return sorted(name for name in self._files() if name != USER_BANK)

    def has_user(self) -> bool:
        return self._file(USER_BANK).exists()

    def everything(self) -> list[str]:
        return [*self.names(), *([USER_BANK] if self.has_user() else [])]

    def at(self, name: str) -> FileSpot:
        files = self._files()
        spelt = spelt_in(name, files)
        return FileSpot(spelt, files.get(spelt, self._file(spelt)), _note_made)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}{ENDING}"

    def _files(self) -> dict[str, Path]:
        try:
            found = [Path(entry.path) for entry in os.scandir(self.folder) if entry.name.endswith(ENDING)]
        except FileNotFoundError:
            return {}
        except OSError as problem:
            raise StorageError("open", f"{self.folder} cannot be read ({problem.strerror})") from problem
        return {name: path for path in found if (name := _name_of(path))}


class FileSpot:
    def __init__(self, name: str, path: Path, noting: Callable[[Path], None] | None = None) -> None:
        """`noting` is called with a bank's file when it is created."""
        self.name = name
        self.path = path
        self._noting = noting or _unnoted

    def __str__(self) -> str:
        return str(self.path)

    @property
    def is_there(self) -> bool:
        return self.path.exists()

    @property
    def is_sealed(self) -> bool:
        from pieria.store.sqlite.seal_driver import is_sealed

        return is_sealed(self.path)

    @property
    def key(self) -> str:
        return os.path.realpath(self.path)

    @property
    def files(self) -> list[Path]:
        return [self.path]

    def other_names(self) -> list[str]:
        found = self.path.stat()
        if found.st_nlink == 1:
            return []
        links = counted(found.st_nlink - 1, "hard link")
        return [f"{links} to its file elsewhere on the disk, which `find FOLDER -inum {found.st_ino}` finds"]

    def mark(self) -> Hashable:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def open(self, way: Way, *, create: bool = True) -> Store:
        from pieria.store.sqlite import SQLiteStore

        told = partial(log.warning, "%s was migrated to a new schema; the copy from before: %s", self.path)
        return SQLiteStore(
            self.path,
            create=create,
            durability=way.durability,
            busy_seconds=way.busy_seconds,
            clock=way.clock,
            on_migration=told,
            on_made=partial(self._note_made, way.seal),
            foreign=way.foreign,
            seal=way.seal,
        )

    def _note_made(self, seal: Seal | None) -> None:
        self._noting(self.path)
        if seal is not None:
            from pieria.workspace.spool_pair import make

            make(self.path.parent, seal)

    def is_empty(self, way: Way) -> bool:
        """Return False: another process may have the file open and write to it after a rename."""
        return False

    @contextmanager
    def making(self, way: Way) -> Iterator[Making]:
        from pieria.store.files import written_aside
        from pieria.store.sqlite import BESIDE

        with written_aside(self.path, "copy", BESIDE) as aside:
            store = FileSpot(self.name, aside).open(way)
            try:
                yield Making(store, partial(self._put, store, aside))
            finally:
                store.close()

    def _put(self, store: Store, aside: Path) -> None:
        """Link the file to its name. Unlike a rename, a link never replaces a bank made meanwhile."""
        from pieria.store.files import flush

        store.close()
        flush(aside)
        try:
            os.link(aside, self.path)
        except FileExistsError:
            raise in_the_way(self.name) from None
        flush(self.path.parent)
        self._noting(self.path)

    def restore(
        self, backup: Path, *, replace: bool, progress: Progress | None, seal: Seal | None = None
    ) -> RestoreReport:
        from pieria.bank.transfer.files import restore_file

        report = restore_file(backup, self.path, replace=replace, progress=progress, seal=seal)
        self._noting(self.path)
        return report


def _note_made(path: Path) -> None:
    from pieria.settings.trust import note_made

    note_made(path)


def _unnoted(path: Path) -> None:
    """Do nothing: a temporary file is noted when it gets its final name."""


def _name_of(path: Path) -> str | None:
    """Return the bank's name from its file name; file systems may encode an accent in two ways."""
    try:
        return check_bank_name(path.name.removesuffix(ENDING))
    except InputError:
        return None
