"""Banks on a PostgreSQL server, as rows of shared tables."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.errors import UnavailableError
from pieria.record.address import Address
from pieria.record.banks import USER_BANK, user_bank_of
from pieria.workspace.locations import Making, Way, in_the_way, no_user, spelt_in

if TYPE_CHECKING:
    from pieria.bank.results.transfer import RestoreReport
    from pieria.store.protocol import Progress, Store
    from pieria.store.seal import Seal

log = logging.getLogger("pieria.workspace")


class Server:
    """A server on which banks share tables. The user's own bank is named `@` plus the user's name."""

    is_shared = True

    def __init__(self, address: Address, folder: Path, user: str | None, connections: int, row_security: bool) -> None:
        self.address = address
        self.folder = folder
        self.user = user
        self.connections = connections
        self.row_security = row_security
        self.is_there = True

    def __str__(self) -> str:
        return str(self.address)

    @property
    def keeps_user(self) -> bool:
        return self.user is not None

    def check_ready(self) -> None:
        self._all()

    def names(self) -> list[str]:
        return sorted(name for name in self._all() if not name.startswith("@"))

    def has_user(self) -> bool:
        return self.user is not None and self._has(user_bank_of(self.user))

    def everything(self) -> list[str]:
        return [*self.names(), *([USER_BANK] if self.has_user() else [])]

    def at(self, name: str) -> ServerSpot:
        if name == USER_BANK:
            if self.user is None:
                raise no_user("bank")
            own = user_bank_of(self.user)
            return ServerSpot(name, own, self, is_there=self._has(own))
        if self._has(name):
            return ServerSpot(name, name, self, is_there=True)
        there = self._all()
        spelt = spelt_in(name, there)
        return ServerSpot(spelt, spelt, self, is_there=spelt in there)

    def _has(self, name: str) -> bool:
        from pieria.store.postgres import has_bank

        return has_bank(self.address.url, name, connections=self.connections)

    def _all(self) -> frozenset[str]:
        from pieria.store.postgres import bank_names

        return frozenset(bank_names(self.address.url, connections=self.connections))


class ServerSpot:
    def __init__(self, name: str, kept_as: str, server: Server, *, is_there: bool) -> None:
        self.name = name
        self.is_there = is_there
        self.files: list[Path] = []
        self._kept_as = kept_as
        self._server = server

    def __str__(self) -> str:
        return f"{self._kept_as} of {self._server}"

    @property
    def key(self) -> str:
        held = self._server
        return f"{held.address.url} {held.connections} {held.row_security} {self._kept_as}"

    def is_empty(self, way: Way) -> bool:
        store = self.open(way)
        try:
            with store.reading() as reader:
                return not reader.head().seq
        finally:
            store.close()

    @contextmanager
    def making(self, way: Way) -> Iterator[Making]:
        """Fill the bank in place: others see the transaction only at its end, but the bank's name at once."""
        store = self.open(way)
        try:
            yield Making(store, lambda: None)
        finally:
            store.close()

    def restore(
        self, backup: Path, *, replace: bool, progress: Progress | None, seal: Seal | None = None
    ) -> RestoreReport:
        from pieria.bank.results.transfer import RestoreReport
        from pieria.store.copy import copy_from_file
        from pieria.store.parts import counts

        if replace:
            raise UnavailableError(
                "replace", "a server keeps no copy of a replaced bank", hint="Restore under another name."
            )
        way = Way()
        if self.is_there and not self.is_empty(way):
            raise in_the_way(self.name, "Restore under another name.")
        with self.making(way) as made:
            copy_from_file(backup, made.store, progress, seal)
            with made.store.reading() as reader:
                seq = reader.head().seq
                held = counts(reader.tally(), reader.totals())
        return RestoreReport(backup, str(self), self.name, None, backup.stat().st_size, seq, held)

    @property
    def is_sealed(self) -> bool:
        return False

    def other_names(self) -> list[str]:
        return []

    def mark(self) -> Hashable:
        return self._kept_as

    def open(self, way: Way, *, create: bool = True) -> Store:
        from pieria.store.postgres import PostgresStore

        held = self._server
        told = partial(log.warning, "the database %s was migrated to a new schema: %s", held)
        return PostgresStore(
            held.address.url,
            self._kept_as,
            create=create,
            clock=way.clock,
            connections=held.connections,
            busy_seconds=way.busy_seconds,
            durability=way.durability,
            row_security=held.row_security,
            on_migration=told,
            seal=way.seal,
        )
