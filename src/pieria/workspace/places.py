"""Where banks live: a folder of this machine, or a server. The one file that knows what a bank is called there.

What a bank does with its store is the bank's business, and what stands in the store is the store's.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pieria.errors import ConflictError, InputError, NotFoundError, StorageError, UnavailableError
from pieria.errors.description import counted
from pieria.record.banks import USER_BANK, check_bank_name, no_such_bank, same_bank
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    from pieria.bank.results.transfer import RestoreReport
    from pieria.settings import Settings
    from pieria.store.protocol import Progress, Store
    from pieria.store.seal import Seal

log = logging.getLogger("pieria.workspace")

ENDING = ".db"


class Way(NamedTuple):
    """How a store is opened: what two users of one bank have to agree on to share it."""

    durability: str = "full"
    busy_seconds: float = 20.0
    clock: Clock = system_clock
    foreign: bool = False
    """Whether somebody else may have made the bank: then it is only read, and as hearsay."""
    seal: Seal | None = None
    """What a file that is made is sealed with, and one that is sealed opened with."""


class Spot(Protocol):
    """Where one bank of a place is, or would be."""

    @property
    def name(self) -> str:
        """As it was first spelt. Names that differ in case alone mean the same bank everywhere, since to some file
        systems they would be the same file."""

    @property
    def is_there(self) -> bool: ...

    @property
    def is_sealed(self) -> bool: ...

    @property
    def key(self) -> str:
        """The same for one bank, however its place was named. It may hold a password."""

    @property
    def files(self) -> list[Path]:
        """What to copy while nobody uses the bank; nothing where a server keeps it."""

    def __str__(self) -> str:
        """What people are told of where it is."""

    def other_names(self) -> list[str]:
        """Where all of it stays when it is taken away, in words."""

    def mark(self) -> Hashable:
        """What is there now. It changes where another bank is put in its place; None where nothing is there."""

    def open(self, way: Way, *, create: bool = True) -> Store:
        """Opens the bank's store, making it where there is none. Raises `NotFoundError` there without `create`."""

    def is_empty(self, way: Way) -> bool:
        """Whether the bank that is there may be made as if it was not, since nothing was ever written to it."""

    def making(self, way: Way) -> AbstractContextManager[Making]:
        """A bank to be written in one transaction, and shown under its name when it is kept."""

    def restore(
        self, backup: Path, *, replace: bool, progress: Progress | None, seal: Seal | None = None
    ) -> RestoreReport:
        """Makes the bank out of a backup; with `replace`, in place of the one that is there."""


class Making(NamedTuple):
    """A bank that is being made. `keep` is called when it was written, and raises `ConflictError` where another was
    made meanwhile."""

    store: Store
    keep: Callable[[], None]


class Place(Protocol):
    """Names are those that people use: the user's own bank is `@me` wherever it is kept, and under whatever name."""

    @property
    def folder(self) -> Path:
        """Of what is this machine's own: tokens, settings, exports. It may not be there yet."""

    @property
    def is_there(self) -> bool:
        """Whether a bank could be; a folder may not have been made yet."""

    @property
    def is_shared(self) -> bool:
        """Whether other machines may have it, under an address of their own: nothing here says who may come in."""

    @property
    def keeps_user(self) -> bool:
        """Whether it is known whose the memories of scope `user` are."""

    def __str__(self) -> str:
        """What people are told of it; never a password."""

    def names(self) -> list[str]:
        """The banks that are there, in order, without any user's own."""

    def has_user(self) -> bool:
        """Whether the user's own bank is there."""

    def everything(self) -> list[str]:
        """The banks that are there, the user's own as well."""

    def at(self, name: str) -> Spot:
        """Raises `UnavailableError` for the user's own bank where it is not known who that is."""


def place_of(settings: Settings) -> Place:
    data = settings.data
    if isinstance(data, Path):
        return Folder(data)
    from pieria.workspace.servers import Server

    return Server(data, settings.folder, settings.user, settings.connections, row_security=settings.row_security)


class Folder:
    """A bank is a file here."""

    is_shared = False
    keeps_user = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def is_there(self) -> bool:
        return self.folder.exists()

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
        """`noting` is told of the bank's file when it was made here."""
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

        told = partial(log.warning, "%s was brought to a new schema; as it was: %s", self.path)
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
        """Never: another process may have the file open, and would write to it when another has its name."""
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
        """Under a name that is free: unlike a rename, a link never takes the place of a bank made meanwhile."""
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
    """Of a file aside nothing is remembered: it gets its place later."""


def in_the_way(name: str, hint: str = "Copy it under another name: --as, or name.") -> ConflictError:
    return ConflictError("a bank of this name is there already", ids=(name,), hint=hint)


def not_there(name: str, place: Place) -> NotFoundError:
    return no_such_bank(name, place.names(), None if place.is_there else str(place))


def no_user(parameter: str) -> UnavailableError:
    hint = "Say who you are with the setting user, such as PIERIA_USER=maya."
    return UnavailableError(parameter, "a server has to know which user's memories are meant", hint=hint)


def spelt_in(name: str, names: Collection[str]) -> str:
    """The name as it was first spelt by whoever made the bank."""
    alike = sorted(there for there in names if same_bank(there) == same_bank(name))
    return name if name in names or not alike else alike[0]


def _name_of(path: Path) -> str | None:
    """The bank that a file holds by its name; file systems may spell an accent in two ways."""
    try:
        return check_bank_name(path.name.removesuffix(ENDING))
    except InputError:
        return None
