"""Run a call of the synchronous API in a thread, and await it. The caller may be cancelled.

A call that has begun is finished; one that has not is withdrawn. So a write is complete or absent, and an acknowledged
write is on the disk. This module does not know what the calls do.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial, wraps
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from pieria.aio.threads import pool
from pieria.errors import ClosedError, UnavailableError
from pieria.runtime.patience import Caller, caller

T = TypeVar("T")

ASKED = ("notify", "chat", "chat_structured", "embed", "embed_batch")
"""Methods of user objects: of a notifier, a language model or an embedding."""
CALLED = (*ASKED, "close")
LOOK = 1.0
"""Seconds between checks whether an event loop still exists."""
NO_LOOP = "no event loop of asyncio runs here"


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

_stand_ins: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()
"""By the ids of the value and its loop, which the proxy keeps alive: the same value gives the same proxy."""


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
