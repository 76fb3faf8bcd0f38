"""The stores of this process: banks on one file, under the same settings, share one."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pieria.bank.background import background
from pieria.bank.embedding import Embedding
from pieria.bank.metering import BankMeter, Budgets
from pieria.bank.using import Uses
from pieria.models import Embedder
from pieria.record.time import Clock
from pieria.store.sqlite import SQLiteStore

log = logging.getLogger("pieria.workspace")

CLOSING = 1.5
"""Seconds that closing waits for what is still to be embedded or counted, and for a step under way."""


class Key(NamedTuple):
    path: str
    durability: str
    busy_seconds: float
    clock: Clock
    embedder: Embedder | None
    budgets: Budgets


class Held:
    """A store, its vectors and the uses of its memories; the file it is of, which may be replaced; and who uses it."""

    def __init__(self, path: Path, key: Key) -> None:
        self.key = key
        self.store = _store(path, key.durability, key.busy_seconds, key.clock)
        self.meter = BankMeter(self.store, key.clock, key.budgets)
        self.embedding = Embedding(self.store, key.embedder, background, self.meter)
        self.uses = Uses(self.store, key.clock, background)
        self.file = _file_of(key.path)
        self.users: set[object] = set()

    @property
    def in_place(self) -> bool:
        return self.file is not None and self.file == _file_of(self.key.path)

    def close(self) -> None:
        deadline = time.monotonic() + CLOSING
        self.uses.hurry()
        self.embedding.close(CLOSING)
        self.uses.close(max(0.0, deadline - time.monotonic()))
        self.store.close()


class Stores:
    """The stores of this process: banks on one file, under the same settings, share one until the last is closed.

    A store is opened and closed outside the lock, since both may wait for another process. The lock guards what
    workspaces note about their banks, too.
    """

    def __init__(self) -> None:
        self._held: dict[Key, Held] = {}
        self.start_anew()

    def start_anew(self) -> None:
        """After a fork the lock may be held by a thread that does not exist here."""
        self.lock = threading.RLock()

    def join(self, path: Path, key: Key) -> tuple[Held, Callable[[], None]]:
        """The store of a file, and what to call, once or more often, when it is needed no longer."""
        user = object()
        held = self._entered(key, user)
        if held is None:
            opened = Held(path, key)
            with self.lock:
                held = self._entered(key, user)
                if held is None:
                    held = self._held[key] = opened
                    held.users.add(user)
            if held is not opened:
                opened.close()
        return held, partial(self._leave, held, user)

    def hold(self, path: Path) -> bool:
        """Whether a bank of this process is open on the file."""
        real = os.path.realpath(path)
        with self.lock:
            return any(key.path == real for key in self._held)

    def _entered(self, key: Key, user: object) -> Held | None:
        with self.lock:
            held = self._held.get(key)
            if held is None or not held.in_place:
                return None
            held.users.add(user)
            return held

    def _leave(self, held: Held, user: object) -> None:
        with self.lock:
            held.users.discard(user)
            if held.users:
                return
            if self._held.get(held.key) is held:
                del self._held[held.key]
        held.close()


stores = Stores()
os.register_at_fork(after_in_child=stores.start_anew)


def _store(path: Path, durability: str, busy_seconds: float, clock: Clock) -> SQLiteStore:
    told = partial(log.warning, "%s was brought to a new schema; as it was: %s", path)
    return SQLiteStore(path, durability=durability, busy_seconds=busy_seconds, clock=clock, on_migration=told)


def _file_of(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
