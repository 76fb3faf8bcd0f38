"""Run a call of the synchronous API in a thread of a pool, and await it. The caller may be cancelled.

A call that has begun is finished; one that has not is withdrawn. So a write is complete or absent, and an acknowledged
write is on the disk. All banks and event loops of a process share the pool. A call that waits for a model, a change or
another process gives up its place, so it never blocks short calls. This module does not know what the calls do."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial, wraps
from itertools import count
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from pieria.errors import ClosedError, UnavailableError
from pieria.runtime import forks
from pieria.runtime.patience import Caller, caller

log = logging.getLogger(__name__)

T = TypeVar("T")

PLACES = 16
"""Calls that run at once. More would only compete for one interpreter and one writer."""
MOMENT = 0.1
"""Seconds after which a waiting call gives up its place."""
COMPUTING = 0.01
"""A call that uses this share of a processor counts as computing; another thread would only slow it down."""
MOST = 1_000
"""The most threads, even if all of them wait."""
IDLE = 10.0
"""Seconds that a thread waits for another call before it ends."""
LAST_STEP = 2.0
"""Seconds to wait for running calls at exit: cutting off a call inside a model's runtime would crash."""
ASKED = ("notify", "chat", "chat_structured", "embed", "embed_batch")
"""Methods of user objects: of a notifier, a language model or an embedding."""
CALLED = (*ASKED, "close")
LOOK = 1.0
"""Seconds between checks whether an event loop still exists."""
NO_LOOP = "no event loop of asyncio runs here"
_stand_ins: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()
"""By the ids of the value and its loop, which the proxy keeps alive: the same value gives the same proxy."""


class _Begun(NamedTuple):
    """When a thread began its call, and its processor time at that moment."""

    at: float
    used: float

    def waits(self, thread: int, now: float) -> bool:
        passed = now - self.at
        if passed < MOMENT:
            return False
        # Where the system does not report other threads' processor time, a long call counts as waiting.
        told = getattr(time, "pthread_getcpuclockid", None)
        return told is None or time.clock_gettime(told(thread)) - self.used < passed * COMPUTING


