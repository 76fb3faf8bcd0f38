"""The verbs of one bank as calls: arguments by the signature of the embedded verb, and the value of the answer."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from pieria.bank.filters import Filters, ListFilters
from pieria.bank.write.update import Changes, Revised
from pieria.errors import ClosedError, UnavailableError, UnreachableError
from pieria.record import check
from pieria.remote.connection import Connection, Progress
from pieria.remote.values import Decoder, Unreadable, encoded
from pieria.remote.verbs import REFUSED, UNSENT
from pieria.runtime import forks

KEYWORDS: Mapping[str, type] = MappingProxyType(
    {
        "count": ListFilters,
        "list": ListFilters,
        "list_each": ListFilters,
        "recall": Filters,
        "revise": Revised,
        "update": Changes,
    }
)
"""The keywords of verbs whose signature ends with `**`."""


class Speaker(NamedTuple):
    """The author, the session, and how the texts come in. The server decides how far it believes this."""

    session: str | None = None
    channel: str | None = None
    author: str | None = None
    author_type: str | None = None
    secrets: str | None = None
    count_uses: bool | None = None
    user: bool = True
    via: str | None = None


class Calls:
    """Sends the verbs of one bank. Threads may share it."""

    def __init__(self, connection: Connection, bank: str, speaker: Speaker) -> None:
        self.connection = connection
        self.bank = bank
        self._speaker = {name: value for name, value in speaker._asdict().items() if value not in (None, True)}
        self._read = Decoder()
        self._process = os.getpid()
        self.is_closed = False

    def send(
        self,
        verb: str,
        arguments: Mapping[str, Any],
        *,
        on: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Return the whole answer to a verb. `on` says which session or intake it is called on."""
        self.check_open()
        given = {name: value if _is_ready(value) else encoded(value, name) for name, value in arguments.items()}
        body: dict[str, Any] = {"arguments": given, "speaker": self._speaker}
        if on is not None:
            body["on"] = encoded(on)
        if progress is not None:
            body["progress"] = True
        return self.connection.call(self.bank, verb, body, progress)

    def value(self, told: Mapping[str, Any]) -> Any:
        """Return the value of an answer."""
        try:
            return self._read.value(told["value"])
        except (Unreadable, KeyError) as problem:
            reason = f"{self.connection.address} sends a value that this version cannot read"
            raise UnreachableError("call", reason, hint="Install the server's version of Pieria.") from problem

    def close(self) -> None:
        self.is_closed = True
        self.connection.close()

    def check_open(self) -> None:
        """Raise `ForkedError` in a forked child, and `ClosedError` for a closed bank."""
        forks.check(self._process, "bank", self.bank)
        if self.is_closed:
            raise ClosedError(f"bank {self.bank}")


class Sent(dict[str, Any]):
    """An argument that is JSON already, such as the name of an uploaded file."""


def _is_ready(value: object) -> bool:
    return isinstance(value, Sent)


def bound(original: Callable[..., Any], verb: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given arguments by name, without defaults. Raise `TypeError` as the embedded verb does."""
    signature = signature_of(original)
    given = by_name(verb, signature, signature.bind(None, *args, **kwargs))
    del given[next(iter(signature.parameters))]
    for name in UNSENT.get(verb, {}):
        if given.get(name) is not None:
            raise UnavailableError(name, UNSENT[verb][name])
        given.pop(name, None)
    return given


def by_name(verb: str, signature: inspect.Signature, found: inspect.BoundArguments) -> dict[str, Any]:
    """Return bound arguments by name, also those of `**`. Raise `TypeError` for a keyword the verb does not have."""
    given: dict[str, Any] = {}
    for name, value in found.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            check.keywords(value, KEYWORDS[verb], verb)
            given |= value
        else:
            given[name] = value
    return given


@cache
def signature_of(original: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(original)


def refuse(verb: str) -> None:
    raise UnavailableError(verb, REFUSED[verb], hint="Open the bank where its file is.")
