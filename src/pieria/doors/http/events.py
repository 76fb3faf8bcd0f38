"""`/v1/events`: a stream of events in a bank.

Journal entries are numbered and never lost: a client that sends its last number gets the rest. Passing events (recalls,
progress) go to current listeners only, and a slow listener may miss some.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.abc import TaskGroup

from pieria.bank import Bank
from pieria.doors.http.failures import for_callers
from pieria.errors import LimitError, PieriaError
from pieria.record.banks import same_bank

log = logging.getLogger(__name__)

AWAITED = 2.0
"""Seconds to wait for a journal before checking that there are still listeners."""
AGAIN = 1.0
"""Seconds before retrying a bank that could not be read."""
WATCHED = 500
"""Most banks watched at the same time."""
KEEP_ALIVE = 15.0
PAGE = 500
EACH = 100
"""Most streams of one caller: the server's connections are limited."""
HELD = 500
"""Most passing events kept for a slow listener."""
RETRY_MS = 2_000


class Passing(NamedTuple):
    kind: str
    bank: str
    told: Mapping[str, Any]


class Listener:
    """One client: the last entry sent to it, and the passing events that wait."""

    def __init__(self, bank: Bank, since: int, caller: str) -> None:
        self.bank = bank
        self.caller = caller
        self.name = same_bank(bank.name)
        self.since = since
        self.passed: deque[Passing] = deque(maxlen=HELD)
        self.missed = 0
        self._stirred = anyio.Event()

    def stir(self) -> None:
        self._stirred.set()

    def take(self, passing: Passing) -> None:
        self.missed += len(self.passed) == HELD
        self.passed.append(passing)
        self.stir()

    async def wait(self, seconds: float) -> bool:
        """Return whether the listener was woken before the timeout."""
        with anyio.move_on_after(seconds):
            await self._stirred.wait()
        stirred = self._stirred.is_set()
        self._stirred = anyio.Event()
        return stirred


