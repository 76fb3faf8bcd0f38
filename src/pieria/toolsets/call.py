"""One tool call: check access, validate arguments, run the handler, wrap the reply in the toolset's envelope.

Errors of a call become error replies; only an unknown tool name raises.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pieria import telemetry
from pieria.errors import InputError, PieriaError, PrivacyError, UnavailableError, UnknownError
from pieria.runtime.lazy import cached_property
from pieria.toolsets.host import Call, Host
from pieria.toolsets.registry import Registry, Tool, Toolset
from pieria.toolsets.validation import understand

log = logging.getLogger(__name__)


SCOPES = {"session": "session", "user": "user"}
"""Values of a `scope` argument that are also reply scopes; every other value means the bank."""
EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values that say nothing. 0 and false do."""


@dataclass(frozen=True)
class Reply:
    """A tool's reply as JSON values.

    `error` is the raised error, for doors that have their own codes. `session`, `scope` and `bank` are where the call
    ran; None if that is unknown.
    """

    value: Any
    error: PieriaError | None = None
    session: str | None = None
    scope: str | None = None
    bank: str | None = None
    spoken: str | None = None
    """The value in words, if the handler gave any."""

    @property
    def is_error(self) -> bool:
        return self.error is not None

    @cached_property
    def text(self) -> str:
        return self.spoken if self.spoken is not None else self.written

    @cached_property
    def written(self) -> str:
        return json.dumps(self.value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @property
    def structured(self) -> dict[str, Any]:
        """Return the value as a JSON object; any other value is wrapped as `{"result": value}`."""
        return self.value if isinstance(self.value, dict) else {"result": self.value}


@dataclass(frozen=True, slots=True)
class Spoken:
    """A handler's result with a text for people; clients show the text beside the value."""

    value: Any
    words: str


def lean(value: Any, tool: Tool) -> Any:
    """Return a reply without empty values, apart from those of keys that its schema requires."""
    return _lean(value, tool.reply_schema or {})


def _lean(value: Any, schema: Mapping[str, Any]) -> Any:
    # An object without required keys is the user's, or a map: all of it stays.
    if isinstance(value, dict) and "required" in schema:
        kept = {*schema["required"], *(name for one in schema.get("anyOf", ()) for name in one["required"])}
        parts = schema.get("properties", {})
        return {
            name: _lean(held, parts.get(name, {})) for name, held in value.items() if name in kept or held not in EMPTY
        }
    return [_lean(one, schema.get("items", {})) for one in value] if isinstance(value, list) else value


def doubts(found: Any) -> list[str]:
    """Return the warning about hits that are probably no answer."""
    return ["confidence: these are the nearest hits, and probably no answer."] if found and found.is_doubtful else []


def called(registry: Registry, name: str, arguments: object, host: Host | Callable[[], Host]) -> Reply:
    """Run a tool and return its reply. Raise `NotFoundError` for an unknown tool; every other failure is a reply.

    Pass `host` as a function if finding it can fail: that failure then becomes a reply, too.
    """
    toolset, tool = registry.found(name)
    with telemetry.during("toolset.call", tool=tool.name, toolset=toolset.name) as measured:
        reply = _reply(toolset, tool, arguments, host)
        measured |= {"error": None if reply.error is None else reply.error.code, "bank": reply.bank}
    return reply


def _reply(toolset: Toolset, tool: Tool, arguments: object, host: Host | Callable[[], Host]) -> Reply:
    given = arguments if isinstance(arguments, Mapping) else {}
    known: Host | None = None
    error: PieriaError
    try:
        known = host if isinstance(host, Host) else host()
        with known.banks.calls.one():
            return _wired(_answered(toolset, tool, arguments, known), None, known, given)
    except PieriaError as problem:
        error = problem
    except Exception as problem:
        # The traceback goes to the log, never to the wire.
        log.exception("%s failed unexpectedly", tool.name)
        error = UnknownError(type(problem).__name__, hint="See the server's log for details.")
    error = error if known is None else known.telling(error)
    try:
        return _wired(toolset.envelope.failed(tool, given, error), error, known, {})
    except Exception:
        log.exception("the error of %s could not be put into the toolset's envelope", tool.name)
        return _wired({"error": error.as_dict()}, error, known, {})


def _wired(value: Any, error: PieriaError | None, host: Host | None, arguments: Mapping[str, Any]) -> Reply:
    """Return the reply with its session, bank and scope. Raise if the value is not JSON."""
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
        # File names may hold lone surrogates, which UTF-8 cannot encode.
        whole = None if words is None else words.encode(errors="replace").decode()
        return replace(reply, value=json.loads(reply.written.encode(errors="replace")), spoken=whole)
    return reply


def spoken(tool: Tool, error: PieriaError) -> PieriaError:
    """Return the error with the caller's parameter names."""
    error.errors = tuple(spoken(tool, one) for one in error.errors)
    if isinstance(error, InputError | PrivacyError | UnavailableError):
        first, dot, rest = error.parameter.partition(".")
        name, bracket, more = first.partition("[")
        if name in tool.speaks:
            return error.renamed(f"{tool.speaks[name]}{bracket}{more}{dot}{rest}")
    return error


def _answered(toolset: Toolset, tool: Tool, arguments: object, host: Host) -> Any:
    host.allow(tool.access)
    given, warnings = understand(tool, arguments)
    warnings += host.offers(host.bank_name, lambda: host.is_empty)
    call = Call(host.having(begins=tool.begins, secrets=toolset.secrets), tool)
    try:
        value = toolset.handler(tool)(call, **given)
    except PieriaError as problem:
        # Only errors of the handler need renaming: validation already uses the caller's names.
        raise spoken(tool, problem) from problem.__cause__
    replied = toolset.envelope.succeeded(call, value)
    if isinstance(replied, Spoken):
        words = "\n".join([replied.words, *warnings])
        return Spoken(_warning(lean(replied.value, tool), warnings), words)
    return _warning(lean(replied, tool), warnings)


def _warning(value: Any, warnings: list[str]) -> Any:
    """Return the reply with these warnings behind its own, which are in `meta` if the envelope has one."""
    if not warnings or not isinstance(value, dict):
        return value
    meta = value.get("meta")
    if isinstance(meta, dict):
        return {**value, "meta": _warning(meta, warnings)}
    return {**value, "warnings": [*value.get("warnings", ()), *warnings]}
