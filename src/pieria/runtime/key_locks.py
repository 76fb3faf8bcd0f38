"""Locks by key: a thread that wants to do what another does already waits until that is done."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from pieria.runtime import forks


class _Turn:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.takers = 0


class Turns:
    """The locks, by key."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[Hashable, _Turn] = {}

    @contextmanager
    def of(self, *key: Hashable) -> Iterator[None]:
        with self._lock:
            turn = self._taken.setdefault(key, _Turn())
            turn.takers += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.takers -= 1
                if not turn.takers:
                    self._taken.pop(key, None)


turns = Turns()
forks.in_child(turns.reset)
