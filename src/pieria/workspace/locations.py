"""Places of banks: a folder of this machine, or a server. Only this file knows what a bank is called there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pieria.errors import ConflictError, NotFoundError, UnavailableError
from pieria.record.banks import no_such_bank, same_bank
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    from pieria.bank.results.transfer import RestoreReport
    from pieria.store.protocol import Progress, Store
    from pieria.store.seal import Seal

log = logging.getLogger("pieria.workspace")


class Way(NamedTuple):
    """How a store is opened. Two users of one bank must agree on all of it to share the store."""

    durability: str = "full"
    busy_seconds: float = 20.0
    clock: Clock = system_clock
    foreign: bool = False
    """Whether another person may have made the bank: it is then read only, as hearsay."""
    seal: Seal | None = None
    """Seals new files and opens sealed ones."""


class Spot(Protocol):
    """The location of one bank in a place; the bank may not exist yet."""

    @property
    def name(self) -> str:
        """The name as first spelled. Names that differ only in case mean the same bank, since some file systems ignore
        case.
        """

    @property
    def is_there(self) -> bool: ...

    @property
    def is_sealed(self) -> bool: ...

    @property
    def key(self) -> str:
        """A key that is the same for one bank, however its place was named. It may hold a password."""

    @property
    def files(self) -> list[Path]:
        """The files to copy while the bank is unused; none on a server."""

    def __str__(self) -> str:
        """Return the location as shown to people."""

    def other_names(self) -> list[str]:
        """Return, in words, where data remains after removal."""

    def mark(self) -> Hashable:
        """Return a mark of the current bank. It changes if another bank takes its place; None if there is none."""

    def open(self, way: Way, *, create: bool = True) -> Store:
        """Open the bank's store, and create it if there is none. Without `create`, raise `NotFoundError`."""

    def is_empty(self, way: Way) -> bool:
        """Return whether the existing bank may be overwritten, since nothing was ever written to it."""

    def making(self, way: Way) -> AbstractContextManager[Making]:
        """Yield a bank to fill in one transaction. It gets its name when `keep` is called."""

    def restore(
        self, backup: Path, *, replace: bool, progress: Progress | None, seal: Seal | None = None
    ) -> RestoreReport:
        """Create the bank from a backup; with `replace`, in place of an existing one."""


class Making(NamedTuple):
    """A bank being created. Call `keep` when it is filled; it raises `ConflictError` if another was created
    meanwhile.
    """

    store: Store
    keep: Callable[[], None]


class Place(Protocol):
    """A place of banks. The user's own bank is always `@me` here, independent of its stored name."""

    @property
    def folder(self) -> Path:
        """The folder for this machine's own tokens, settings and exports. It may not exist yet."""

    @property
    def is_there(self) -> bool:
        """Whether the place exists; a folder may not have been made yet."""

    @property
    def is_shared(self) -> bool:
        """Whether other machines may share the place. It says nothing about access rights."""

    @property
    def keeps_user(self) -> bool:
        """Whether it is known who owns memories of scope `user`."""

    def __str__(self) -> str:
        """Return the place as shown to people, without a password."""

    def check_ready(self) -> None:
        """Raise a `PieriaError` if banks cannot be read or written here now."""

    def names(self) -> list[str]:
        """Return the banks in order, without any user's own."""

    def has_user(self) -> bool:
        """Return whether the user's own bank exists."""

    def everything(self) -> list[str]:
        """Return the banks, including the user's own."""

    def at(self, name: str) -> Spot:
        """Return the location of a bank. Raise `UnavailableError` for the user's own bank if the user is unknown."""


def in_the_way(name: str, hint: str = "Copy it under another name: --as, or name.") -> ConflictError:
    return ConflictError("a bank of this name exists already", ids=(name,), hint=hint)


def not_there(name: str, place: Place) -> NotFoundError:
    return no_such_bank(name, place.names(), None if place.is_there else str(place))


def no_user(parameter: str) -> UnavailableError:
    hint = "Name yourself in the setting user, such as PIERIA_USER=maya."
    return UnavailableError(parameter, "on a server, the user's own bank needs the user's name", hint=hint)


def spelt_in(name: str, names: Collection[str]) -> str:
    """Return the name as the bank's creator spelled it."""
    alike = sorted(there for there in names if same_bank(there) == same_bank(name))
    return name if name in names or not alike else alike[0]
