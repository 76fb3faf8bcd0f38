"""Progress of a tool call: from the tool's thread to the client that asked for it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio import from_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

Progress = Callable[[int, int], None]
EVERY = 0.1
"""Seconds between two notices; the final one is sent at once."""


@asynccontextmanager
async def reporting(context: Any) -> AsyncIterator[Progress]:
    """Yield a function that reports progress from the tool's thread. Only clients that asked for it get notices.

    A cancelled call ends when it reports.
    """
    send, receive = anyio.create_memory_object_stream[tuple[int, int]](1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_pass_on, receive, context.session.report_progress)
        with send:
            yield _Notices(send).report


async def _pass_on(notices: MemoryObjectReceiveStream[tuple[int, int]], tell: Callable[..., Any]) -> None:
    with notices:
        async for done, whole in notices:
            await tell(float(done), float(whole))


class _Notices:
    def __init__(self, send: MemoryObjectSendStream[tuple[int, int]]) -> None:
        self._send = send
        self._last = 0
        self._next = 0.0

    def report(self, done: int, whole: int) -> None:
        from_thread.check_cancelled()
        now = time.monotonic()
        # The protocol requires increasing numbers.
        if done <= self._last or (now < self._next and done < whole):
            return
        self._last, self._next = done, now + EVERY
        from_thread.run_sync(self._put, done, whole)

    def _put(self, done: int, whole: int) -> None:
        """Queue a notice. If a slow client has not taken the last one, drop this one."""
        if self._send.statistics().current_buffer_used == 0:
            self._send.send_nowait((done, whole))
