"""A caller's backend whose own exceptions become errors of Pieria that name it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from pieria.errors import PieriaError, StorageError
from pieria.graph.backend import GraphBackend
from pieria.graph.in_memory import InMemoryBackend

HINT = "The backend's own exception is the cause of this error: error.__cause__."
OPTIONAL = ("latest", "exclusively")
"""Methods that a backend may have beside those of the protocol."""


class GuardedBackend:
    """Passes every call on. A callback's exception that is not Pieria's becomes the cause of a `StorageError`."""

    def __init__(self, backend: object) -> None:
        self.original: Any = backend
        # As attributes of its own, so that it keeps to the protocols of the original.
        for name in (*(name for name in vars(GraphBackend) if name[0] != "_"), *OPTIONAL):
            if callable(getattr(type(backend), name, None)):
                setattr(self, name, _guard_method(backend, name, getattr(backend, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


def guard(backend: GraphBackend) -> GraphBackend:
    """Return the backend with its exceptions translated. The one in memory raises only Pieria's."""
    if type(backend) is InMemoryBackend:
        return backend
    made: Any = GuardedBackend(backend)
    return made  # type: ignore[no-any-return]


def original_of(backend: GraphBackend) -> GraphBackend:
    """Return the caller's own backend."""
    return backend.original if isinstance(backend, GuardedBackend) else backend


@contextmanager
def named_errors(backend: object, operation: str) -> Iterator[None]:
    """Translate foreign exceptions of the backend within the block."""
    try:
        yield
    except PieriaError:
        raise
    # Do not quote foreign errors: they may hold remembered text.
    except Exception as problem:
        reason = f"the backend {type(backend).__qualname__} failed with {type(problem).__name__}"
        raise StorageError(operation, reason, hint=HINT) from problem


def _guard_method(backend: object, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(*given: Any, **named: Any) -> Any:
        with named_errors(backend, name):
            return method(*given, **named)

    return called
