"""The thread pool for calls. It grows when calls wait for something, and shrinks afterwards.

All banks and event loops of a process share it. A call that waits for a model, a change or another process gives up
its place. So it never blocks short calls. This module does not know what the calls do.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any, NamedTuple, TypeVar

from pieria.runtime import forks

log = logging.getLogger(__name__)

T = TypeVar("T")

PLACES = 16
"""Calls that run at once. More would only compete for one interpreter and one writer."""
MOMENT = 0.1
"""Seconds after which a waiting call gives up its place."""
COMPUTING = 0.01
"""A call that uses this share of a processor counts as computing; another thread would only slow it down."""
MOST = 1_000
"""The most threads, even if all of them wait."""
IDLE = 10.0
"""Seconds that a thread waits for another call before it ends."""
LAST_STEP = 2.0
"""Seconds to wait for running calls at exit: cutting off a call inside a model's runtime would crash."""


class _Begun(NamedTuple):
    """When a thread began its call, and its processor time at that moment."""

    at: float
    used: float

    def waits(self, thread: int, now: float) -> bool:
        passed = now - self.at
        if passed < MOMENT:
            return False
        # Where the system does not report other threads' processor time, a long call counts as waiting.
        told = getattr(time, "pthread_getcpuclockid", None)
        return told is None or time.clock_gettime(told(thread)) - self.used < passed * COMPUTING


class _Task:
    """A call and its future. No reference to it remains when it is done."""

    __slots__ = ("asked", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.asked: Future[Any] = Future()

    def perform(self) -> None:
        if not self.asked.set_running_or_notify_cancel():
            return
        try:
            result = self.work()
        except BaseException as problem:  # noqa: BLE001 - it is raised where the call is awaited
            self.asked.set_exception(problem)
        else:
            self.asked.set_result(result)

    def refuse(self, problem: RuntimeError) -> None:
        """Fail the call: there is no thread to run it."""
        if self.asked.set_running_or_notify_cancel():
            self.asked.set_exception(problem)


class Pool:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[_Task] = deque()
        self._begun: dict[int, _Begun] = {}
        self._number = 0
        self._idle = 0
        self._names = count(1)
        self._is_watched = False
        self._is_ending = False

    @property
    def threads(self) -> int:
        return self._number

    @property
    def at_work(self) -> int:
        """Calls that are running."""
        return len(self._begun)

    @property
    def waiting(self) -> int:
        """Calls that have not begun."""
        return len(self._waiting)

    def submit(self, work: Callable[[], T], *, at_once: bool = False) -> Future[T]:
        """Run a call when there is a place, or in any case with `at_once`."""
        task = _Task(work)
        with self._changed:
            if at_once:
                self._waiting.appendleft(task)
            else:
                self._waiting.append(task)
            if self._idle >= len(self._waiting):
                self._changed.notify()
                return task.asked
            starting = at_once or self._has_place()
            self._number += starting
            watching = not starting and not self._is_watched
            self._is_watched |= watching
        if starting:
            self._start()
        elif watching:
            threading.Thread(target=self._watch, name="pieria-aio-places", daemon=True).start()
        return task.asked

    def end(self) -> None:
        """End the pool at exit: drop calls that have not begun, and wait a moment for running ones."""
        until = time.monotonic() + LAST_STEP
        with self._changed:
            self._is_ending = True
            self._waiting.clear()
            while self._begun and self._changed.wait(max(0.0, until - time.monotonic())):
                pass

    def _has_place(self) -> bool:
        if self._number < PLACES or self._number >= MOST:
            return self._number < PLACES
        now = time.monotonic()
        # A thread stays in this dict, and so alive, until it has the lock.
        waiting = sum(begun.waits(thread, now) for thread, begun in self._begun.items())
        return self._number - waiting < PLACES

    def _start(self) -> None:
        """Start a thread without holding the lock: starting may run garbage collection, which may close a bank."""
        try:
            threading.Thread(target=self._run, name=f"pieria-aio-{next(self._names)}", daemon=True).start()
        except RuntimeError as problem:
            log.warning("the system gives no further thread: %s", problem)
            with self._changed:
                self._number -= 1
                refused = [] if self._number else [self._waiting.popleft() for _ in range(len(self._waiting))]
            for task in refused:
                task.refuse(problem)

    def _watch(self) -> None:
        """While calls wait for a place, check whether running calls have given theirs up."""
        while True:
            time.sleep(MOMENT)
            starting = 0
            with self._changed:
                if not self._waiting:
                    self._is_watched = False
                    return
                while starting < len(self._waiting) and self._has_place():
                    self._number += 1
                    starting += 1
            for _ in range(starting):
                self._start()

    def _run(self) -> None:
        while (task := self._next()) is not None:
            task.perform()
            del task

    def _next(self) -> _Task | None:
        """Return the next call; None ends the thread after a long idle time."""
        me = threading.get_ident()
        with self._changed:
            self._begun.pop(me, None)
            if self._is_ending:
                self._changed.notify_all()
            while not self._waiting:
                self._idle += 1
                came = self._changed.wait(IDLE)
                self._idle -= 1
                if not came and not self._waiting:
                    self._number -= 1
                    return None
            self._begun[me] = _Begun(time.monotonic(), time.thread_time())
            return self._waiting.popleft()


pool = Pool()
forks.in_child(pool.reset)
atexit.register(pool.end)
