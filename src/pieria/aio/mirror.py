"""The classes of `pieria.aio`: a table of what is mirrored, and the classes built from it.

Each class wraps an original, and runs its methods in a thread. Every public method is awaited under its own name and
signature. Its return type says whether it opens something or is iterated. A row of the table lists only exceptions. For
a class that a method returns, add a row here and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from functools import partial, wraps
from types import MappingProxyType, TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from pieria.aio.call import callable_from_threads, done
from pieria.bank import Bank
from pieria.bank.capture.hooks import Hooks
from pieria.bank.capture.sources import Intake, Sources
from pieria.bank.facts.text_analysis import BankText
from pieria.bank.facts.verbs import Facts
from pieria.bank.graph.verbs import BankGraph
from pieria.bank.jobs.queue import Jobs
from pieria.bank.jobs.worker import Worker
from pieria.bank.places import Places
from pieria.bank.rules import BankRules
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.sessions.verbs import BankSessions
from pieria.bank.surface import GROUPS, INTERNAL, VALUES, public_verbs
from pieria.bank.upkeep.verbs import Upkeep
from pieria.bank.vault.verbs import Vault
from pieria.errors import ClosedError
from pieria.sessions import Session
from pieria.workspace import Workspace, copy, open, remove_bank, restore
from pieria.workspace.seal import rekey, seal, unseal

NONE: Mapping[str, type] = MappingProxyType({})
FUNCTIONS: tuple[Callable[..., Any], ...] = (open, restore, copy, remove_bank, seal, unseal, rekey)
"""The mirrored functions of the module."""
T = TypeVar("T")
END = object()
Original = Callable[[], Any]
"""Returns the original behind a mirror, and creates it if needed; called in a thread."""


class Mirror(NamedTuple):
    original: type
    is_made_by_users: bool = False
    """Whether users call the class; its instances are then awaited or entered first."""
    values: tuple[str, ...] = ()
    """Attributes read directly: reading them never blocks."""
    reads: tuple[str, ...] = ()
    """Attributes that are awaited, since reading them reads the bank."""
    groups: Mapping[str, type] = NONE
    """Attributes with methods of their own to mirror."""
    closes: tuple[str, ...] = ()
    """Methods that release something: always finished, and never queued behind other calls."""
    at_once: tuple[str, ...] = ()
    """Methods that only set a value, called without `await`."""
    apart: tuple[str, ...] = ()
    """Public names for internal use, which are not mirrored."""


MIRRORS = (
    Mirror(
        Workspace,
        is_made_by_users=True,
        values=("data", "clock", "is_door"),
        closes=("close", "close_repo"),
        apart=("models", "place", "resolved"),
    ),
    Mirror(
        Bank,
        values=VALUES,
        groups=GROUPS,
        closes=("close",),
        at_once=("expect_questions",),
        apart=INTERNAL,
    ),
    Mirror(
        Session,
        values=("id", "state", "goal", "steps", "node_ids", "fault", "is_over"),
        apart=("begin", "resume"),
    ),
    Mirror(Facts),
    Mirror(BankGraph, reads=("graph",), groups={"everything": BankGraph}, apart=("tended",)),
    Mirror(Hooks),
    Mirror(Jobs),
    Mirror(Worker, values=("name", "tally", "problem", "stopping"), closes=("close",), at_once=("stop",)),
    Mirror(Places),
    Mirror(BankRules),
    Mirror(Scratchpad),
    Mirror(BankSessions, apart=("log", "opened", "tries")),
    Mirror(Sources),
    Mirror(BankText),
    Mirror(Intake),
    Mirror(Upkeep),
    Mirror(Vault, values=("is_set",)),
)


def opens(function: Callable[..., Any]) -> bool:
    """Return whether the result is a context manager, to enter with `async with` or to await."""
    kinds = {mirror.original.__name__: mirror.original for mirror in MIRRORS}
    return hasattr(kinds.get(returned(function)), "__enter__")


def iterates(function: Callable[..., Any]) -> bool:
    """Return whether the result is iterated with `async for`."""
    return returned(function).startswith("Iterator[")


def returned(function: Callable[..., Any]) -> str:
    return str(function.__annotations__["return"])


class Mirrored:
    """An object of the synchronous API whose methods are awaited."""

    __slots__ = ("__weakref__", "_original")

    def __init__(self, original: Original) -> None:
        self._original = original

    def __repr__(self) -> str:
        return f"<pieria.aio.{type(self).__name__} of {self._original!r}>"


class Given:
    """An original that exists."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __call__(self) -> object:
        return self._value

    def __repr__(self) -> str:
        return repr(self._value)


class Made:
    """An original that is created once, on first use."""

    __slots__ = ("_found", "_lock", "_make")

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._found: list[object] = []

    def __call__(self) -> object:
        with self._lock:
            if not self._found:
                self._found.append(self._make())
            return self._found[0]

    @property
    def is_made(self) -> bool:
        return bool(self._found)

    def __repr__(self) -> str:
        return repr(self._found[0]) if self._found else "nothing yet"


class Part:
    """The original of a group of methods, such as `bank.facts`."""

    __slots__ = ("_name", "_whole")

    def __init__(self, whole: Original, name: str) -> None:
        self._whole = whole
        self._name = name

    def __call__(self) -> object:
        return getattr(self._whole(), self._name)

    def __repr__(self) -> str:
        return f"{self._whole!r}.{self._name}"


