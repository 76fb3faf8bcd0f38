"""The process of `pieria serve`: its socket, its signals, and its end.

It ends in order: it accepts no new calls, ends streams, finishes running calls, and closes the banks.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pieria.doors.app import application
from pieria.doors.http.callers import Door
from pieria.doors.http.guard import Guard, hosts
from pieria.doors.http.service import Service, service
from pieria.doors.http.tokens import Tokens
from pieria.doors.local import Neighbours
from pieria.doors.serve_address import address, noted
from pieria.errors import ConfigError, ConflictError, InputError, StorageError
from pieria.record import check
from pieria.toolsets import registry
from pieria.workspace import Workspace, is_data_doubted
from pieria.workspace.model_fetch import FetchBehind

HEADER_SECONDS = 20.0
"""Longest wait for a request's headers, from the connection or the end of the last response."""
LAST_CALLS = 8
"""Seconds that running calls get to finish."""
IDLE_SECONDS = 15
"""Seconds that a connection may stay idle between two requests."""
CONNECTIONS = 500
"""Most connections at once; further ones get 503."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with a timeout: its own waits for ever once headers have begun."""

    seconds = HEADER_SECONDS
    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._giving_up is None:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Do not keep the connection open for the rest of an unread body.
        self._stop_waiting()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if not self.transport.is_closing():
            self._giving_up = self.loop.call_later(self.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        self._giving_up = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


@dataclass(frozen=True, slots=True)
class Bound:
    """A listening socket and its address."""

    listener: socket.socket
    is_local: bool
    """Whether only this machine can reach it."""

    @property
    def url(self) -> str:
        host, port = self.listener.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    workspace: Workspace,
    host: str,
    port: int,
    *,
    allowed: Sequence[str] = (),
    rate: float | None = None,
    told: Callable[[str, bool], None] = lambda url, needs_token: None,
) -> None:
    """Serve until a signal stops the process. `told` gets the address once requests are accepted.

    Raise `ConfigError` before serving if a token is needed and none exists.
    """
    setting = workspace.resolved.settings.token
    secret = setting.get_secret_value() if setting is not None else ""
    tokens = Tokens(workspace.data)
    if tokens.needed and is_data_doubted(workspace.resolved):
        reason = f"the tokens in {workspace.data} may have come with the project that it lies in"
        raise ConfigError(reason, hint="Run `pieria trust` for that project, or serve another data folder.")
    try:
        bound = bind(host, port)
    except ConflictError as problem:
        ours = _served_already(workspace, port)
        if ours is None:
            raise
        raise ours from problem
    try:
        is_shared = workspace.place.is_shared
        door = Door(tokens, secret or None, always=is_shared or not bound.is_local)
        if (is_shared or not bound.is_local) and not secret and not tokens.all():
            raise _without_token(host, is_shared)
        # Report an unreadable token file now, not at the first request.
        tokens.all()
        served = service(workspace, registry())
        app = application(served, door, hosts(host, not bound.is_local, allowed), rate)
        neighbours = Neighbours(workspace, served.banks.calls)
        neighbours.start()
        fetch = FetchBehind(workspace, [served.banks.renew, neighbours.renew])
        fetch.start()
        try:
            with noted(workspace.data, bound.url), telemetry_of(served):
                Server(app, lambda: told(bound.url, door.needs_token)).run([bound.listener])
        finally:
            fetch.close()
            neighbours.close()
    finally:
        bound.listener.close()


def telemetry_of(served: Service) -> AbstractContextManager[None]:
    """Return the context in which traces and metrics are sent, if the settings ask for it."""
    if served.workspace.resolved.settings.telemetry == "off":
        return nullcontext()
    from pieria.doors.otlp import exported

    return exported(lambda: served.gauges(sorted(served.banks.open_names())))


def _served_already(workspace: Workspace, port: int) -> ConflictError | None:
    """Return the error for a port that a server of the same data folder has; None for another program's."""
    running = address(workspace.data)
    if running is None or urlsplit(running).port != port:
        return None
    hint = "Use that server, or stop it first. --port starts another one beside it."
    return ConflictError(f"a server of {workspace.place} already runs at {running}", hint=hint)


def _without_token(host: str, is_shared: bool) -> ConfigError:
    if is_shared:
        # A token file belongs to one address, and one database may have several.
        hint = "Create one with `pieria token create NAME` and the same data."
        return ConfigError("serving banks on a server needs a token, and there is none", hint=hint)
    hint = "Create one with `pieria token create NAME`, or serve on 127.0.0.1."
    return ConfigError(f"other machines can reach {host}, and there is no token", hint=hint)


def bind(host: str, port: int) -> Bound:
    """Raise `InputError` for an address that this machine lacks, `ConflictError` if the port is in use."""
    check.whole(port, "port", 0, 65_535)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as problem:
        raise InputError("host", "an address of this machine", host) from problem
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(CONNECTIONS)
    except OSError as problem:
        listener.close()
        raise _unbound(host, port, problem) from problem
    return Bound(listener, ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback)


def _unbound(host: str, port: int, problem: OSError) -> Exception:
    if problem.errno == errno.EADDRINUSE:
        hint = "Stop that program, or choose another port with --port."
        return ConflictError(f"another program has port {port} of {host}", hint=hint)
    if problem.errno == errno.EADDRNOTAVAIL:
        return InputError("host", "an address of this machine", host)
    if problem.errno == errno.EACCES:
        return InputError("port", "a port that this user may take, such as 7411", port)
    return StorageError("serve", f"port {port} of {host} cannot be taken ({problem.strerror})")


class Server(uvicorn.Server):
    """Ends with status 0 on a signal, because a requested stop is no failure."""

    def __init__(self, app: Guard, started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=PatientProtocol,
                ws="none",
                lifespan="on",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=LAST_CALLS,
                limit_concurrency=CONNECTIONS,
            )
        )
        self._stop = app.stop
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._told()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._asked_to_stop) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _asked_to_stop(self, *_: Any) -> None:
        """Ask uvicorn to stop. A second signal does not wait for running calls."""
        self.force_exit = self.should_exit
        self.should_exit = True
