"""A first-come, first-served lock, for work that must not run at the same time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """The queue of the lock. Threads may share it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()

    def take(self) -> object:
        """Take a place in the queue. `at` must then be called with it."""
        turn = object()
        with self._changed:
            self._waiting.append(turn)
        return turn

    @contextmanager
    def at(self, turn: object) -> Iterator[None]:
        """Run the block after all earlier ones are done."""
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting[0] is turn)
            yield
        finally:
            with self._changed:
                self._waiting.remove(turn)
                self._changed.notify_all()