class _Task:
    """A call and its future. No reference to it remains when it is done."""

    __slots__ = ("asked", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.asked: Future[Any] = Future()

    def perform(self) -> None:
        if not self.asked.set_running_or_notify_cancel():
            return
        try:
            result = self.work()
        except BaseException as problem:  # noqa: BLE001 - it is raised where the call is awaited
            self.asked.set_exception(problem)
        else:
            self.asked.set_result(result)

    def refuse(self, problem: RuntimeError) -> None:
        """Fail the call: there is no thread to run it."""
        if self.asked.set_running_or_notify_cancel():
            self.asked.set_exception(problem)


class Pool:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[_Task] = deque()
        self._begun: dict[int, _Begun] = {}
        self._number = 0
        self._idle = 0
        self._names = count(1)
        self._is_watched = False
        self._is_ending = False

    @property
    def threads(self) -> int:
        return self._number

    @property
    def at_work(self) -> int:
        """Calls that are running."""
        return len(self._begun)

    @property
    def waiting(self) -> int:
        """Calls that have not begun."""
        return len(self._waiting)

    def submit(self, work: Callable[[], T], *, at_once: bool = False) -> Future[T]:
        """Run a call when there is a place, or in any case with `at_once`."""
        task = _Task(work)
        with self._changed:
            if at_once:
                self._waiting.appendleft(task)
            else:
                self._waiting.append(task)
            if self._idle >= len(self._waiting):
                self._changed.notify()
                return task.asked
            starting = at_once or self._has_place()
            self._number += starting
            watching = not starting and not self._is_watched
            self._is_watched |= watching
        if starting:
            self._start()
        elif watching:
            threading.Thread(target=self._watch, name="pieria-aio-places", daemon=True).start()
        return task.asked

    def end(self) -> None:
        """End the pool at exit: drop calls that have not begun, and wait a moment for running ones."""
        until = time.monotonic() + LAST_STEP
        with self._changed:
            self._is_ending = True
            self._waiting.clear()
            while self._begun and self._changed.wait(max(0.0, until - time.monotonic())):
                pass

    def _has_place(self) -> bool:
        if self._number < PLACES or self._number >= MOST:
            return self._number < PLACES
        now = time.monotonic()
        # A thread stays in this dict, and so alive, until it has the lock.
        waiting = sum(begun.waits(thread, now) for thread, begun in self._begun.items())
        return self._number - waiting < PLACES

    def _start(self) -> None:
        """Start a thread without holding the lock: starting may run garbage collection, which may close a bank."""
        try:
            threading.Thread(target=self._run, name=f"pieria-aio-{next(self._names)}", daemon=True).start()
        except RuntimeError as problem:
            log.warning("the system gives no further thread: %s", problem)
            with self._changed:
                self._number -= 1
                refused = [] if self._number else [self._waiting.popleft() for _ in range(len(self._waiting))]
            for task in refused:
                task.refuse(problem)

    def _watch(self) -> None:
        """While calls wait for a place, check whether running calls have given theirs up."""
        while True:
            time.sleep(MOMENT)
            starting = 0
            with self._changed:
                if not self._waiting:
                    self._is_watched = False
                    return
                while starting < len(self._waiting) and self._has_place():
                    self._number += 1
                    starting += 1
            for _ in range(starting):
                self._start()

    def _run(self) -> None:
        while (task := self._next()) is not None:
            task.perform()
            del task

    def _next(self) -> _Task | None:
        """Return the next call; None ends the thread after a long idle time."""
        me = threading.get_ident()
        with self._changed:
            self._begun.pop(me, None)
            if self._is_ending:
                self._changed.notify_all()
            while not self._waiting:
                self._idle += 1
                came = self._changed.wait(IDLE)
                self._idle -= 1
                if not came and not self._waiting:
                    self._number -= 1
                    return None
            self._begun[me] = _Begun(time.monotonic(), time.thread_time())
            return self._waiting.popleft()


pool = Pool()
forks.in_child(pool.reset)
atexit.register(pool.end)


class LoopCaller(Caller):
    """A call made by a task of an event loop."""

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop


async def done(work: Callable[[], T], *, unwanted: Callable[[T], object] | None = None, to_the_end: bool = False) -> T:
    """Run `work` in a thread with the caller's context variables, and return its result.

    If the caller is cancelled, work that has not begun is withdrawn, unless `to_the_end` is set. `unwanted` gets a
    result that came too late, to close it.
    """
    asking = LoopCaller(_running_loop())
    context = copy_context()
    context.run(caller.set, asking)
    asked = pool.submit(partial(context.run, work), at_once=to_the_end)
    answer: Awaitable[T] = asyncio.wrap_future(asked)
    try:
        return await (asyncio.shield(answer) if to_the_end else answer)
    except (asyncio.CancelledError, GeneratorExit):
        asking.gone = True
        if not to_the_end:
            asked.cancel()
        if unwanted is not None:
            asked.add_done_callback(partial(_came_too_late, unwanted))
        raise


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError as problem:
        hint = "Await it in a coroutine that asyncio.run runs; elsewhere use `pieria` itself."
        raise UnavailableError("pieria.aio", NO_LOOP, hint=hint) from problem


def _came_too_late(unwanted: Callable[[T], object], asked: Future[T]) -> None:
    """Dispose of a late result in a pool thread, since the event loop must not wait."""
    if not asked.cancelled() and asked.exception() is None:
        pool.submit(partial(unwanted, asked.result()), at_once=True)


# --- what users hand over to be called


def callable_from_threads(value: Any) -> Any:
    """Return a coroutine function, or an object with some, in a form that threads can call; other values unchanged.

    Its coroutines run on the loop of the current call, which keeps running.
    """
    asking = caller.get()
    if value is None or isinstance(value, str | int | float | list | tuple) or not isinstance(asking, LoopCaller):
        return value
    if not _is_awaited(value) and not any(_is_awaited(getattr(value, name, None)) for name in ASKED):
        return value
    key = (id(value), id(asking.loop))
    found = _stand_ins.get(key)
    if found is None:
        found = _stand_ins[key] = _stand_in(value, asking.loop)
    return found


def _is_awaited(value: object) -> bool:
    return inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(getattr(value, "__call__", None))  # noqa: B004


def _stand_in(value: Any, loop: asyncio.AbstractEventLoop) -> Any:
    if _is_awaited(value):
        return _run_on(loop, value)
    kind = type(value)
    # A model without a name is identified by its class.
    named = {"__qualname__": kind.__qualname__, "__module__": kind.__module__}
    shown = {name: _delegated(name) for name in dir(kind) if not name.startswith("_") and name not in CALLED}
    return type(kind.__name__, (_StandIn,), {**named, **shown})(value, loop)


class _StandIn:
    """A proxy whose coroutine methods are plain methods."""

    def __init__(self, value: object, loop: asyncio.AbstractEventLoop) -> None:
        self._value = value
        for name in CALLED:
            found = getattr(value, name, None)
            if found is not None:
                setattr(self, name, _run_on(loop, found) if _is_awaited(found) else found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)


def _delegated(name: str) -> property:
    return property(lambda self: getattr(self._value, name))


def _run_on(loop: asyncio.AbstractEventLoop, function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        if loop.is_closed():
            raise _over(function)
        context = copy_context()
        # The coroutine's own calls may outlive this one, so they get no caller.
        context.run(caller.set, None)
        told = context.run(asyncio.run_coroutine_threadsafe, function(*args, **kwargs), loop)
        while True:
            try:
                return told.result(LOOK)
            except TimeoutError:
                if told.done():
                    # The coroutine's own TimeoutError, or a result that came just after the wait.
                    return told.result()
                if loop.is_closed():
                    raise _over(function) from None

    return wraps(function, updated=())(called)


def _over(function: Callable[..., Any]) -> ClosedError:
    name = getattr(function, "__name__", type(function).__name__)
    return ClosedError(f"the event loop of {name}", hint="Close the bank while its event loop still runs.")
