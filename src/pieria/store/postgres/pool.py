"""The connections of this process to a server: one pool for all banks there, opened on demand.

A forked child never uses nor closes a connection of its parent: that would end the parent's session on the server.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg.pq import TransactionStatus

from pieria.errors import ClosedError, UnreachableError
from pieria.runtime import forks
from pieria.store.postgres.driver import Connection, connected, shown
from pieria.store.postgres.notifications import Following

_lock: forks.Own[threading.Lock] = forks.Own()
_pools: dict[tuple[str, int], Pool] = {}
forks.in_child(_pools.clear)


def awake(connection: Connection) -> None:
    """Raise if the connection was cut while it was idle."""
    connection.execute("SELECT 1")


class Pool:
    """A limited number of connections. A thread that holds one never waits for a second: others may wait for it."""

    def __init__(self, url: str, connections: int) -> None:
        self.url = url
        self.shown = shown(url)
        self.users = 0
        self._connections = connections
        self._process = os.getpid()
        self._free = threading.Condition()
        self._idle: list[Connection] = []
        self._waiting: deque[object] = deque()
        self._taken: set[object] = set()
        self._own = threading.local()
        self._closed = False
        self.following = Following(self.connect)
        forks.keep(self)

    def connect(self) -> Connection:
        return connected(self.url)

    def take(self, seconds: float, begin: Callable[[Connection], object] = awake) -> Connection:
        """Return a connection on which `begin` succeeded. Raise `UnreachableError` if none is free in time."""
        forks.check(self._process, "bank")
        while True:
            connection, is_fresh = self._checked_out(seconds)
            try:
                begin(connection)
            except psycopg.OperationalError:
                lost = connection.broken or connection.closed
                self.give(connection)
                if lost and not is_fresh:
                    # It was cut while idle, and so were others, probably. No work is lost yet, so try the next one.
                    continue
                raise
            except BaseException:
                self.give(connection)
                raise
            return connection

    def _checked_out(self, seconds: float) -> tuple[Connection, bool]:
        held = getattr(self._own, "number", 0)
        with self._free:
            if not held:
                self._queue_up(seconds)
            if self._closed:
                raise ClosedError("the pool of connections")
            connection = self._idle.pop() if self._idle else None
            is_fresh = connection is None
            placeholder = object()
            self._taken.add(connection or placeholder)
        if connection is None:
            try:
                connection = self.connect()
            finally:
                with self._free:
                    self._taken.discard(placeholder)
                    if connection is not None:
                        self._taken.add(connection)
                    self._free.notify_all()
        self._own.number = held + 1
        return connection, is_fresh

    def _queue_up(self, seconds: float) -> None:
        """Wait in order of arrival: otherwise threads that return often would starve the others."""
        ticket = object()
        self._waiting.append(ticket)
        try:
            if self._free.wait_for(lambda: self._waiting[0] is ticket and self._has_room(), timeout=max(0.0, seconds)):
                return
            hint = "Repeat the call, or raise the setting `connections`."
            reason = f"all {self._connections} connections to {self.shown} were in use for {seconds:g} seconds"
            raise UnreachableError("connect", reason, hint=hint)
        finally:
            self._waiting.remove(ticket)
            # Wake the next in the queue: it may go, or it is first now.
            self._free.notify_all()

    def _has_room(self) -> bool:
        return self._closed or len(self._taken) < self._connections

    def give(self, connection: Connection) -> None:
        """Return a connection to the pool and roll back its open transaction. A forked child leaves it alone."""
        if self._process != os.getpid():
            return
        if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
            # If the rollback fails, closing the connection makes the server roll back.
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
        fit = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        if not fit:
            connection.close()
        with self._free:
            self._taken.discard(connection)
            self._own.number = getattr(self._own, "number", 1) - 1
            if fit and not self._closed and len(self._idle) < self._connections:
                self._idle.append(connection)
                connection = None  # type: ignore[assignment]
            self._free.notify_all()
        if fit and connection is not None:
            connection.close()

    def close(self) -> None:
        self.following.close()
        with self._free:
            self._closed = True
            closing, self._idle = self._idle, []
            self._free.notify_all()
        for connection in closing:
            connection.close()

    def counts(self) -> dict[str, int]:
        with self._free:
            return {"idle": len(self._idle), "in_use": len(self._taken), "most": self._connections}


def pool_of(url: str, connections: int) -> Pool:
    """Return this process's pool for the server and size, and count one more user."""
    with _lock.get(threading.Lock):
        pool = _pools.get((url, connections))
        if pool is None:
            pool = _pools[url, connections] = Pool(url, connections)
        pool.users += 1
        return pool


def leave(pool: Pool) -> None:
    """Count one user less; close the pool after the last."""
    with _lock.get(threading.Lock):
        pool.users -= 1
        is_last = not pool.users
        if is_last:
            _pools.pop((pool.url, pool._connections), None)
    if is_last:
        pool.close()
