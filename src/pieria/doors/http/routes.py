"""The handlers of the routes: each reads its request, calls the engine in a thread, and answers in JSON."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from pieria.capture import bank_removal as removing
from pieria.doors.http import metrics
from pieria.doors.http.arguments import json_of, query_of, segment
from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failures import JSON, Refused, failure, headers_of, status_of
from pieria.doors.http.resources import BANK, Resource, check_scope
from pieria.doors.http.schemas import flag, taking, text, whole
from pieria.doors.http.service import Service
from pieria.errors import InputError, PieriaError, UnknownError
from pieria.toolsets import Access, Host, Reply, Tool, called
from pieria.toolsets.validation import validated

log = logging.getLogger(__name__)

ROUTES = "http"
"""Toolset name under which calls of the resource routes are counted."""
EVENTS_PATH = "/v1/events"
EVENT_STREAM = "text/event-stream"
LONGEST_STREAM = 86_400
EVENTS = Tool(
    "listen",
    "Changes of a bank, as server-sent events.",
    taking(
        {
            "bank": text("The bank."),
            "since": whole("Start after this journal entry; the header Last-Event-ID has precedence.", 0, 2**53),
            "seconds": whole("Close the stream after this time.", 1, LONGEST_STREAM),
        },
        "bank",
    ),
    Access.read,
)
REMOVAL = Tool(
    "remove_bank",
    "Remove a whole bank for good. With `dry_run`, only report what would be removed.",
    taking({"dry_run": flag("Only report what would be removed.")}),
    Access.admin,
    begins=False,
)
Endpoint = Callable[[Request], Awaitable[Response]]


def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


@dataclass(frozen=True)
class Routes:
    """The endpoints of one service."""

    service: Service
    door: Door

    async def call_tool(self, request: Request) -> Response:
        """Call a tool. The reply is in its toolset's envelope, for success and error alike."""
        service = self.service
        arguments = await json_of(request)
        name, bank = segment(request, "tool"), segment(request, "bank")
        service.registry.found(name)

        def host() -> Host:
            return service.host(caller_of(request), bank)

        reply: Reply = await service.call(called, service.registry, name, arguments, host)
        if reply.error is None:
            return JSON(reply.value)
        return JSON(reply.value, status_of(reply.error), headers_of(reply.error))

    def resource(self, resource: Resource) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            given = None if resource.in_query else await json_of(request)
            began = time.perf_counter()
            code: str | None = "unknown_error"
            try:
                answer = await self.service.call(self._answered, resource, request, given)
                code = None
            except PieriaError as error:
                code = error.code
                raise
            finally:
                self.service.metrics.note(ROUTES, resource.tool.name, time.perf_counter() - began, code)
            return JSON(answer, resource.status)

        return endpoint

    def _answered(self, resource: Resource, request: Request, given: Any) -> Any:
        caller, tool = caller_of(request), resource.tool
        path = {name: segment(request, name) for name in request.path_params}
        bank = path.pop("bank")
        host = self.service.host(caller, bank).having(begins=tool.begins, via=caller.via)
        host.allow(tool.access)
        arguments = query_of(request, tool.parameters) if resource.in_query else given
        checked = validated(tool, arguments, resource.route)
        check_scope(checked, caller)
        if checked.get("session"):
            checked = {**checked, "session": caller.own(checked["session"], "session")}
        return resource.answer(host.bank, path, checked)

    async def banks(self, request: Request) -> Response:
        return JSON({"banks": await self.service.call(self.service.names, caller_of(request))})

    async def remove_bank(self, request: Request) -> Response:
        service, caller, name = self.service, caller_of(request), segment(request, "bank")
        given = validated(REMOVAL, query_of(request, REMOVAL.parameters), f"DELETE {BANK}")
        service.host(caller, name).allow(REMOVAL.access)
        report = await service.call(removing.remove_bank, service.workspace, name, **given)
        return JSON(report.placeless().as_dict())

    async def events(self, request: Request) -> Response:
        caller = caller_of(request)
        given = validated(EVENTS, query_of(request, EVENTS.parameters), f"GET {EVENTS_PATH}")
        since = last_seen(request)

        def opened() -> Any:
            return self.service.host(caller, given["bank"]).having(begins=False).bank

        bank = await self.service.call(opened)
        self.service.hub.check_room(caller.name)
        stream = self.service.hub.stream(
            bank,
            given.get("since") if since is None else since,
            given.get("seconds"),
            lambda: self.door.still(request.headers),
            caller.name,
        )
        return streamed(request, stream)

    async def metrics(self, request: Request) -> Response:
        service = self.service
        gauges = await service.call(service.gauges, caller_of(request))
        return Response(service.metrics.text(gauges, service.started), media_type=metrics.KIND)

    async def health(self, request: Request) -> Response:
        return JSON({"status": "ok"})


def listing(lines: tuple[str, ...]) -> Endpoint:
    """Return an endpoint for `/` that lists what is served."""

    async def endpoint(request: Request) -> Response:
        return PlainTextResponse("\n".join(lines) + "\n")

    return endpoint


def answering(endpoint: Endpoint) -> Endpoint:
    """Wrap an endpoint so that its errors become responses."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as refused:
            return failure(refused.error, refused.status, refused.headers)
        except PieriaError as error:
            return failure(error)
        except Exception as problem:
            # The response carries no traceback; the log does.
            log.exception("%s %s failed unexpectedly", request.method, request.scope["path"])
            return failure(UnknownError(type(problem).__name__, hint="See the server's log for details."))

    return answered


def streamed(request: Request, stream: AsyncIterator[str]) -> Response:
    """Return a stream of events. A HEAD request gets its answer at once."""
    headers = {"X-Accel-Buffering": "no"}
    if request.method == "HEAD":
        return Response(media_type=EVENT_STREAM, headers=headers)
    return StreamingResponse(stream, media_type=EVENT_STREAM, headers=headers)


def last_seen(request: Request) -> int | None:
    """Return the number of the last entry that the client has, which a browser sends when it reconnects."""
    said = request.headers.get("last-event-id")
    if not said:
        return None
    if not (said.isascii() and said.isdigit() and len(said) < 17):
        raise InputError("Last-Event-ID", "the number of a journal entry", said)
    return int(said)