class Hub:
    """The listeners, and a watch on each of their banks. Lives in the event loop; any thread may call `publish`."""

    def __init__(self, keep_alive: float = KEEP_ALIVE) -> None:
        self._listeners: set[Listener] = set()
        self._watched: set[str] = set()
        self._unreadable: set[str] = set()
        self._watches: TaskGroup | None = None
        self._limiter = CapacityLimiter(4)
        self._waiting = CapacityLimiter(WATCHED)
        self.keep_alive = keep_alive
        self._into_loop: Callable[..., Any] | None = None
        self._ended = False

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def check_room(self, caller: str) -> None:
        """Raise `LimitError` if the caller already has the most streams allowed."""
        if sum(listener.caller == caller for listener in self._listeners) >= EACH:
            raise LimitError("concurrent event streams", f"{EACH} for each caller", 1, hint="Close a stream first.")

    async def run(self) -> None:
        """Watch for new entries until cancelled."""
        self._into_loop = asyncio.get_running_loop().call_soon_threadsafe
        async with anyio.create_task_group() as self._watches:
            await anyio.sleep_forever()

    async def _watch(self, name: str) -> None:
        """Wake a bank's listeners when its journal has grown. Stop when there are none left."""
        listeners = self._those_of(name)
        seen = min(listener.since for listener in listeners)
        while listeners:
            seen = await self._seen_next(listeners[0].bank, seen)
            listeners = self._those_of(name)
            for listener in listeners:
                if listener.since < seen:
                    listener.stir()
        self._watched.discard(name)

    async def _seen_next(self, bank: Bank, seen: int) -> int:
        """Return the last entry's number, once it exceeds `seen` or the wait is over."""
        name = same_bank(bank.name)
        try:
            # The call ends when the bank is closed.
            found = await to_thread.run_sync(_grown, bank, seen, limiter=self._waiting, abandon_on_cancel=True)
            self._unreadable.discard(name)
            return found
        except Exception as problem:
            # Listeners see the error when they read the bank themselves. No error here may end the server.
            if name not in self._unreadable:
                unforeseen = not isinstance(problem, PieriaError)
                log.warning("the journal of bank %s cannot be read: %s", bank.name, problem, exc_info=unforeseen)
            self._unreadable.add(name)
            for listener in self._those_of(name):
                listener.stir()
            await anyio.sleep(AGAIN)
            return seen

    def _those_of(self, name: str) -> list[Listener]:
        return [listener for listener in self._listeners if listener.name == name]

    def end(self) -> None:
        """End all streams, because the server stops. Clients reconnect to the next one."""
        self._ended = True
        for listener in self._listeners:
            listener.stir()

    def publish(self, kind: str, bank: str, told: Mapping[str, Any]) -> None:
        if self._into_loop is not None and self._listeners:
            # The loop may have just ended; then there are no listeners left.
            with suppress(RuntimeError):
                self._into_loop(self._deliver, Passing(kind, same_bank(bank), told))

    def _deliver(self, passing: Passing) -> None:
        for listener in self._listeners:
            if listener.name == passing.bank:
                listener.take(passing)

    @contextmanager
    def _listening(self, listener: Listener) -> Iterator[None]:
        self._listeners.add(listener)
        if self._watches is not None and listener.name not in self._watched:
            self._watched.add(listener.name)
            self._watches.start_soon(self._watch, listener.name)
        try:
            yield
        finally:
            self._listeners.discard(listener)

    async def stream(
        self, bank: Bank, since: int | None, seconds: float | None, welcome: Callable[[], bool], caller: str
    ) -> AsyncIterator[str]:
        """Yield the client's server-sent events. `welcome` is asked whether it may still listen."""
        head = await self._in_thread(_head, bank)
        listener = Listener(bank, head if since is None else since, caller)
        until = time.monotonic() + (float("inf") if seconds is None else seconds)
        with self._listening(listener):
            yield f"retry: {RETRY_MS}\n\n"
            trouble: str | None = None
            if listener.since > head:
                # The bank was replaced by a backup: its journal is shorter than the client's number.
                listener.since = head
                yield _event("reset", {"seq": head})
            while True:
                try:
                    told = [*await self._in_thread(_entries, listener), *_passed(listener)]
                    trouble = None
                except PieriaError as problem:
                    failed = _event("error", {"error": for_callers(problem).as_dict()})
                    told = [] if trouble == problem.code else [failed]
                    trouble = problem.code
                    if not problem.retryable:
                        yield told[0]
                        return
                for event in told:
                    # A slow client may take long over a page, and lose its access meanwhile.
                    if not welcome():
                        return
                    yield event
                left = until - time.monotonic()
                if self._ended or left <= 0 or not welcome():
                    return
                if trouble is not None:
                    # Wait before reading again: the bank cannot be read now.
                    await anyio.sleep(min(AGAIN, left))
                elif not told and not await listener.wait(min(self.keep_alive, left)) and left > self.keep_alive:
                    yield ": still here\n\n"

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await to_thread.run_sync(work, *arguments, limiter=self._limiter)


def _grown(bank: Bank, seen: int) -> int:
    return _head(bank) if bank.wait(seen, AWAITED) else seen


def _head(bank: Bank) -> int:
    newest = bank.changes(last=1)
    return newest[0].seq if newest else 0


def _entries(listener: Listener) -> list[str]:
    found = listener.bank.changes(listener.since, PAGE)
    if found:
        listener.since = found[-1].seq
    return [_event("change", change.as_dict(), change.seq) for change in found]


def _passed(listener: Listener) -> list[str]:
    told = [_event(passing.kind, passing.told) for passing in listener.passed]
    if listener.missed:
        told.append(_event("missed", {"events": listener.missed}))
    listener.passed.clear()
    listener.missed = 0
    return told


def _event(kind: str, told: Mapping[str, Any], number: int | None = None) -> str:
    numbered = "" if number is None else f"id: {number}\n"
    return f"{numbered}event: {kind}\ndata: {json.dumps(told)}\n\n"
