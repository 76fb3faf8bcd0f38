"""Limits for request bodies: their type, size, speed, and the memory of all together.

A body is read only after its caller was admitted. An unwanted body is refused before it is read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from pieria.doors.http.failures import Refused
from pieria.errors import InputError, LimitError

BODY_LIMIT = 8 << 20
"""Bytes: enough for the longest text with every character escaped."""
BODY_SECONDS = 30.0
"""Seconds that a body may take to arrive."""
SMALL = 64 << 10
"""Bytes of each body that are not counted, so that small requests pass while large ones fill the memory."""
WITH_BODY = ("POST", "PUT", "PATCH")
CLOSE = {"Connection": "close"}


class Bodies:
    """Limits the bodies of all connections. Use it from one event loop only."""

    def __init__(self, memory: int) -> None:
        """`memory` is the most bytes that bodies of unfinished requests may hold together."""
        self._memory = memory
        self.held = 0

    @asynccontextmanager
    async def body(self, scope: Scope, receive: Receive, limit: int = BODY_LIMIT) -> AsyncIterator[bytearray | None]:
        """Yield the whole body, or None if the request has none. Its memory counts until the response is sent.

        Raise `Refused` for a body that is too large, too slow, incomplete, unexpected, or beyond the memory of all
        bodies.
        """
        declared = _declared(scope)
        if declared == 0:
            yield None
            return
        if scope["method"] not in WITH_BODY:
            hint = "Send the parameters in the query of the address."
            taken = f"none with {scope['method']}"
            raise Refused(400, InputError("body", taken, None, hint=hint), CLOSE)
        if declared is not None and declared > limit:
            raise _too_large(limit, f"{declared:,} bytes")
        body = bytearray()
        try:
            await self._read(body, receive, limit)
            yield body
        finally:
            self.held -= max(0, len(body) - SMALL)

    async def _read(self, body: bytearray, receive: Receive, limit: int) -> None:
        try:
            with anyio.fail_after(BODY_SECONDS):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, InputError("body", "the whole body", "a part: the client disconnected"))
                    self._add(body, message.get("body", b""), limit)
                    more = message.get("more_body", False)
        except TimeoutError as problem:
            error = LimitError(
                "the body of a request", f"{BODY_SECONDS:g} seconds", 1, hint="Send the body without pauses."
            )
            raise Refused(408, error, CLOSE) from problem

    def _add(self, body: bytearray, part: bytes, limit: int) -> None:
        size = len(body) + len(part)
        if size > limit:
            raise _too_large(limit, f"{size:,} bytes or more")
        more = max(0, size - SMALL) - max(0, len(body) - SMALL)
        if more and self.held + more > self._memory:
            together = f"{self._memory >> 20} MiB in total"
            raise Refused(503, LimitError("the bodies of unfinished requests", together, 1), CLOSE)
        self.held += more
        body += part


class Replayed:
    """A receive function: it returns the whole body first, then later messages, such as a disconnect."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._message: dict[str, Any] | None = {"type": "http.request", "body": body, "more_body": False}
        self._receive = receive

    async def __call__(self) -> Message:
        message, self._message = self._message, None
        return message if message is not None else await self._receive()


def _declared(scope: Scope) -> int | None:
    """Return the length that a request declares; None if it declares a body without a length."""
    headers = Headers(scope=scope)
    if "transfer-encoding" in headers:
        return None
    length = headers.get("content-length", "0")
    # The server has refused invalid and conflicting lengths.
    return int(length) if length.isascii() and length.isdigit() else None


def _too_large(limit: int, said: str) -> Refused:
    hint = "Split it into several requests."
    return Refused(413, InputError("body", f"at most {limit:,} bytes", said, hint=hint), CLOSE)
