"""One call of a tool: checked, allowed, handled, and answered in its toolset's envelope. No exception leaves it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

from pieria import telemetry
from pieria.errors import InputError, PieriaError, PrivacyError, UnavailableError, UnknownError
from pieria.toolsets.host import Call, Host
from pieria.toolsets.registry import Registry
from pieria.toolsets.tool import Tool, Toolset
from pieria.toolsets.validation import validated

log = logging.getLogger(__name__)


SCOPES = {"session": "session", "user": "user"}
"""The scopes that a toolset's `scope` may name; whatever else it says there stands for the bank."""


@dataclass(frozen=True)
class Reply:
    """What a tool answered, in JSON values. `error` is what was raised, for doors that have codes of their own.

    `session`, `scope` and `bank` say where it was asked: None where that never came to be known.
    """

    value: Any
    error: PieriaError | None = None
    session: str | None = None
    scope: str | None = None
    bank: str | None = None
    spoken: str | None = None
    """The value in words, where its toolset has any."""

    @property
    def is_error(self) -> bool:
        return self.error is not None

    @cached_property
    def text(self) -> str:
        return self.spoken if self.spoken is not None else self.written

    @cached_property
    def written(self) -> str:
        return json.dumps(self.value, ensure_ascii=False, allow_nan=False)

    @property
    def structured(self) -> dict[str, Any]:
        """What is no object by itself stands in one."""
        return self.value if isinstance(self.value, dict) else {"result": self.value}


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a handler gives that answers in words as well: they are what a client shows, beside the values."""

    value: Any
    words: str


class Envelope(Protocol):
    """The module `envelope` of a toolset: the shape of its replies."""

    def succeeded(self, call: Call, value: Any) -> Any: ...

    def failed(self, tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> Any: ...


def called(registry: Registry, name: str, arguments: object, host: Host | Callable[[], Host]) -> Reply:
    """Raises `NotFoundError` for a tool that is not there; whatever else goes wrong is a reply.

    A host that has yet to be found may be given as a function, so that its failure is a reply, too.
    """
    toolset, tool = registry.found(name)
    with telemetry.during("toolset.call", tool=tool.name, toolset=toolset.name) as measured:
        reply = _reply(toolset, tool, arguments, host)
        measured["error"] = None if reply.error is None else reply.error.code
    return reply


def _reply(toolset: Toolset, tool: Tool, arguments: object, host: Host | Callable[[], Host]) -> Reply:
    given = arguments if isinstance(arguments, Mapping) else {}
    known: Host | None = None
    error: PieriaError
    try:
        known = host if isinstance(host, Host) else host()
        return _wired(_answered(toolset, tool, arguments, known), None, known, given)
    except PieriaError as problem:
        error = problem
    except Exception as problem:
        # The wire carries no traceback; the log does.
        log.exception("%s failed unexpectedly", tool.name)
        error = UnknownError(type(problem).__name__, hint="The server's log tells more.")
    error = error if known is None else known.telling(error)
    try:
        return _wired(_envelope(toolset).failed(tool, given, error), error, known, {})
    except Exception:
        log.exception("the failure of %s could not be put into its envelope", tool.name)
        return _wired({"error": error.as_dict()}, error, known, {})


def _wired(value: Any, error: PieriaError | None, host: Host | None, arguments: Mapping[str, Any]) -> Reply:
    """The reply, with where it was asked. Raises for a value that is no JSON."""
    session, bank, scope = (host.session, host.bank_name, host.scope) if host is not None else (None, None, None)
    if isinstance(arguments.get("bank"), str):
        bank = arguments["bank"]
    if isinstance(arguments.get("scope"), str):
        scope = SCOPES.get(arguments["scope"], "bank")
    words = value.words if isinstance(value, Spoken) else None
    reply = Reply(value.value if isinstance(value, Spoken) else value, error, session, scope, bank, words)
    try:
        (reply.written + reply.text).encode()
    except UnicodeEncodeError:
        # Names of files may hold halves of characters, which no wire takes.
        whole = None if words is None else words.encode(errors="replace").decode()
        return replace(reply, value=json.loads(reply.written.encode(errors="replace")), spoken=whole)
    return reply


def spoken(tool: Tool, error: PieriaError) -> PieriaError:
    """The error about the parameters as the caller knows them."""
    error.errors = tuple(spoken(tool, one) for one in error.errors)
    if isinstance(error, InputError | PrivacyError | UnavailableError):
        first, dot, rest = error.parameter.partition(".")
        name, bracket, more = first.partition("[")
        if name in tool.speaks:
            return error.renamed(f"{tool.speaks[name]}{bracket}{more}{dot}{rest}")
    return error


def _answered(toolset: Toolset, tool: Tool, arguments: object, host: Host) -> Any:
    host.allow(tool.access)
    given = validated(tool, arguments)
    call = Call(host.having(begins=tool.begins, secrets=toolset.secrets), tool)
    try:
        value = getattr(toolset.handlers, toolset.handler_name(tool))(call, **given)
    except PieriaError as problem:
        # What was wrong before the handler began is told by the caller's own names already.
        raise spoken(tool, problem) from problem.__cause__
    return _envelope(toolset).succeeded(call, value)


def _envelope(toolset: Toolset) -> Envelope:
    envelope: Envelope = import_module(f"{toolset.package}.envelope")
    return envelope
