"""The MCP servers of the application, one for each toolset and one for all.

The protocol's package takes longer to import than all of Pieria. So the servers are made in a thread while the
application starts; requests that come earlier wait for them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from starlette.types import Receive, Scope, Send

from pieria.doors.http.service import Service
from pieria.toolsets.registry import ALL

if TYPE_CHECKING:
    from pieria.doors.mcp.http_server import HttpServer


class Mounts:
    """`names` are what follows `/mcp/`."""

    def __init__(self, service: Service, version: str) -> None:
        self.names = (*service.registry.toolsets, ALL)
        self._service = service
        self._version = version
        self._servers: Mapping[str, HttpServer] = {}
        self._made: anyio.Event | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._made, end = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._serve, self._made, end)
            try:
                yield
            finally:
                end.set()

    def mount(self, name: str) -> Mount:
        return Mount(self, name)

    async def server(self, name: str) -> HttpServer:
        """Wait for the server of that name, and return it."""
        if self._made is None:
            raise RuntimeError("The application does not run: its lifespan has not begun.")
        await self._made.wait()
        return self._servers[name]

    async def _serve(self, made: anyio.Event, end: anyio.Event) -> None:
        self._servers = await to_thread.run_sync(self._make)
        async with AsyncExitStack() as stack:
            for server in self._servers.values():
                await stack.enter_async_context(server.session_manager.run())
            made.set()
            await end.wait()

    def _make(self) -> Mapping[str, HttpServer]:
        from pieria.doors.mcp.http_server import HttpServer

        return {
            name: HttpServer(self._service, self._service.registry.only(name), self._version) for name in self.names
        }


@dataclass(frozen=True)
class Mount:
    """The ASGI application of one server."""

    mounts: Mounts
    name: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server = await self.mounts.server(self.name)
        await server(scope, receive, send)
