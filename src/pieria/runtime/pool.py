"""Threads for the work of sessions. They start on demand and end when there is no work.

The threads are daemons. At exit the process waits briefly for running work, because a thread cut off inside a model's
runtime would crash. Work that has not begun is dropped.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable

from pieria import telemetry
from pieria.runtime import forks

log = logging.getLogger(__name__)

LAST_WORK = 2.0
"""Seconds to wait for running work when the process ends."""

Work = Callable[[], object]


class Pool:
    """Runs work in the order of submission. Exceptions are logged and stop nothing else."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._threads = 0
        self._ended = False
        _pools.add(self)

    def submit(self, work: Work) -> None:
        """Run the work in a thread, or at once if no thread can start. After `end` the work is dropped."""
        with self._changed:
            if self._ended:
                return
            self._waiting.append(telemetry.carried(work))
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
        """Drop waiting work and wait for running work until this time."""
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
forks.in_child(_pools.clear)


def _at_the_end() -> None:
    until = time.monotonic() + LAST_WORK
    for pool in list(_pools):
        pool.end(until)


atexit.register(_at_the_end)
