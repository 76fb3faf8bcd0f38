"""The bodies of requests: which may come at all, how large, how fast, and how much all of them may hold together.

A body is read only once its sender was let in. What is not taken is refused before it is read.
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
"""Bytes: the largest text there may be, with every character spelt as an escape, and some more."""
BODY_SECONDS = 30.0
"""A body that takes longer than this to come is not waited for."""
SMALL = 64 << 10
"""Bytes of each body that count for nothing: small requests have room while large ones take up the rest."""
WITH_BODY = ("POST", "PUT", "PATCH")
CLOSE = {"Connection": "close"}


class Bodies:
    """The bodies of all connections. Used by one event loop alone."""

    def __init__(self, memory: int) -> None:
        """`memory` is the number of bytes that the bodies of unfinished requests may hold together."""
        self._memory = memory
        self.held = 0

    @asynccontextmanager
    async def body(self, scope: Scope, receive: Receive, limit: int = BODY_LIMIT) -> AsyncIterator[bytearray | None]:
        """Yield the whole body, or None if the request has none. Its memory counts until the request is answered.

        Raise `Refused` for a body that is too large, too slow, cut off, one too many, or where none is taken.
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
                        raise Refused(400, InputError("body", "the whole of it", "a part: the client went away"))
                    self._add(body, message.get("body", b""), limit)
                    more = message.get("more_body", False)
        except TimeoutError as problem:
            error = LimitError("the body of a request", f"{BODY_SECONDS:g} seconds", 1, hint="Send it in one go.")
            raise Refused(408, error, CLOSE) from problem

    def _add(self, body: bytearray, part: bytes, limit: int) -> None:
        size = len(body) + len(part)
        if size > limit:
            raise _too_large(limit, f"{size:,} bytes or more")
        more = max(0, size - SMALL) - max(0, len(body) - SMALL)
        if more and self.held + more > self._memory:
            together = f"{self._memory >> 20} MiB together"
            raise Refused(503, LimitError("the bodies of unfinished requests", together, 1), CLOSE)
        self.held += more
        body += part


class Replayed:
    """The body in one piece; after it whatever else comes, such as that the client went away."""

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
    # The server has refused what is no number, and two that differ.
    return int(length) if length.isascii() and length.isdigit() else None


def _too_large(limit: int, said: str) -> Refused:
    hint = "Split it into several requests."
    return Refused(413, InputError("body", f"at most {limit:,} bytes", said, hint=hint), CLOSE)
