"""The server of this process: over stdin and stdout, until the client closes its side or a signal comes.

stdout carries protocol only; prints and logs go to stderr. The engine loads slowly, so a thread loads it after the
client's first answer.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server

from pieria.doors.mcp.server import instructions_of, server_for, session_of
from pieria.doors.mcp.wire import Answers, Requests, Wire, stdin_lines
from pieria.errors import ClosedError, PieriaError
from pieria.record.banks import bank_name_from
from pieria.toolsets import Access, Banks, Host, Registry, Tool
from pieria.toolsets.host import Paths, paths_of_user

if TYPE_CHECKING:
    from pieria.bank.jobs.worker import Worker
    from pieria.capture.drain import DrainBehind
    from pieria.doors.local import Neighbours
    from pieria.importers.offers import Once
    from pieria.settings import Resolved
    from pieria.workspace.model_fetch import FetchBehind


log = logging.getLogger(__name__)

WHO = "mcp"
LAST = 1.8
"""Seconds until the process ends, even with work under way: the promise is two."""
ONLY_READS = "This server only reads: recall from it; nothing can be remembered, changed or forgotten through it."
LONGEST_CLIENT = 40
SIGNALLED = 128
"""Added to a signal's number in an exit code, as shells do."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `pieria mcp`; `settings` come from its command line."""

    data: str | None
    settings: Mapping[str, Any]
    read_only: bool = False

    @property
    def access(self) -> Access:
        return Access.read if self.read_only else Access.admin


@dataclass(frozen=True, slots=True)
class _Held:
    banks: Banks
    paths: Paths
    worker: Worker | None
    drain: DrainBehind | None
    neighbours: Neighbours | None
    fetch: FetchBehind | None
    offers: Once
    project: str
    """Identifies the project, or else the working folder."""

    @property
    def bank_name(self) -> str:
        return self.banks.workspace.resolved.settings.bank

    @property
    def session(self) -> str | None:
        return self.banks.workspace.resolved.settings.session


def client_of(context: Any) -> str:
    """Return the client's name for itself, as part of a session's name."""
    params = context.session.client_params
    name = "" if params is None else params.client_info.name
    return bank_name_from(name, LONGEST_CLIENT, LONGEST_CLIENT) or WHO


def _project_of(resolved: Resolved) -> str:
    """Return a name of the project, or else of the working folder."""
    project = resolved.project
    name = None if project is None else project.bank_name()
    root = Path.cwd() if project is None else project.root
    return name or sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:8]


class Engine:
    """Threads may share it: the first to need it loads it, and the others wait."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._begun = self._closed = False

    def load(self) -> None:
        """Start loading the engine, once."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._load_behind, name="pieria-engine", daemon=True).start()

    def host(self, context: Any, tool: Tool) -> Host:
        """Return the host of a request. Wait for the engine, and raise the error if it could not be loaded."""
        held = self._loaded()
        # The first memory makes the folder.
        if held.neighbours is not None:
            held.neighbours.start()
        if held.fetch is not None:
            held.fetch.start()
        session = held.session or session_of(context) or f"{client_of(context)}-{held.project}"
        named = held.banks.workspace.resolved.is_bank_named
        return Host(
            held.banks, held.bank_name, session, held.paths, self._asked.access, is_named=named, offers=held.offers
        )

    def close(self) -> None:
        """Release the current job and close the banks. A call that still uses one ends with an error."""
        with self._lock:
            held, self._held, self._closed = self._held, None, True
        if held is None:
            return
        if held.fetch is not None:
            held.fetch.close()
        if held.neighbours is not None:
            held.neighbours.close()
        if held.drain is not None:
            held.drain.close()
        if held.worker is not None:
            held.worker.close()
        held.banks.close()

    def _load_behind(self) -> None:
        try:
            held = self._loaded()
            if held.banks.has(held.bank_name):
                bank = held.banks.opened(held.bank_name, held.session, create=False)
                bank.expect_questions()
                if held.fetch is not None:
                    held.fetch.start()
        except ClosedError:
            log.debug("the server ended while it was loading")
        except PieriaError as problem:
            # Every call raises it again, and so reaches a person who can fix it.
            log.warning("%s %s", problem.message, problem.hint or "")

    def _loaded(self) -> _Held:
        with self._lock:
            if self._closed:
                raise ClosedError("server")
            if self._held is None:
                self._held = self._made()
            return self._held

    def _made(self) -> _Held:
        from pieria.workspace import Workspace

        # A read-only server leaves no trace of its reads.
        quietly = {"count_uses": False} if self._asked.read_only else {}
        workspace = Workspace(self._asked.data, {**self._asked.settings, **quietly}, by_door=True)
        banks = Banks(workspace, WHO)
        worker = drain = neighbours = fetch = None
        if not self._asked.read_only:
            from pieria.capture.drain import DrainBehind
            from pieria.doors.local import Neighbours
            from pieria.workspace.model_fetch import FetchBehind

            worker = banks.worker()
            worker.start()
            drain = DrainBehind(workspace, lambda done: banks.work_on(done.banks))
            drain.start()
            neighbours = Neighbours(workspace, banks.calls)
            neighbours.start()
            fetch = FetchBehind(workspace, [banks.renew, neighbours.renew])
        from pieria.importers.offers import Once

        offers = Once(workspace.data, offered=workspace.resolved.settings.offer_imports)
        project = _project_of(workspace.resolved)
        return _Held(banks, paths_of_user(workspace), worker, drain, neighbours, fetch, offers, project)


def serve(registry: Registry, asked: Asked, *, debug: bool = False) -> None:
    """Serve one client, and return when it has gone."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    try:
        anyio.run(_serve, registry, asked)
    except* (BrokenPipeError, ConnectionError):
        log.info("the client is gone")


class _Ending:
    """Ends the process in time, even while a call or a blocked write holds a thread."""

    def __init__(self) -> None:
        self.code = 0
        self._timer = threading.Timer(LAST, lambda: os._exit(self.code))
        self._timer.daemon = True

    def begin(self, code: int = 0) -> None:
        if not self._timer.is_alive():
            self.code = code
            self._timer.start()


async def _serve(registry: Registry, asked: Asked) -> None:
    engine, ending = Engine(asked), _Ending()
    taught = f"{instructions_of(registry)} {ONLY_READS}" if asked.read_only else None
    server = server_for(registry, engine.host, version("pieria"), access_of=lambda _: asked.access, instructions=taught)
    async with stdio_server(stdin_lines()) as (read, write):
        # Only after the server has taken stdout for its own: later prints go to stderr.
        sys.stdout = sys.stderr
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_obey_signals, tasks.cancel_scope, ending)
            wire = Wire(tasks, engine.load, ending.begin)
            answers = Answers(wire, write)
            try:
                await server.run(Requests(wire, read, answers), answers, server.create_initialization_options())
            finally:
                ending.begin()
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(engine.close)
            tasks.cancel_scope.cancel()
        if ending.code:
            # Exit at once: the thread that reads stdin would wait for the client.
            os._exit(ending.code)


async def _obey_signals(scope: anyio.CancelScope, ending: _Ending) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            ending.begin(SIGNALLED + number)
            scope.cancel()
