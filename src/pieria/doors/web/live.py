"""Updates of an open page: its bank's journal, and the progress of a task."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import Response

from pieria.doors.http.routes import EVENT_STREAM, caller_of, last_seen, streamed
from pieria.doors.http.schemas import segment, text
from pieria.doors.http.service import Service
from pieria.doors.web.page import Answer, Asked, Page, Sent, Shown, View
from pieria.doors.web.tasks import FILES, Made, Task
from pieria.errors import ConflictError

LOOKED = 0.2
"""Seconds between two checks of a task's progress."""
PIECE = 1 << 18
"""Bytes of a file that are read at a time."""


async def events(service: Service, request: Request, welcome: Callable[[], bool]) -> Response:
    """Return a bank's server-sent events after those that the page or the browser has already seen."""
    caller = caller_of(request)

    def opened() -> Any:
        return service.host(caller, segment(request, "bank")).having(begins=False).bank

    bank = await service.call(opened)
    since = request.query_params.get("since", "")
    came = last_seen(request)
    if came is None and since.isascii() and since.isdigit():
        came = int(since[:16])
    service.hub.check_room(caller.name)
    return streamed(request, service.hub.stream(bank, came, None, welcome, caller.name))


def _task(asked: Asked) -> Task:
    return asked.tasks.found(asked.given["id"], asked.caller.name, asked.bank_name)


def _shown(asked: Asked) -> Answer:
    return Shown("task.html", {"task": _task(asked), "files": FILES}, part="task")


async def steps(task: Task) -> AsyncIterator[bytes]:
    """Yield an event for each progress, and one at the end."""
    told: tuple[int, int] | None = None
    while not task.is_over:
        if (task.done, task.whole) != told:
            told = (task.done, task.whole)
            yield b"event: step\ndata: .\n\n"
        await anyio.sleep(LOOKED)
    yield b"event: over\ndata: .\n\n"


def _fetched(asked: Asked) -> Answer:
    task = _task(asked)
    if not isinstance(task.result, Made):
        raise ConflictError("the task has no file yet", hint="The task's page shows the file when it is ready.")
    return Sent(_pieces(task.result), task.result.kind, task.result.path.name)


async def _pieces(made: Made) -> AsyncIterator[bytes]:
    async with await anyio.open_file(made.path, "rb") as file:
        while piece := await file.read(PIECE):
            yield piece


_ID = {"id": text("Which task.")}
PAGE = Page(
    "task",
    "Work",
    "",
    "A task started from a page",
    (
        View("GET task", _shown, _ID, ("id",)),
        View("GET task/events", lambda asked: Sent(steps(_task(asked)), EVENT_STREAM), _ID, ("id",)),
        View("GET task/file", _fetched, _ID, ("id",)),
    ),
)
