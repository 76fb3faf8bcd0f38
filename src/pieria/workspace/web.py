"""Banks behind the HTTP door of another Pieria."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pieria.errors import UnavailableError
from pieria.record.address import WebAddress
from pieria.record.banks import USER_BANK
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.results.transfer import RestoreReport
    from pieria.remote.connection import Connection
    from pieria.settings import Resolved, Settings
    from pieria.store.protocol import Progress, Store
    from pieria.store.seal import Seal
    from pieria.workspace.locations import Making, Way

OURS = (
    *("data", "bank", "session", "channel", "author", "author_type"),
    *("secrets", "count_uses", "token", "plain_http", "local"),
)
"""The settings of the caller that have an effect on a bank behind HTTP. The server has its own for everything else."""
THEIRS = "the server has its own settings, and this one is not sent"
FILES = "the banks are files of the server, and are only reached by verbs over HTTP"
DO_THERE = "Run it on the server's machine."


class Web:
    """A Pieria server. Its user's own bank is found only with a token that names `@me`."""

    is_shared = True
    is_there = True
    keeps_user = True

    def __init__(self, address: WebAddress, settings: Settings) -> None:
        self.address = address
        self.folder = settings.folder
        token = None if settings.token is None else settings.token.get_secret_value()
        self._token, self._plain_http = token, settings.plain_http

    def __str__(self) -> str:
        return str(self.address)

    def connection(self) -> Connection:
        from pieria.remote.connection import Connection

        return Connection(self.address, self._token, plain_http=self._plain_http)

    def check_ready(self) -> None:
        self.everything()

    def names(self) -> list[str]:
        return [name for name in self.everything() if name != USER_BANK]

    def has_user(self) -> bool:
        return USER_BANK in self.everything()

    def everything(self) -> list[str]:
        with closing(self.connection()) as connection:
            return [str(name) for name in connection.get("/v1/banks")["banks"]]

    def at(self, name: str) -> WebSpot:
        return WebSpot(name, self)

    def opened(
        self,
        resolved: Resolved,
        clock: Clock,
        note: Callable[[Bank], object],
        handed: bool,
        user: bool,
        create: bool,
        via: str,
    ) -> Bank:
        """Return the bank behind HTTP, and `note` it. Raise `UnavailableError` for an argument that is not sent."""
        from pieria.remote.bank import Behind, RemoteBank
        from pieria.remote.calls import Speaker

        named = [name for name, origin in resolved.origins.items() if origin == "argument" and name not in OURS]
        if clock is not system_clock:
            raise UnavailableError("clock", "the clock of the server counts")
        for name in [*named, *(["models"] if handed else [])]:
            raise UnavailableError(name, THEIRS)
        own = resolved.settings
        speaker = Speaker(
            own.session, own.channel, own.author, own.author_type,
            None if resolved.is_default("secrets") else own.secrets,
            own.count_uses, user, via,
        )  # fmt: skip
        behind = Behind(self.connection(), self.folder, clock)
        bank = cast("Bank", RemoteBank(behind, own.bank, speaker, create=create))
        note(bank)
        return bank


class WebSpot:
    """The location of a bank behind HTTP. Its file cannot be reached."""

    is_sealed = False

    def __init__(self, name: str, place: Web) -> None:
        self.name = name
        self.files: list[Path] = []
        self._place = place

    def __str__(self) -> str:
        return f"{self.name} of {self._place}"

    @property
    def is_there(self) -> bool:
        return self.name in self._place.everything()

    @property
    def key(self) -> str:
        return f"{self._place}/{self.name}"

    def other_names(self) -> list[str]:
        raise _not_here()

    def mark(self) -> Hashable:
        raise _not_here()

    def open(self, way: Way, *, create: bool = True) -> Store:
        raise _not_here()

    def is_empty(self, way: Way) -> bool:
        raise _not_here()

    def making(self, way: Way) -> AbstractContextManager[Making]:
        raise _not_here()

    def restore(
        self, backup: Path, *, replace: bool, progress: Progress | None, seal: Seal | None = None
    ) -> RestoreReport:
        raise _not_here()


def _not_here() -> UnavailableError:
    return UnavailableError("data", FILES, hint=DO_THERE)
