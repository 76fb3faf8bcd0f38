"""The fixtures of banks over HTTP: `pytest --over http` runs tests of verbs on `pieria.open("http://…")`.

One server listens for the whole run. Each bank has an application of its own behind it, with the settings and the clock
of the test, and no background work, which no test of a verb expects.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import uvicorn

import pieria
from pieria import Bank
from pieria.doors.app import application
from pieria.doors.http.callers import ANYBODY, Caller, Door
from pieria.doors.http.guard import Hosts
from pieria.doors.http.service import service
from pieria.doors.http.tokens import Tokens
from pieria.doors.server import bind
from pieria.record.trust import PERSON
from pieria.toolsets import Access, registry
from pieria.toolsets.host import everything


class OpenDoor(Door):
    """Lets the tests in as a person who administers every bank."""

    def anybody(self) -> Caller:
        return Caller(ANYBODY, Access.admin, everything, "", via=PERSON)


class Switch:
    """Passes a request for `/3/v1/…` to the third application."""

    def __init__(self) -> None:
        self.apps: dict[str, Any] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        _, name, rest = scope["path"].split("/", 2)
        raw = scope["raw_path"].split(b"/", 2)[2]
        await self.apps[name]({**scope, "path": f"/{rest}", "raw_path": b"/" + raw}, receive, send)


class Wire:
    """A listening server, and the applications behind it."""

    def __init__(self, portal: anyio.from_thread.BlockingPortal) -> None:
        self._portal = portal
        self._switch = Switch()
        self._numbers = map(str, itertools.count())
        self._bound = bind("127.0.0.1", 0)
        config = uvicorn.Config(self._switch, lifespan="off", log_config=None, access_log=False)
        self._server = uvicorn.Server(config)

    @contextmanager
    def serving(self) -> Iterator[Wire]:
        running = self._portal.start_task_soon(self._server.serve, [self._bound.listener])
        yield self
        self._server.should_exit = True
        running.result(30)

    @contextmanager
    def place(self, folder: Path, settings: dict[str, Any], clock: Any) -> Iterator[str]:
        """Yield the address of the banks of a folder."""
        name = next(self._numbers)
        with pieria.Workspace(folder, settings, clock=clock) as workspace:
            shared = service(workspace, registry(), "python")
            door = OpenDoor(Tokens(workspace.data), None, always=False)
            app = application(shared, door, Hosts(), None)
            self._switch.apps[name] = app
            hub = self._portal.start_task_soon(shared.hub.run)
            try:
                yield f"{self._bound.url}/{name}"
            finally:
                app.stop()
                hub.cancel()
                del self._switch.apps[name]
                shared.banks.close()


@contextmanager
def listening() -> Iterator[Wire]:
    with anyio.from_thread.start_blocking_portal() as portal, Wire(portal).serving() as wire:
        yield wire


@contextmanager
def opening(wire: Wire, folder: Path, clock: Any) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens a bank behind HTTP under these settings."""
    with ExitStack() as stack:

        def made(name: str = "notes", **settings: Any) -> Bank:
            own = {key: settings.pop(key) for key in SPOKEN if key in settings}
            own |= {key: settings[key] for key in BOTH if key in settings}
            address = stack.enter_context(wire.place(folder, settings, clock))
            return stack.enter_context(pieria.open(name, data=address, settings=own))

        yield made


SPOKEN = ("session", "channel", "author", "author_type", "secrets")
"""Settings of the caller, not of the server."""
BOTH = ("count_uses",)
"""Settings that the caller and the server must both switch on."""