class Opening(Generic[T]):
    """Opens something: `await` returns it, and `async with` closes it at the end of the block."""

    __slots__ = ("_entered", "_open")

    def __init__(self, open: Callable[[], Any]) -> None:
        self._open = open
        self._entered: list[Any] = []

    def __await__(self) -> Generator[Any, None, T]:
        return self._opened(self._open).__await__()

    async def __aenter__(self) -> T:
        entered: T = await self._opened(lambda: self._open().__enter__())
        self._entered.append(entered)
        return entered

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        left: bool | None = await self._entered.pop().__aexit__(kind, error, trace)
        return left

    async def _opened(self, open: Callable[[], Any]) -> Any:
        return mirrored(await done(open, unwanted=_left_alone))


def _left_alone(opened: Any) -> None:
    """Close a result whose caller was cancelled, as if that had happened within its block."""
    opened.__exit__(asyncio.CancelledError, asyncio.CancelledError(), None)


def mirrored(value: Any) -> Any:
    """Return the value, wrapped in a mirror if its class has one."""
    made = next((CLASSES[kind] for kind in type(value).__mro__ if kind in CLASSES), None)
    return value if made is None else made(Given(value))


def _call(original: Original, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of the original, in a thread."""
    return _called(getattr(original(), name), args, kwargs)


def _called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {name: callable_from_threads(value) for name, value in kwargs.items()}
    return function(*map(callable_from_threads, args), **given)


# --- the members of a class


def _verb(name: str, original: Callable[..., Any], *, closes: bool = False) -> Any:
    @wraps(original)
    async def verb(self: Mirrored, /, *args: Any, **kwargs: Any) -> Any:
        return mirrored(await done(partial(_call, self._original, name, args, kwargs), to_the_end=closes))

    return verb


def _opening(name: str, original: Callable[..., Any]) -> Any:
    @wraps(original)
    def opening(self: Mirrored, /, *args: Any, **kwargs: Any) -> Opening[Any]:
        return Opening(partial(_call, self._original, name, args, kwargs))

    return opening


def _iterating(name: str, original: Callable[..., Any]) -> Any:
    @wraps(original)
    async def iterating(self: Mirrored, /, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        found: Iterator[Any] = await done(partial(_call, self._original, name, args, kwargs))
        while (one := await done(partial(next, found, END))) is not END:
            yield mirrored(one)

    return iterating


def _at_once(name: str, original: Callable[..., Any]) -> Any:
    @wraps(original)
    def at_once(self: Mirrored, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(_at_hand(self), name)(*args, **kwargs)

    return at_once


def _value(name: str) -> property:
    return property(lambda self: getattr(_at_hand(self), name))


def _read(name: str) -> property:
    return property(lambda self: _reading(self, name))


async def _reading(self: Mirrored, name: str) -> Any:
    return mirrored(await done(lambda: getattr(self._original(), name)))


def _group(name: str, kind: type) -> property:
    return property(lambda self: CLASSES[kind](Part(self._original, name)))


def _at_hand(self: Mirrored) -> Any:
    if isinstance(self._original, Made) and not self._original.is_made:
        what = f"a {type(self).__name__} that was not awaited yet"
        raise ClosedError(what, hint="Await it, or enter it with `async with`, before you read of it.")
    return self._original()


async def _entered(self: Mirrored) -> Mirrored:
    await done(partial(_call, self._original, "__enter__", (), {}))
    return self


async def _ready(self: Mirrored) -> Mirrored:
    await done(self._original)
    return self


async def _left(
    self: Mirrored, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> bool | None:
    leave = partial(_call, self._original, "__exit__", (kind, error, trace), {})
    left: bool | None = await done(leave, to_the_end=True)
    return left


def _made_when_awaited(original: type) -> dict[str, Any]:
    @wraps(original.__init__)  # type: ignore[misc]
    def made(self: Mirrored, /, *args: Any, **kwargs: Any) -> None:
        Mirrored.__init__(self, Made(partial(_called, original, args, kwargs)))

    def awaited(self: Mirrored) -> Generator[Any, None, Mirrored]:
        return _ready(self).__await__()

    return {"__init__": made, "__await__": awaited}


# --- the classes


def _class_of(mirror: Mirror) -> type[Mirrored]:
    members: dict[str, Any] = {"__slots__": (), "__module__": "pieria.aio", "__doc__": mirror.original.__doc__}
    for name, original in public_verbs(mirror.original).items():
        make = (
            _opening if opens(original)
            else _iterating if iterates(original)
            else _at_once if name in mirror.at_once
            else partial(_verb, closes=name in mirror.closes)
        )  # fmt: skip
        members[name] = make(name, original)
    members |= {name: _value(name) for name in mirror.values}
    members |= {name: _read(name) for name in mirror.reads}
    members |= {name: _group(name, kind) for name, kind in mirror.groups.items()}
    if hasattr(mirror.original, "__enter__"):
        members |= {"__aenter__": _entered, "__aexit__": _left}
    if mirror.is_made_by_users:
        members |= _made_when_awaited(mirror.original)
    return type(mirror.original.__name__, (Mirrored,), members)


CLASSES: dict[type, type[Mirrored]] = {mirror.original: _class_of(mirror) for mirror in MIRRORS}


# --- the functions of the module


def _opening_function(original: Callable[..., Any]) -> Callable[..., Opening[Any]]:
    @wraps(original)
    def opening(*args: Any, **kwargs: Any) -> Opening[Any]:
        return Opening(partial(_called, original, args, kwargs))

    return opening


def _function(original: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    @wraps(original)
    async def function(*args: Any, **kwargs: Any) -> Any:
        return mirrored(await done(partial(_called, original, args, kwargs)))

    return function


NAMES: dict[str, Any] = {
    **{made.__name__: made for made in CLASSES.values()},
    **{one.__name__: _opening_function(one) if opens(one) else _function(one) for one in FUNCTIONS},
}
"""All names of `pieria.aio`."""
