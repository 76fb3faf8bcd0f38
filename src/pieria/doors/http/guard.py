"""The guard in front of every route: it checks host name, origin, caller, rate and body.

Requests that pass are small, complete and from an admitted caller. A page of another site can send requests, but not
under our host names: a foreign name may resolve to this machine (DNS rebinding). A body is read only after its caller
was admitted, and an unwanted body is refused before it is read.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pieria import telemetry
from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failures import Refused, failure
from pieria.doors.http.limits import Rate
from pieria.errors import AccessError, ConfigError, InputError, LimitError, PieriaError
from pieria.record.ids import new_id
from pieria.toolsets import Access
from pieria.toolsets.host import everything

OPEN_TO_ALL = ("/health", "/ready")
ELSEWHERE = ("cross-site", "same-site")
"""Values of `Sec-Fetch-Site` for requests from pages of other servers."""
HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every response that does not set them."""
NOBODY = Caller("nobody", Access.read, everything, "http")
LOCAL = "localhost"
ALLOWED = "Only pages of this server and of hosts named with --allow-host may send requests."
_PORTS = {"http": 80, "https": 443}
BODY_LIMIT = 8 << 20
"""Bytes: enough for the longest text with every character escaped."""
BODY_SECONDS = 30.0
"""Seconds that a body may take to arrive."""
SMALL = 64 << 10
"""Bytes of each body that are not counted, so that small requests pass while large ones fill the memory."""
WITH_BODY = ("POST", "PUT", "PATCH")
CLOSE = {"Connection": "close"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
TRACE_HEADERS = ("traceparent", "tracestate")
"""Headers that say which trace a request belongs to."""
REQUEST_ID = "x-request-id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class Front(Protocol):
    """One interface of the server: which paths it owns, how it knows its callers, and how it refuses them."""

    def owns(self, scope: Scope) -> bool: ...

    def is_open(self, scope: Scope) -> bool:
        """Return whether the path is open to all."""

    def admit(self, scope: Scope) -> Caller:
        """Return the caller, or raise `AccessError`."""

    def refusal(self, scope: Scope, error: PieriaError, status: int | None, headers: Mapping[str, str]) -> Response: ...


class Interface:
    """The interface for programs: errors are JSON, and each request carries a token."""

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
    """Wraps the application. Failed sign-ins are counted by address, to stop guessing.

    `fronts` are asked in order; the last owns all remaining paths. `stop` ends streams that would keep the server from
    stopping.
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
        headers = Headers(scope=scope)
        answering = _Answering(send, _request_id(headers))
        if scope["path"] in OPEN_TO_ALL:
            await self._answer(scope, receive, answering)
            return
        about: dict[str, Any] = {
            "method": scope["method"] if scope["method"] in METHODS else "_OTHER",
            "request_id": answering.request_id,
            "headers": {name: headers[name] for name in TRACE_HEADERS if name in headers},
        }
        with telemetry.during("http.request", **about) as measured:
            await self._answer(scope, receive, answering)
            measured |= {"route": getattr(scope.get("route"), "path", None), "status": answering.status}

    async def _answer(self, scope: Scope, receive: Receive, answering: _Answering) -> None:
        front = next(front for front in self._fronts if front.owns(scope))
        try:
            caller = self._admitted(scope, front)
            scope.setdefault("state", {})["caller"] = caller
            # Callers without a token may only send the form to sign in.
            limit = SMALL if caller is NOBODY else BODY_LIMIT
            # Split segments before decoding: an id may hold a slash.
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
            # A link from another site may lead here, but its images, frames and scripts get no answer.
            check_led(headers.get("sec-fetch-dest"))
        if front.is_open(scope):
            return NOBODY
        address = (scope.get("client") or ("",))[0]
        try:
            caller = front.admit(scope)
        except (AccessError, ConfigError):
            # A valid token is accepted even if others guess from the same address.
            self._strangers.take(address)
            raise
        self._rate.take(caller.name if self._door.needs_token else address)
        return caller


def _request_id(headers: Headers) -> str:
    """Return the caller's id of the request if it is well formed, or else a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if _REQUEST_ID.fullmatch(given) else new_id()


class _Answering:
    """Sends responses with the default headers and the request's id. `status` is that of the response, once sent."""

    def __init__(self, send: Send, request_id: str) -> None:
        self.request_id = request_id
        self.status: int | None = None
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            said = {name.lower() for name, _ in message["headers"]}
            own = {**HEADERS, REQUEST_ID: self.request_id}
            more = [(name.encode(), value.encode()) for name, value in own.items() if name.encode() not in said]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)


def _as_sent(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return quote(scope["path"]) if raw is None else raw.decode("ascii", "replace").partition("?")[0]


@dataclass(frozen=True, slots=True)
class Hosts:
    """`named` are the server's names, including the allowed ones; `allowed` are only those, whose pages may send
    requests.

    `open_to_others`: other machines can reach the server.
    """

    named: frozenset[str] = field(default_factory=frozenset)
    open_to_others: bool = False
    allowed: frozenset[str] = field(default_factory=frozenset)

    def check(self, host: str | None, arrived_at: str | None) -> None:
        """Raise `InputError` if the `Host` header is not one of ours."""
        name = None if host is None else _parts(host, "http")[0]
        if name is None or not self._is_ours(name, arrived_at):
            hint = "Use the address that the server printed, or allow the name: pieria serve --allow-host NAME."
            raise InputError("Host", "a host name of this server", host, hint=hint)

    def check_origin(self, origin: str, host: str | None) -> None:
        """Raise `AccessError` for a page of another origin. Another port is another origin."""
        split = _split(origin)
        scheme = split[0] if split else ""
        asked = _parts(split[1], scheme) if split else ("", None)
        same = host is not None and scheme in _PORTS and asked == _parts(host, scheme)
        if not same and not (scheme in _PORTS and asked[0] in self.allowed):
            raise AccessError("foreign_origin", hint=ALLOWED)

    def _is_ours(self, name: str, arrived_at: str | None) -> bool:
        if name == LOCAL or name in self.named or _is_loopback(name):
            return True
        return self.open_to_others and arrived_at is not None and name == arrived_at.partition("%")[0].lower()


def check_led(destination: str | None) -> None:
    """Raise `AccessError` unless a request led by another site's page opens in a window of its own."""
    if destination != "document":
        raise AccessError("foreign_origin", hint=ALLOWED)


def hosts(bound: str, open_to_others: bool, allowed: Iterable[str]) -> Hosts:
    """Return the names of a server that is bound to a host."""
    own = [bound, socket.gethostname()] if open_to_others else [bound]
    further = frozenset(map(_plain, allowed))
    return Hosts(frozenset(map(_plain, own)) | further, open_to_others, further)


def _split(origin: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.scheme, parts.netloc


def _parts(authority: str, scheme: str) -> tuple[str, int | None]:
    """Return name and port of `name:port`, `[address]:port` or a name alone."""
    name, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        name, port = authority, ""
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else None
    if port and number is None:
        return authority, None
    return _plain(name), number or _PORTS.get(scheme)


def _plain(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


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
