"""A call of the synchronous API as something to await: it is done in a thread, and its caller may go away.

What has begun is done to its end, what has not is withdrawn; so a write is there whole or not at all, and one that was
answered is on the disk. What the calls are is not known here.
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
from pieria.record.patience import Caller, caller

T = TypeVar("T")

ASKED = ("notify", "chat", "chat_structured", "embed", "embed_batch")
"""Methods of what users hand over: of a notifier, of a language model, of an embedding."""
CALLED = (*ASKED, "close")
LOOK = 1.0
"""Seconds after which a thread that waits for an event loop looks whether there still is one."""
NO_LOOP = "no event loop of asyncio runs here"


class LoopCaller(Caller):
    """A task of an event loop."""

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop


async def done(work: Callable[[], T], *, unwanted: Callable[[T], object] | None = None, to_the_end: bool = False) -> T:
    """Does it in a thread and returns what it returns, with the context variables of the caller.

    When the caller is cancelled, or dropped, work that has not begun is withdrawn, unless it is to be done
    `to_the_end`. `unwanted` is handed a result that came too late, for what must be closed.
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
    """In whichever thread: that of the loop must not wait."""
    if not asked.cancelled() and asked.exception() is None:
        pool.submit(partial(unwanted, asked.result()), at_once=True)


# --- what users hand over to be called

_stand_ins: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()
"""By the numbers of what they stand for and of its loop, both of which they hold: the same is called by the same."""


def callable_from_threads(value: Any) -> Any:
    """Within a call: a coroutine function, or an object with some, as what threads may call. Others are as they are.

    Its coroutines run on the loop of the call, which goes on meanwhile.
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
    # A model without a name of its own goes by that of its class.
    named = {"__qualname__": kind.__qualname__, "__module__": kind.__module__}
    shown = {name: _delegated(name) for name in dir(kind) if not name.startswith("_") and name not in CALLED}
    return type(kind.__name__, (_StandIn,), {**named, **shown})(value, loop)


class _StandIn:
    """Has what the object has, its coroutine methods as plain ones."""

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
        # What the coroutine asks for, or starts, outlives whoever waits for this call.
        context.run(caller.set, None)
        told = context.run(asyncio.run_coroutine_threadsafe, function(*args, **kwargs), loop)
        while True:
            try:
                return told.result(LOOK)
            except TimeoutError:
                if told.done():
                    # What it raised by itself, or what came of it at the very moment at which nobody waited.
                    return told.result()
                if loop.is_closed():
                    raise _over(function) from None

    return wraps(function, updated=())(called)


def _over(function: Callable[..., Any]) -> ClosedError:
    name = getattr(function, "__name__", type(function).__name__)
    return ClosedError(f"the event loop of {name}", hint="Close the bank while its event loop still runs.")
