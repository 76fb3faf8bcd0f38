"""The application: every route behind the guard, for any ASGI server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pieria import telemetry
from pieria.doors.http.bodies import Bodies
from pieria.doors.http.callers import Door
from pieria.doors.http.failures import JSON, failure
from pieria.doors.http.guard import Guard, Interface
from pieria.doors.http.hosts import Hosts
from pieria.doors.http.limits import A_SECOND, Rate
from pieria.doors.http.mcp import mounted
from pieria.doors.http.openapi import OPENAPI, described
from pieria.doors.http.resources import BANK, RESOURCES
from pieria.doors.http.routes import EVENTS_PATH, Endpoint, Routes, answering, listing
from pieria.doors.http.service import Service
from pieria.doors.web.site import Site
from pieria.errors import InputError, NotFoundError
from pieria.toolsets.nearest import meant, nearest

GUESSES_A_SECOND = 10.0
"""Requests a second without a valid token that one address may make."""
MCP = "/mcp"
TOOL = "/v1/banks/{bank}/tools/{tool}"


def application(service: Service, door: Door, hosts: Hosts, rate: float | None = A_SECOND) -> Guard:
    """Return the application, which serves while its lifespan lasts. Without a rate, requests are not limited."""
    name = version("pieria")
    mcp = mounted(service, name)
    routes = Routes(service, door)
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

    @cache
    def document() -> dict[str, Any]:
        return described(service.registry, name)

    async def openapi(request: Request) -> Response:
        return JSON(document())

    fixed: dict[str, dict[str, Endpoint]] = {
        "/": {"GET": _facing(site, site.home, listing(_index(name, mcp)))},
        "/health": {"GET": routes.health},
        "/metrics": {"GET": routes.metrics},
        OPENAPI: {"GET": openapi},
        EVENTS_PATH: {"GET": routes.events},
        "/v1/banks": {"GET": routes.banks},
        BANK: {"DELETE": routes.remove_bank},
        TOOL: {"POST": routes.call_tool},
    }
    by_path: defaultdict[str, dict[str, Endpoint]] = defaultdict(dict, fixed)
    for resource in RESOURCES:
        by_path[resource.path][resource.method] = routes.resource(resource)
    app = Starlette(
        routes=[
            *(Route(path, answering(_by_method(methods)), methods=[*methods]) for path, methods in by_path.items()),
            *site.routes(),
            # No GET: requests are stateless, so there is no stream to listen to.
            *(Route(f"/mcp/{each}", server, methods=["POST"]) for each, server in mcp.items()),
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
    if path == MCP or path.startswith(f"{MCP}/"):
        near = meant(nearest(path, mcp)) if path.rstrip("/") != MCP else None
        hint = f"{near or ''} MCP is at {', '.join(mcp[:-1])} and {mcp[-1]}.".lstrip()
    return failure(NotFoundError("route", path, hint=hint), problem.status_code, headers)


def _index(name: str, mcp: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"Pieria {name}: long-term memory for AI agents.",
        "",
        *(f"/mcp/{each}" for each in mcp),
        TOOL,
        *dict.fromkeys(resource.path for resource in RESOURCES),
        "/v1/banks",
        BANK,
        EVENTS_PATH,
        OPENAPI,
        "/health",
        "/metrics",
    )
