"""Tracks which threads are inside a store, so that a close or a fork can wait for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Gate:
    """Threads enter and leave, nested as they like; while it is shut, threads outside wait."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._inside: dict[int, int] = {}
        self._shut = False

    @contextmanager
    def inside(self, allowed: Callable[[], None]) -> Iterator[None]:
        """Enter for the block. `allowed` is called for a thread that is still outside, and raises to refuse it."""
        me = threading.get_ident()
        with self._changed:
            if me not in self._inside:
                self._changed.wait_for(lambda: not self._shut)
                allowed()
            self._inside[me] = self._inside.get(me, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                left = self._inside.get(me, 0) - 1
                if left > 0:
                    self._inside[me] = left
                else:
                    self._inside.pop(me, None)
                    self._changed.notify_all()

    @property
    def others_inside(self) -> bool:
        return bool(self._inside.keys() - {threading.get_ident()})

    def wait_for_others(self, seconds: float) -> bool:
        """Wait until all other threads have left. Return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.others_inside, seconds)

    def hold_shut(self, seconds: float) -> None:
        """Let no thread enter, wait for those inside, and hold the gate's own lock until `open_again`."""
        with self._changed:
            self._shut = True
            self._changed.wait_for(lambda: not self.others_inside, seconds)
        self._changed.acquire()

    def open_again(self) -> None:
        self._shut = False
        self._changed.notify_all()
        self._changed.release()
