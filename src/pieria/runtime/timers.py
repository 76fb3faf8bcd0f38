"""Timers that call a function after a period. One thread serves all timers, and runs only while one is armed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import NamedTuple

log = logging.getLogger(__name__)


class _Armed(NamedTuple):
    due: float
    ring: Callable[[], object]


class Timers:
    """Each timer calls its function once, in the timer thread. The function may only start work elsewhere."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._armed: dict[Hashable, _Armed] = {}
        self._thread: threading.Thread | None = None

    def arm(self, key: Hashable, milliseconds: float, ring: Callable[[], object]) -> None:
        """Arm a timer, replacing the one with this key."""
        with self._changed:
            self._armed[key] = _Armed(time.monotonic() + milliseconds / 1000, ring)
            self._changed.notify()
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name="pieria-timers", daemon=True)
            starting = self._thread
        try:
            starting.start()
        except RuntimeError as problem:
            with self._changed:
                self._thread = None
            log.warning("timers of sessions do not ring: %s", problem)

    def disarm(self, key: Hashable) -> None:
        with self._changed:
            self._armed.pop(key, None)
            self._changed.notify()

    def _run(self) -> None:
        while (ring := self._next()) is not None:
            try:
                ring()
            except Exception:
                log.exception("a session's timer rang in vain")

    def _next(self) -> Callable[[], object] | None:
        """Wait for the next due timer and return its function, or None when no timer is armed."""
        with self._changed:
            while self._armed:
                key = min(self._armed, key=lambda key: self._armed[key].due)
                left = self._armed[key].due - time.monotonic()
                if left <= 0:
                    return self._armed.pop(key).ring
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
            self._thread = None
            return None
