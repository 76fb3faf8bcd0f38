"""Notifications of changes from a server, so that waiting threads need not poll.

One connection and one thread listen for all banks of a server that this process waits for. A notification only wakes a
waiting thread: after a lost connection it finds changes by reading the bank.
"""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg

CHANNEL = "pieria"
LOOK_SECONDS = 5.0
"""Interval of polling the bank without notifications: some connection poolers forward none."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds until a lost connection is retried."""
CLOSING = 1.0
"""Seconds that closing waits for the thread, which may be waiting for an unresponsive server."""

_WORD = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18})")
Connect = Callable[[], "psycopg.Connection[Any]"]


def word(bank: int, seq: int) -> str:
    """Return the payload that is sent with a change. It must say nothing of the content."""
    return f"{bank} {seq}"


class Following:
    """The listener of all stores of a process on one server; its thread starts with the first wait."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._closed = False
        self._changed = threading.Condition()
        self._waiting: Counter[int] = Counter()
        self._latest: dict[int, int] = {}
        self._missed = 0
        self._thread: threading.Thread | None = None
        self._ending: tuple[socket.socket, socket.socket] | None = None
        self._connection: psycopg.Connection[Any] | None = None

    def wait(self, bank: int, seq: int, seconds: float, look: Callable[[], int], gone: Callable[[], bool]) -> bool:
        """Return True as soon as the bank has a change past `seq`; False on timeout or a closed store.

        Errors of `look` reach the caller, so that a waiting thread learns of an unreachable server.
        """
        deadline = time.monotonic() + seconds
        with self._counted(bank):
            while True:
                missed = self._missed
                if look() > seq:
                    return True
                left = deadline - time.monotonic()
                if left <= 0 or gone():
                    return False
                with self._changed:
                    told = partial(self._has_word, bank, seq, missed, gone)
                    self._changed.wait_for(told, timeout=min(left, LOOK_SECONDS))
                    if gone():
                        return False
                    if self._latest.get(bank, 0) > seq:
                        return True

    def _has_word(self, bank: int, seq: int, missed: int, gone: Callable[[], bool]) -> bool:
        return gone() or self._missed != missed or self._latest.get(bank, 0) > seq

    @contextmanager
    def _counted(self, bank: int) -> Iterator[None]:
        with self._changed:
            self._waiting[bank] += 1
            if self._thread is None and not self._closed:
                self._begin()
        try:
            yield
        finally:
            with self._changed:
                self._waiting[bank] -= 1
                if not self._waiting[bank]:
                    del self._waiting[bank]
                    self._latest.pop(bank, None)

    def _begin(self) -> None:
        self._ending = socket.socketpair()
        arguments = (self._ending[1], self._changed)
        self._thread = threading.Thread(target=self._listen, args=arguments, name="pieria-following", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Wake all waiting threads, so that each checks whether its store is closed."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            ending, thread = self._ending, self._thread
            self._ending = self._thread = None
            self._changed.notify_all()
        if ending is not None and thread is not None:
            ending[0].close()
            thread.join(CLOSING)

    # --- the thread

    def _listen(self, ending: socket.socket, changed: threading.Condition) -> None:
        with ending, selectors.DefaultSelector() as selector:
            selector.register(ending, selectors.EVENT_READ)
            pause = FIRST_PAUSE
            while True:
                try:
                    with self._connect() as connection:
                        self._connection = connection
                        connection.execute(f"LISTEN {CHANNEL}")
                        pause = FIRST_PAUSE
                        self._tell_missed(changed)
                        if self._hear(connection, ending, selector, changed):
                            return
                except psycopg.Error:
                    # Waiting threads poll the bank meanwhile and get the error from there.
                    self._tell_missed(changed)
                finally:
                    self._connection = None
                if selector.select(pause):
                    return
                pause = min(2 * pause, LONGEST_PAUSE)

    def _hear(
        self,
        connection: psycopg.Connection[Any],
        ending: socket.socket,
        selector: selectors.BaseSelector,
        changed: threading.Condition,
    ) -> bool:
        """Receive notifications. Return True when asked to end; raise when the connection is lost."""
        server = connection.fileno()
        selector.register(server, selectors.EVENT_READ)
        try:
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if ending in ready:
                    return True
                connection.pgconn.consume_input()
                said = []
                while (notify := connection.pgconn.notifies()) is not None:
                    said.append(notify.extra)
                self._take(said, changed)
        finally:
            selector.unregister(server)

    def _take(self, said: list[bytes], changed: threading.Condition) -> None:
        with changed:
            for each in said:
                found = _WORD.fullmatch(each)
                if found is None:
                    # Any client of the database may send any payload on this channel.
                    continue
                bank, seq = int(found[1]), int(found[2])
                if bank in self._waiting:
                    self._latest[bank] = max(seq, self._latest.get(bank, 0))
            changed.notify_all()

    def _tell_missed(self, changed: threading.Condition) -> None:
        with changed:
            self._missed += 1
            changed.notify_all()
