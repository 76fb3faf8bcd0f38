"""The application: every route behind the guard, for any ASGI server.

MCP has one server for each toolset and one for all, at `/mcp/<toolset>` and `/mcp/all`; `/mcp` is `/mcp/pieria`.
"""

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
from pieria.doors.http.callers import Door
from pieria.doors.http.failures import JSON, failure
from pieria.doors.http.guard import Bodies, Guard, Hosts, Interface
from pieria.doors.http.limits import A_SECOND, Rate
from pieria.doors.http.openapi import OPENAPI, described
from pieria.doors.http.routes import BANK, EVENTS_PATH, RESOURCES, Endpoint, Routes, answering, listing
from pieria.doors.http.service import Service
from pieria.doors.http.verbs import DOWNLOAD, UPLOADS, VERB, Verbs
from pieria.doors.mcp.mounts import Mounts
from pieria.doors.web.site import Site
from pieria.errors import InputError, NotFoundError
from pieria.toolsets.registry import OWN, meant, nearest

GUESSES_A_SECOND = 10.0
"""Requests a second without a valid token that one address may make."""
MCP = "/mcp"
TOOL = "/v1/banks/{bank}/tools/{tool}"


def application(service: Service, door: Door, hosts: Hosts, rate: float | None = A_SECOND) -> Guard:
    """Return the application, which serves while its lifespan lasts. Without a rate, requests are not limited."""
    name = version("pieria")
    mcp = Mounts(service, name)
    routes, verbs = Routes(service, door), Verbs(service)
    strangers = Rate(GUESSES_A_SECOND, "requests without a valid token")
    site = Site(service, door, strangers)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.running(), AsyncExitStack() as stack:
            stack.callback(telemetry.attach(site.witness.hear))
            await stack.enter_async_context(mcp.running())
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
        "/": {"GET": _facing(site, site.home, listing(_index(name, mcp.names)))},
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
            Route(MCP, mcp.mount(OWN), methods=["POST"]),
            *(Route(f"{MCP}/{each}", mcp.mount(each), methods=["POST"]) for each in mcp.names),
        ],
        exception_handlers={HTTPException: partial(_no_route, site, [f"/mcp/{each}" for each in mcp.names])},
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


def _index(name: str, mcp: Sequence[str]) -> tuple[str, ...]:
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
