"""A background queue: tasks run one after the other on a thread of its own, and the agent never waits for them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pieria.errors import PieriaError

log = logging.getLogger(__name__)

PAUSES = (0.2, 1.0, 5.0)
"""Seconds before each retry of a temporary failure, such as a bank locked by another process."""
IDLE_SECONDS = 10.0
"""Seconds without a task after which the thread ends. The next task starts another."""


@dataclass(frozen=True, slots=True)
class Task:
    what: str
    do: Callable[[], object]


class Behind:
    """A thread-safe queue with one daemon thread, which runs only while there are tasks."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: deque[Task] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, what: str, do: Callable[[], object]) -> bool:
        """Queue a task. Return False if it is dropped: the queue is closed, or no thread can be started."""
        with self._changed:
            if self._closed:
                log.warning("%s: too late, the provider was shut down", what)
                return False
            if self._thread is None and not self._has_begun(what):
                return False
            self._waiting.append(Task(what, do))
            self._changed.notify_all()
            return True

    def _has_begun(self, what: str) -> bool:
        """Start the thread, and return whether that worked. It takes tasks once the lock is free; the next task tries
        again.
        """
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as problem:
            log.warning("%s: not done, for %s", what, problem)
            return False
        self._thread = thread
        return True

    def flush(self, seconds: float) -> int:
        """Wait for all queued tasks. Return how many are left when the time is up."""
        with self._changed:
            if threading.current_thread() is not self._thread:
                self._changed.wait_for(lambda: not self._waiting and not self._busy, seconds)
            return len(self._waiting) + self._busy

    def close(self, seconds: float) -> int:
        """Accept no more tasks and wait as `flush` does. Safe to call twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        left = self.flush(seconds)
        with self._changed:
            self._waiting.clear()
        return left

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed, IDLE_SECONDS)
                if not self._waiting:
                    self._thread = None
                    return
                task = self._waiting.popleft()
                self._busy = True
            try:
                self._do(task)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _do(self, task: Task) -> None:
        for pause in (*PAUSES, None):
            try:
                task.do()
            except PieriaError as problem:
                if problem.retryable and pause is not None and not self._closed:
                    with self._changed:
                        self._changed.wait_for(lambda: self._closed, pause)
                    continue
                log.warning("%s: %s", task.what, problem)
            except Exception:
                log.exception("%s failed unexpectedly", task.what)
            return
