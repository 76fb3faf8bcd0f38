"""What stands before every route: under which name it was asked, from which page, by whom, how often, how much.

Whatever comes past it is small, whole, and from somebody who was let in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pieria.doors.http.bodies import BODY_LIMIT, SMALL, Bodies, Replayed
from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failures import Refused, failure
from pieria.doors.http.hosts import Hosts, check_led
from pieria.doors.http.limits import Rate
from pieria.errors import AccessError, ConfigError, InputError, PieriaError
from pieria.toolsets import Access
from pieria.toolsets.host import everything

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
        bodies: Bodies,
        stop: Callable[[], None],
    ) -> None:
        self.stop = stop
        self._bodies = bodies
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
            caller = self._admitted(scope, front)
            scope.setdefault("state", {})["caller"] = caller
            # What strangers may send is a form to sign in with.
            limit = SMALL if caller is NOBODY else BODY_LIMIT
            # Segments are told apart before they are decoded: an id may hold a slash.
            scope["path"] = _as_sent(scope)
            async with self._bodies.body(scope, receive, limit) as body:
                await self._app(scope, receive if body is None else Replayed(bytes(body), receive), answering.send)
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
