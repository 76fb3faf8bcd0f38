"""The server of this process: over stdin and stdout, until the client closes its side or a signal comes.

stdout carries protocol only; prints and logs go to stderr.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from importlib.metadata import version

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server

from pieria.doors.mcp.engine import Asked, Engine
from pieria.doors.mcp.lines import stdin_lines
from pieria.doors.mcp.server import instructions_of, server_for
from pieria.doors.mcp.wire import Answers, Requests, Wire
from pieria.toolsets import Registry

log = logging.getLogger(__name__)

LAST = 1.8
"""Seconds until the process ends, even with work under way: the promise is two."""
ONLY_READS = "This server only reads: recall from it; nothing can be remembered, changed or forgotten through it."
SIGNALLED = 128
"""Added to a signal's number in an exit code, as shells do."""


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
        self._timer = threading.Timer(LAST, self._end)
        self._timer.daemon = True

    def begin(self, code: int = 0) -> None:
        if not self._timer.is_alive():
            self.code = code
            self._timer.start()

    def _end(self) -> None:
        os._exit(self.code)


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
