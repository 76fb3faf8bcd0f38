"""Threads that work is handed to: as many as there is work for, up to a number, and none where there is none.

They keep no process from ending. A process that ends waits a moment for work that is under way, since a thread that is
cut off within a model's runtime would crash; what was not begun is left.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable

log = logging.getLogger(__name__)

LAST_WORK = 2.0
"""Seconds that the end of the process waits for what is under way."""

Work = Callable[[], object]


class Pool:
    """Work begins in the order in which it was handed over. What it raises is logged, and does no other harm."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self.start_anew()
        _pools.add(self)

    def start_anew(self) -> None:
        """After a fork: what waits is done by the process that it was handed over in."""
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._threads = 0
        self._ended = False

    def submit(self, work: Work) -> None:
        """Once the process ends, nothing begins any more. Where no thread is to be had, it is done here and now."""
        with self._changed:
            if self._ended:
                return
            self._waiting.append(work)
            if self._threads == self._size:
                return
            self._threads += 1
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as problem:
            log.warning("a session's work waits for a thread: %s", problem)
            self._run()

    def end(self, until: float) -> None:
        """No further work begins. Waits for what is under way, but no longer than until this moment."""
        with self._changed:
            self._ended = True
            self._waiting.clear()
            while self._threads and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._threads -= 1
                    self._changed.notify_all()
                    return
                work = self._waiting.popleft()
            try:
                work()
            except BaseException:
                log.exception("a session's work broke off unexpectedly")


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.start_anew()


def _at_the_end() -> None:
    until = time.monotonic() + LAST_WORK
    for pool in list(_pools):
        pool.end(until)


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_the_end)
