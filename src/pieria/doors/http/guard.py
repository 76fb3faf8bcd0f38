"""What stands before every route: under which name it was asked, from which page, by whom, how often, how much.

Whatever comes past it is small, whole, and from somebody who was let in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failing import Refused, failure
from pieria.doors.http.hosts import Hosts, check_led
from pieria.doors.http.limits import Rate
from pieria.errors import AccessError, ConfigError, InputError, LimitError, PieriaError
from pieria.toolsets import Access
from pieria.toolsets.host import everything

BODY_LIMIT = 8 << 20
"""Bytes: the largest text there may be, with every character spelt as an escape, and some more."""
DRAINED = 4 * BODY_LIMIT
"""Bytes that are read of a body that is too large, so that its sender comes to read the answer."""
BODY_SECONDS = 30.0
"""A body that takes longer than this to come is not waited for."""
OPEN_TO_ALL = ("/health",)
ELSEWHERE = ("cross-site", "same-site")
"""From where a browser says that it was made to ask, where that is a page of another server."""
HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""On every answer that does not say otherwise."""
NOBODY = Caller("nobody", Access.read, everything, "http")


class Front(Protocol):
    """One face of the server: what is asked of it, how its callers are known, and how they are told no."""

    def owns(self, scope: Scope) -> bool: ...

    def is_open(self, scope: Scope) -> bool:
        """Whether anybody may ask this."""

    def admit(self, scope: Scope) -> Caller:
        """Raises `AccessError` for whoever may not come in."""

    def refusal(self, scope: Scope, error: PieriaError, status: int | None, headers: Mapping[str, str]) -> Response: ...


class Interface:
    """The face for programs: it shows them JSON, and they show it a token with each request."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def owns(self, scope: Scope) -> bool:
        return True

    def is_open(self, scope: Scope) -> bool:
        return scope["path"] in OPEN_TO_ALL

    def admit(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        return self._door.admit(headers).speaking(headers)

    def refusal(self, scope: Scope, error: PieriaError, status: int | None, headers: Mapping[str, str]) -> Response:
        return failure(error, status, headers)


class Guard:
    """Wraps the application. Strangers are counted by their address, so that nobody can go on guessing.

    `fronts` are asked in their order, and the last owns what no other does. `stop` sends away whoever would otherwise
    keep a server from ending.
    """

    def __init__(
        self,
        app: ASGIApp,
        fronts: Sequence[Front],
        door: Door,
        hosts: Hosts,
        rate: Rate,
        strangers: Rate,
        stop: Callable[[], None],
    ) -> None:
        self.stop = stop
        self._app = app
        self._fronts = tuple(fronts)
        self._door = door
        self._hosts = hosts
        self._rate = rate
        self._strangers = strangers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answering = _Answering(send)
        front = next(front for front in self._fronts if front.owns(scope))
        try:
            scope.setdefault("state", {})["caller"] = self._admitted(scope, front)
            # Segments are told apart before they are decoded: an id may hold a slash.
            scope["path"] = _as_sent(scope)
            await self._app(scope, await _whole(scope, receive), answering.send)
        except Refused as refused:
            refusal = front.refusal(scope, refused.error, refused.status, refused.headers)
            await refusal(scope, receive, answering.send)
        except PieriaError as error:
            await front.refusal(scope, error, None, {})(scope, receive, answering.send)

    def _admitted(self, scope: Scope, front: Front) -> Caller:
        headers = Headers(scope=scope)
        arrived_at = (scope.get("server") or (None,))[0]
        named = headers.getlist("host")
        host = named[0] if len(named) == 1 else None
        try:
            self._hosts.check(host, arrived_at)
        except InputError as problem:
            raise Refused(421, problem) from problem
        for origin in headers.getlist("origin"):
            self._hosts.check_origin(origin, host)
        if "origin" not in headers and headers.get("sec-fetch-site") in ELSEWHERE:
            # A link may lead here. An image, a frame or a script of another page may not even make us answer.
            check_led(headers.get("sec-fetch-dest"))
        if front.is_open(scope):
            return NOBODY
        address = (scope.get("client") or ("",))[0]
        try:
            caller = front.admit(scope)
        except (AccessError, ConfigError):
            # Whoever has a token is let in however many others guess from the same address.
            self._strangers.take(address)
            raise
        self._rate.take(caller.name if self._door.needs_token else address)
        return caller


class _Answering:
    """Sends on, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            said = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in said]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)


def _as_sent(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return quote(scope["path"]) if raw is None else raw.decode("ascii", "replace").partition("?")[0]


async def _whole(scope: Scope, receive: Receive) -> Receive:
    """Reads the body to its end, and hands it on in one piece.

    Raises `Refused` where it is too large or too slow, or ends before its end: half of it may mean something else.
    """
    headers = Headers(scope=scope)
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return receive
    body = bytearray()
    size = 0
    try:
        with anyio.fail_after(BODY_SECONDS):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, InputError("body", "the whole of it", "a part: the client went away"))
                part = message.get("body", b"")
                size += len(part)
                if size <= BODY_LIMIT:
                    body += part
                more = message.get("more_body", False) and size <= DRAINED
    except TimeoutError as problem:
        error = LimitError("the body of a request", f"{BODY_SECONDS:g} seconds", 1, hint="Send it in one go.")
        raise Refused(408, error, {"Connection": "close"}) from problem
    if size > BODY_LIMIT:
        hint = "Split it into several requests."
        error_of_size = InputError("body", f"at most {BODY_LIMIT:,} bytes", f"{size:,} bytes or more", hint=hint)
        raise Refused(413, error_of_size, {"Connection": "close"})
    return _Replayed(bytes(body), receive)


class _Replayed:
    """The body in one piece; after it whatever else comes, such as that the client went away."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._message: dict[str, Any] | None = {"type": "http.request", "body": body, "more_body": False}
        self._receive = receive

    async def __call__(self) -> Message:
        message, self._message = self._message, None
        return message if message is not None else await self._receive()
