"""The layer between a client's streams and the server: it reads lines, and tracks which requests need an answer.

A client that closes its side still gets pending answers for a moment. An invalid message gets an error. This layer does
not know what messages mean.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from types import TracebackType
from typing import Any, Self, cast

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from pieria.record.json_text import parsed

LAST_ANSWERS = 1.2
"""Seconds that running calls get after the client closes its side."""

CANCELLED = "notifications/cancelled"
EXPECTED = "id: expected a text or a whole number"
_SUSPECT = re.compile(r'"id"\s*:\s*(?:[^"\d\s-]|-?\d+[.eE])')
"""Matches ids that may be wrong. Arguments may match too, so a matching line is parsed."""
NO_MESSAGE = "[]\n"
"""Replaces a request with a wrong id: the reader refuses it like any other invalid message."""


class Wire:
    """`first_answered` is called when the client goes on after its first answer, `ended` when it closes its side."""

    def __init__(self, tasks: TaskGroup, first_answered: Callable[[], None], ended: Callable[[], None]) -> None:
        self._tasks = tasks
        self._first_answered = first_answered
        self.ended = ended
        self._unanswered: set[types.RequestId] = set()
        self._answered = False
        self._quiet: anyio.Event | None = None

    def came(self, message: types.JSONRPCMessage) -> None:
        if self._answered:
            self._first_answered()
        if isinstance(message, types.JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED:
            self._settled((message.params or {}).get("requestId"))

    def went(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._answered = True
            self._settled(message.id)

    async def last_answers(self) -> None:
        """Wait until all requests are answered, or for `LAST_ANSWERS`."""
        if self._unanswered:
            self._quiet = anyio.Event()
            with anyio.move_on_after(LAST_ANSWERS):
                await self._quiet.wait()

    def refuse(self, problem: Exception, answers: Answers) -> None:
        """Send the error in a task of its own: a client that does not read must not hide that it left."""
        error = _malformed(problem)
        if error is not None:
            told = SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error))
            self._tasks.start_soon(answers.send_if_open, told)

    def _settled(self, id: Any) -> None:
        if isinstance(id, str | int):
            self._unanswered.discard(id)
        if self._quiet is not None and not self._unanswered:
            self._quiet.set()


def _malformed(problem: Exception) -> types.ErrorData | None:
    """Return the error for an invalid line, or None for an empty one."""
    if not isinstance(problem, ValidationError):
        return types.ErrorData(code=types.PARSE_ERROR, message=f"not readable: {type(problem).__name__}")
    first = problem.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        if not str(first["input"]).strip():
            return None
        said = first["msg"].removeprefix("Invalid JSON: ")
        return types.ErrorData(code=types.PARSE_ERROR, message=f"not JSON: {said}. Send one message a line.")
    expected = "a JSON-RPC 2.0 message: an object with jsonrpc, method and, for a request, id; params an object"
    return types.ErrorData(code=types.INVALID_REQUEST, message=f"expected {expected}")


class _Stream:
    def __init__(self, wire: Wire, stream: Any) -> None:
        self._wire = wire
        self._stream = stream

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Requests(_Stream):
    """The client's valid messages. The stream stays open after the client closes its side, until the last answers."""

    def __init__(self, wire: Wire, stream: Any, answers: Answers) -> None:
        super().__init__(wire, stream)
        self._answers = answers

    async def receive(self) -> SessionMessage | Exception:
        while True:
            try:
                item: SessionMessage | Exception = await self._stream.receive()
            except anyio.EndOfStream:
                self._wire.ended()
                await self._wire.last_answers()
                raise
            if isinstance(item, SessionMessage):
                self._wire.came(item.message)
                return item
            self._wire.refuse(item, self._answers)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Answers(_Stream):
    """The server's messages."""

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(item)
        self._wire.went(item.message)

    async def send_if_open(self, item: SessionMessage) -> None:
        """Send the item, and ignore a closed stream: no caller waits for it."""
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self.send(item)


def is_misnumbered(text: str) -> bool:
    """Return whether a message is a request whose id is neither a text nor a whole number."""
    if _SUSPECT.search(text) is None:
        return False
    try:
        message: Any = parsed(text)
    except ValueError:
        return False
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return False
    id = message["id"]
    return isinstance(id, bool) or not isinstance(id, str | int)


def refusal() -> str:
    """Return the answer to such a request. It cannot repeat the request's id."""
    error = {"code": -32600, "message": f"{EXPECTED}."}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error})


class Lines:
    """A text file with `readline` only."""

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = file

    def readline(self) -> str:
        line = self._file.readline()
        return NO_MESSAGE if line and is_misnumbered(line) else line


def stdin_lines() -> anyio.AsyncFile[str]:
    """Return the protocol's stdin; other readers of descriptor 0 find it empty."""
    own = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # Never close the descriptor: the thread that waits for the client may outlive the server.
    file = TextIOWrapper(os.fdopen(own, "rb", closefd=False), encoding="utf-8", errors="replace")
    return anyio.wrap_file(cast(TextIOWrapper, Lines(file)))
