"""Places for the engine's work: so much of it is done at once, and whatever comes then waits for its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")


class Places:
    """For the tasks of one event loop. Work that nobody waits for any more has its place until it is over: its thread
    goes on, and would otherwise let in another."""

    def __init__(self, number: int) -> None:
        self._free = CapacityLimiter(number)
        # Frees a thread as soon as its caller is gone, so that it cannot be what limits them.
        self._threads = CapacityLimiter(number)

    async def run(self, work: Callable[[], T], *, abandoned: bool = False) -> T:
        """Does it in a thread. A caller who is gone is waited for to the end of it, unless it may be `abandoned`."""
        over: Future[None] = Future()
        await self._free.acquire_on_behalf_of(over)
        try:
            done = partial(_done, work, over)
            return await to_thread.run_sync(done, abandon_on_cancel=abandoned, limiter=self._threads)
        finally:
            # Has no effect on work that has begun; what has not will not begin any more.
            over.cancel()
            over.add_done_callback(partial(self._left, asyncio.get_running_loop()))

    def _left(self, loop: asyncio.AbstractEventLoop, over: Future[None]) -> None:
        """In whichever thread was the last to have to do with it."""
        # A loop that has ended has no more places to give.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._free.release_on_behalf_of, over)


def _done(work: Callable[[], T], over: Future[None]) -> T:
    if not over.set_running_or_notify_cancel():
        raise RuntimeError("given up before it began")
    try:
        return work()
    finally:
        over.set_result(None)
