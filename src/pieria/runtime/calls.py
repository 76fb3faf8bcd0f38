"""The calls that a process answers: whether one runs, and how long ago the last one ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Calls:
    """Thread-safe. `time` returns seconds and never runs backwards."""

    def __init__(self, time: Callable[[], float] = time.monotonic) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._running = 0
        self._ended = time()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a call while it runs."""
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                self._ended = self._time()

    def idle_seconds(self) -> float:
        """Return 0 while a call runs, else the seconds since the last one ended or, without any, since the start."""
        with self._lock:
            return 0.0 if self._running else self._time() - self._ended
