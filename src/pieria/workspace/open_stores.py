"""The stores of this process. All who open one bank with the same settings share one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from pieria.bank.embedding.queue import Embedding
from pieria.bank.jobs.budget import BankMeter, Budgets
from pieria.bank.read.usage import Uses
from pieria.errors import BusyError
from pieria.models import Embedder
from pieria.runtime import forks
from pieria.runtime.background import background
from pieria.workspace.locations import Spot, Way

CLOSING = 1.5
"""Seconds that `close` waits for pending embeddings, use counts and the running step."""


class Key(NamedTuple):
    spot: str
    way: Way
    embedder: Embedder | None
    budgets: Budgets


class Held:
    """A store with its embedding queue, use counts and users. The mark shows if the bank's file was replaced."""

    def __init__(self, spot: Spot, key: Key, *, create: bool) -> None:
        self.key = key
        self.store = spot.open(key.way, create=create)
        self.meter = BankMeter(self.store, key.way.clock, key.budgets)
        self.embedding = Embedding(self.store, key.embedder, background, self.meter, foreign=key.way.foreign)
        self.uses = Uses(self.store, key.way.clock, background)
        self.mark = spot.mark()
        self.users: set[object] = set()
        self.process = os.getpid()
        self._closed = False
        self._closing = threading.RLock()

    def is_of(self, spot: Spot) -> bool:
        """Return whether the store still belongs to the current bank file."""
        return not self.store.is_over and self.mark is not None and self.mark == spot.mark()

    def close(self) -> None:
        """Close the store. A second call waits until the first is done."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            deadline = time.monotonic() + CLOSING
            self.uses.hurry()
            self.embedding.close(CLOSING)
            self.uses.close(max(0.0, deadline - time.monotonic()))
            self.store.close()


class Stores:
    """The stores of this process. All who open one bank with the same settings share one, until the last is closed.

    Stores are opened and closed outside the lock, since both may wait for another process. The lock also guards the
    workspaces' lists of banks.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = threading.RLock()
        self._held: dict[Key, Held] = {}
        self._left: set[Held] = set()
        """Stores without users that are not closed yet."""
        self._alone: set[str] = set()

    def join(self, spot: Spot, key: Key, *, create: bool = True) -> tuple[Held, Callable[[], None]]:
        """Return the store of a bank, and a function to release it, which may be called more than once.

        Raise `NotFoundError` if there is none, unless `create` is true.
        """
        user = object()
        held = self._entered(spot, key, user)
        if held is None:
            opened = Held(spot, key, create=create)
            try:
                with self.lock:
                    held = self._entered(spot, key, user)
                    if held is None:
                        held = self._held[key] = opened
                        held.users.add(user)
            finally:
                if held is not opened:
                    opened.close()
        return held, partial(self._leave, held, user)

    def hold(self, spot: Spot) -> bool:
        """Return whether the bank is open in this process."""
        with self.lock:
            return any(key.spot == spot.key for key in self._held)

    @contextmanager
    def alone(self, spot: Spot) -> Iterator[None]:
        """Close the bank everywhere in this process, and block opening it during the block."""
        with self.lock:
            self._check_free(spot)
            self._alone.add(spot.key)
            closing = [held for held in (*self._held.values(), *self._left) if held.key.spot == spot.key]
            for held in closing:
                self._held.pop(held.key, None)
        try:
            for held in closing:
                held.close()
            yield
        finally:
            with self.lock:
                self._alone.discard(spot.key)

    def _check_free(self, spot: Spot) -> None:
        if spot.key in self._alone:
            raise BusyError("open", f"the bank {spot.name} is being removed", hint="Try again in a moment.")

    def settle(self, spot: Spot) -> None:
        """Write the pending use counts of the bank."""
        with self.lock:
            held = [each for key, each in self._held.items() if key.spot == spot.key]
        for each in held:
            each.uses.flush()

    def _entered(self, spot: Spot, key: Key, user: object) -> Held | None:
        with self.lock:
            self._check_free(spot)
            held = self._held.get(key)
            if held is None or not held.is_of(spot):
                return None
            held.users.add(user)
            return held

    def _leave(self, held: Held, user: object) -> None:
        if held.process != os.getpid():
            return
        with self.lock:
            held.users.discard(user)
            if held.users:
                return
            if self._held.get(held.key) is held:
                del self._held[held.key]
            self._left.add(held)
        try:
            held.close()
        finally:
            with self.lock:
                self._left.discard(held)


stores = Stores()
forks.in_child(stores.reset)
