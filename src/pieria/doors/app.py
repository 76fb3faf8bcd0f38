"""The application: every route behind the guard, for any ASGI server.

MCP has one server for each toolset and one for all, at `/mcp/<toolset>` and `/mcp/all`; `/mcp` is `/mcp/pieria`. The
address (`?bank=NAME`) or the header `X-Pieria-Bank` names the bank; the default is the bank of the settings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pieria import telemetry
from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failures import JSON, failure
from pieria.doors.http.guard import BODY_LIMIT, Bodies, Guard, Hosts, Interface, Replayed
from pieria.doors.http.limits import A_SECOND, Rate
from pieria.doors.http.openapi import OPENAPI, described
from pieria.doors.http.routes import BANK, EVENTS_PATH, RESOURCES, Endpoint, Routes, answering, listing
from pieria.doors.http.service import Service
from pieria.doors.http.verbs import DOWNLOAD, UPLOADS, VERB, Verbs
from pieria.doors.mcp.server import server_for, session_of
from pieria.doors.mcp.wire import is_misnumbered, refusal
from pieria.doors.web.site import Site
from pieria.errors import InputError, NotFoundError
from pieria.toolsets import Access, Host, Tool
from pieria.toolsets.registry import ALL, OWN, meant, nearest

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


BANK_HEADER = "x-pieria-bank"
GUESSES_A_SECOND = 10.0
"""Requests a second without a valid token that one address may make."""
MCP = "/mcp"
TOOL = "/v1/banks/{bank}/tools/{tool}"


@dataclass(frozen=True)
class Mounted:
    """A server and its ASGI application."""

    server: Server[Any]

    @property
    def session_manager(self) -> StreamableHTTPSessionManager:
        return self.server.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        body: bytes = message.get("body", b"")
        if is_misnumbered(body.decode("utf-8", "replace")):
            await Response(refusal(), 400, media_type="application/json")(scope, receive, send)
            return
        await self.session_manager.handle_request(scope, Replayed(body, receive), send)


def mounted(service: Service, version: str) -> Mapping[str, Mounted]:
    """Return the MCP servers by the name that follows `/mcp/`."""
    found = {}
    for name in (*service.registry.toolsets, ALL):
        registry = service.registry.only(name)
        server = server_for(registry, partial(_host, service), version, access_of=_access, places=service.places)
        # The guard has checked host names, origins and sizes. Requests are stateless.
        server.streamable_http_app(
            stateless_http=True,
            max_request_body_size=BODY_LIMIT,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        found[name] = Mounted(server)
    return found


def _access(context: Any) -> Access:
    access: Access = context.request.state.caller.access
    return access


def _host(service: Service, context: Any, tool: Tool) -> Host:
    """Return the host of a request. Errors go into the tool's reply."""
    request = context.request
    caller = request.state.caller
    host = _on_bank(service, caller, request.scope)
    named = session_of(context)
    return host.having(session=caller.own(named, "session")) if named else host


def _on_bank(service: Service, caller: Caller, scope: Scope) -> Host:
    named = QueryParams(scope["query_string"]).get("bank") or Headers(scope=scope).get(BANK_HEADER)
    if named:
        return service.host(caller, named)
    resolved = service.workspace.resolved
    return service.host(caller, resolved.settings.bank, named=resolved.is_bank_named)


def application(service: Service, door: Door, hosts: Hosts, rate: float | None = A_SECOND) -> Guard:
    """Return the application, which serves while its lifespan lasts. Without a rate, requests are not limited."""
    name = version("pieria")
    mcp = mounted(service, name)
    routes, verbs = Routes(service, door), Verbs(service)
    strangers = Rate(GUESSES_A_SECOND, "requests without a valid token")
    site = Site(service, door, strangers)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.running(), AsyncExitStack() as stack:
            stack.callback(telemetry.attach(site.witness.hear))
            for server in mcp.values():
                await stack.enter_async_context(server.session_manager.run())
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(site.tasks.close)
                    await to_thread.run_sync(verbs.close)

    @cache
    def document() -> dict[str, Any]:
        return described(service.registry, name)

    async def openapi(request: Request) -> Response:
        return JSON(document())

    fixed: dict[str, dict[str, Endpoint]] = {
        "/": {"GET": _facing(site, site.home, listing(_index(name, mcp)))},
        "/health": {"GET": routes.health},
        "/ready": {"GET": routes.ready},
        "/metrics": {"GET": routes.metrics},
        OPENAPI: {"GET": openapi},
        EVENTS_PATH: {"GET": routes.events},
        "/v1/banks": {"GET": routes.banks},
        BANK: {"DELETE": routes.remove_bank},
        TOOL: {"POST": routes.call_tool},
        VERB: {"POST": verbs.call},
        UPLOADS: {"POST": verbs.upload},
        DOWNLOAD: {"GET": verbs.download},
    }
    by_path: defaultdict[str, dict[str, Endpoint]] = defaultdict(dict, fixed)
    for resource in RESOURCES:
        by_path[resource.path][resource.method] = routes.resource(resource)
    app = Starlette(
        routes=[
            *(Route(path, answering(_by_method(methods)), methods=[*methods]) for path, methods in by_path.items()),
            *site.routes(),
            # No GET: requests are stateless, so there is no stream to listen to.
            Route(MCP, mcp[OWN], methods=["POST"]),
            *(Route(f"{MCP}/{each}", server, methods=["POST"]) for each, server in mcp.items()),
        ],
        exception_handlers={HTTPException: partial(_no_route, site, [f"/mcp/{each}" for each in mcp])},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    fronts = (site, Interface(door))
    bodies = Bodies(service.workspace.resolved.settings.request_memory << 20)
    return Guard(app, fronts, door, hosts, Rate(rate, "requests"), strangers, bodies, service.hub.end)


def _facing(site: Site, page: Endpoint, otherwise: Endpoint) -> Endpoint:
    """Serve the page to browsers and the other endpoint to programs."""

    async def endpoint(request: Request) -> Response:
        return await (page if site.owns(request.scope) else otherwise)(request)

    return endpoint


def _by_method(methods: Mapping[str, Endpoint]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        # HEAD is a GET whose body is not read.
        return await methods["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


async def _no_route(site: Site, mcp: Sequence[str], request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    headers = {**(problem.headers or {})}
    if site.owns(request.scope):
        return site.nowhere(request, problem.status_code, headers)
    if problem.status_code == 405:
        return failure(InputError("method", headers.get("Allow", "another"), request.method), 405, headers)
    path = request.scope["path"]
    hint = f"{OPENAPI} describes every route."
    if path.startswith(f"{MCP}/"):
        near = meant(nearest(path, mcp)) if path.rstrip("/") != MCP else None
        hint = f"{near or ''} MCP is at {', '.join(mcp[:-1])} and {mcp[-1]}.".lstrip()
    return failure(NotFoundError("route", path, hint=hint), problem.status_code, headers)


def _index(name: str, mcp: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"Pieria {name}: long-term memory for AI agents.",
        "",
        *(f"/mcp/{each}" for each in mcp),
        TOOL,
        VERB,
        UPLOADS,
        DOWNLOAD,
        *dict.fromkeys(resource.path for resource in RESOURCES),
        "/v1/banks",
        BANK,
        EVENTS_PATH,
        OPENAPI,
        "/health",
        "/ready",
        "/metrics",
    )
