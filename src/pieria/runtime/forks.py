"""Forks: what a process opened belongs to it, and a forked child opens its own.

The child has one thread. A lock that another thread of the parent held stays locked there for ever, and a connection
has the parent's state. So the child refuses what its parent opened, and starts with empty registries. Only this module
calls `os.register_at_fork`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from importlib import _bootstrap, import_module
from typing import Generic, TypeVar

from pieria.errors import ForkedError

T = TypeVar("T")

LOADED_LATE = ("fastembed", "httpx2", "numpy", "onnxruntime", "pieria", "psycopg", "sqlcipher3", "tokenizers")
"""Packages that a thread may be importing for the first time."""
_kept: weakref.WeakSet[object] = weakref.WeakSet()


def check(process: int, what: str, name: str = "") -> None:
    """Raise `ForkedError` unless this is the process that opened it. Call it before taking a lock."""
    if process != os.getpid():
        raise ForkedError(f"{what} {name}".rstrip(), process, os.getpid())


def in_child(reset: Callable[[], object]) -> None:
    """Call this in every forked child, where only the forking thread exists."""
    os.register_at_fork(after_in_child=reset)


def around(before: Callable[[], object], after: Callable[[], object], in_child: Callable[[], object]) -> None:
    """Call these at every fork: before it, and after it in the parent and in the child."""
    os.register_at_fork(before=before, after_in_parent=after, after_in_child=in_child)


def keep(thing: object) -> None:
    """Never destroy this in a forked child: its destructor would wait for threads, or end a connection."""
    import ctypes  # noqa: F401 - loaded before the fork that needs it

    _kept.add(thing)


def leak(thing: object) -> None:
    """Never destroy this, not even when the process ends."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class Own(Generic[T]):
    """A value that each process makes for itself, once. Thread-safe."""

    def __init__(self) -> None:
        self._made: dict[int, T] = {}
        self._locks: dict[int, threading.Lock] = {}

    def get(self, make: Callable[[], T]) -> T:
        process = os.getpid()
        made = self._made.get(process)
        if made is None:
            with self._locks.setdefault(process, threading.Lock()):
                made = self._made.get(process)
                if made is None:
                    made = self._made[process] = make()
        return made

    def take(self) -> T | None:
        """Return the value and forget it; None if there is none."""
        return self._made.pop(os.getpid(), None)

    @property
    def is_made(self) -> bool:
        return os.getpid() in self._made


def _finish_imports() -> None:
    """Wait for imports in other threads: the child would wait for ever for a module that it finds half imported.

    A module is locked from before it is looked for until it is loaded; it is in `sys.modules` only for a part of that.
    """
    locked: dict[str, object] = getattr(_bootstrap, "_module_locks", {})
    waited: set[str] = set()
    while late := [name for name in list(locked) if name.partition(".")[0] in LOADED_LATE and name not in waited]:
        waited.update(late)
        for name in late:
            # The thread that began the import gets its error.
            with suppress(ImportError):
                import_module(name)


def _keep_in_child() -> None:
    for thing in list(_kept):
        leak(thing)


# Functions that run before a fork are called last registered first, so imports are waited for last.
os.register_at_fork(before=_finish_imports, after_in_child=_keep_in_child)
