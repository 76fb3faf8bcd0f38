"""One at a time, in the order in which they came: for work that must not run beside its like."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Threads may share it. After a fork the child begins with none: who waited, waits in the parent."""

    def __init__(self) -> None:
        self._begin()

    def take(self) -> object:
        """A place in the order, which `at` waits for; it has to be called then."""
        if self._process != os.getpid():
            self._begin()
        turn = object()
        with self._changed:
            self._waiting.append(turn)
        return turn

    @contextmanager
    def at(self, turn: object) -> Iterator[None]:
        """The block, once all who came before are through."""
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting[0] is turn)
            yield
        finally:
            with self._changed:
                self._waiting.remove(turn)
                self._changed.notify_all()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
