"""The processor time that work may take, and its deadline.

A server limits each request with `limited`; recall sets a deadline with `until`. Loops that can answer early ask
`is_late`, and stores call `check` before they read. Work without a limit is never late.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter, thread_time

from pieria.errors import LimitError

SLOW = 0.05
"""Seconds of processor time after which work counts as slow."""
EARLY = 0.1
"""The share of its processor time after which work stops early if it can answer with less."""


Slowed = Callable[[float], None]
"""Called with the seconds until an answer is due, which may be infinite."""


class Effort:
    """The budget of the running thread. A thread that inherits it is not limited by it."""

    __slots__ = ("_begun", "_slowed", "_thread", "due", "may_pause", "seconds")

    def __init__(self, seconds: float, due: float, slowed: Slowed | None = None) -> None:
        self._slowed = [slowed] if slowed is not None else []
        self.seconds = seconds
        self.due = due
        self.may_pause = False
        self._thread = threading.get_ident()
        self._begun = thread_time()

    def having_due(self, due: float) -> Effort:
        same = Effort(self.seconds, min(self.due, due))
        same._thread, same._begun, same._slowed = self._thread, self._begun, self._slowed
        same.may_pause = True
        return same

    def slow_down(self) -> None:
        if self._slowed and self.spent() >= SLOW:
            self._slowed.pop()(max(0.0, self.due - perf_counter()))

    def is_spent(self, share: float) -> bool:
        """Return whether that share of the processor time is spent. Always False without a limit."""
        return self.seconds < math.inf and self.spent() >= share * self.seconds

    def spent(self) -> float:
        return thread_time() - self._begun if threading.get_ident() == self._thread else 0.0


_RUNNING: ContextVar[Effort | None] = ContextVar("effort", default=None)


@contextmanager
def limited(seconds: float | None, slowed: Slowed | None = None) -> Iterator[None]:
    """Limit the processor time of the block. Slow work calls `slowed` once."""
    with _running(Effort(math.inf if seconds is None else seconds, math.inf, slowed)):
        yield


@contextmanager
def until(due: float) -> Iterator[None]:
    """Make loops in the block end by that reading of `perf_counter`, and pause if the work is slow.

    Call this where the work holds no lock.
    """
    running = _RUNNING.get()
    with _running(Effort(math.inf, due) if running is None else running.having_due(due)):
        yield


@contextmanager
def _running(effort: Effort) -> Iterator[None]:
    token = _RUNNING.set(effort)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def is_limited() -> bool:
    running = _RUNNING.get()
    return running is not None and running.seconds < math.inf


def pause() -> None:
    """Let slow work wait for its turn. Call this where the work holds no lock."""
    running = _RUNNING.get()
    if running is not None:
        running.slow_down()


def is_late() -> bool:
    """Return whether an answer is due: the deadline has passed, or the early share of processor time is spent."""
    running = _RUNNING.get()
    if running is not None and running.may_pause:
        running.slow_down()
    return running is not None and (perf_counter() >= running.due or running.is_spent(EARLY))


def is_over() -> bool:
    """Return whether all processor time is spent."""
    running = _RUNNING.get()
    return running is not None and running.is_spent(1.0)


def check() -> None:
    """Raise `LimitError` if all processor time is spent."""
    if is_over():
        raise exceeded()


def exceeded() -> LimitError:
    running = _RUNNING.get()
    seconds = math.inf if running is None else running.seconds
    hint = "Ask for less at once: fewer results, a shorter text, or a narrower filter."
    return LimitError("the processor time of one request", f"{seconds:g} seconds", 1, hint=hint)
