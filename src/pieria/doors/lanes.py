"""Places for the engine's work: a limited number of calls run at once, and the others wait.

Slow work gives its place to others and goes on in a lane of its own. So a few slow requests do not block quick ones.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from pieria.runtime import effort

T = TypeVar("T")
SLOW_AT_ONCE = 2
"""Slow pieces of work that run at the same time."""
SLOW_WAITING = 24
"""Slow pieces of work that may have given up their places; further ones keep them."""
LANE_SECONDS = 20.0
"""Longest wait of slow work, in seconds: then it goes on all the same, so that it never waits for ever."""


class Places:
    """Places for the tasks of one event loop. Abandoned work keeps its place until it ends, because its thread goes on.

    `seconds` is the processor time that one piece of work may take.
    """

    def __init__(self, number: int, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.lane = threading.Semaphore(SLOW_AT_ONCE)
        self.room = threading.Semaphore(SLOW_WAITING)
        self._free = CapacityLimiter(number)
        # Frees a thread once its caller has gone, so that threads are never the limit.
        self._threads = CapacityLimiter(number + SLOW_WAITING)

    async def run(self, work: Callable[[], T], *, abandoned: bool = False) -> T:
        """Run the work in a thread. Wait for its end even if the caller has gone, unless it may be `abandoned`."""
        over: Future[None] = Future()
        await self._free.acquire_on_behalf_of(over)
        slow = _Slow(self, partial(self._give_back, asyncio.get_running_loop(), over))
        try:
            done = partial(_done, work, over, slow)
            return await to_thread.run_sync(done, abandon_on_cancel=abandoned, limiter=self._threads)
        finally:
            # Stops work that has not begun; running work goes on.
            over.cancel()
            over.add_done_callback(lambda _: slow.give_back())

    def _give_back(self, loop: asyncio.AbstractEventLoop, over: Future[None]) -> None:
        """Release the place, on the last thread that used it."""
        # A loop that has ended has no places to release.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._free.release_on_behalf_of, over)


class _Slow:
    """One piece of work: whether it gave up its place, and whether it has the lane."""

    def __init__(self, places: Places, free: Callable[[], None]) -> None:
        self._places = places
        self._free: Callable[[], None] | None = free
        self._has_room = self._has_lane = False

    def give_back(self) -> None:
        """Give the place back, once."""
        free, self._free = self._free, None
        if free is not None:
            free()

    def enter(self, seconds: float) -> None:
        """Give the place back and wait for the lane, at most so many seconds; without room, keep the place."""
        self._has_room = self._places.room.acquire(blocking=False)
        if self._has_room:
            self.give_back()
            self._has_lane = self._places.lane.acquire(timeout=min(LANE_SECONDS, seconds))

    def leave(self) -> None:
        if self._has_lane:
            self._places.lane.release()
        if self._has_room:
            self._places.room.release()
        self._has_lane = self._has_room = False

    @property
    def seconds(self) -> float | None:
        return self._places.seconds


def _done(work: Callable[[], T], over: Future[None], slow: _Slow) -> T:
    if not over.set_running_or_notify_cancel():
        raise RuntimeError("given up before it began")
    try:
        with effort.limited(slow.seconds, slow.enter):
            return work()
    finally:
        slow.leave()
        over.set_result(None)
