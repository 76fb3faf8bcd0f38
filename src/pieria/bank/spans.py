"""Spans of verbs: a decorator that reports each call of a class's verbs to telemetry.

The graph and sessions report finer spans of their own and do not use it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from pieria import telemetry

T = TypeVar("T")


def reported(group: str = "") -> Callable[[type[T]], type[T]]:
    """Return a decorator that reports every public method of a class, inherited ones included, as `bank.verb`.

    Verbs of a group are named after it: `facts.add`. Instances have a `_core` or a `_bank`, which names the bank.
    """
    prefix = f"{group}." if group else ""

    def decorated(cls: type[T]) -> type[T]:
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            found |= vars(base)
        for name, value in found.items():
            if isinstance(value, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _reported(prefix + name, value))
        return cls

    return decorated


def _reported(verb: str, function: FunctionType) -> Callable[..., Any]:
    @wraps(function)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if not telemetry.is_heard():
            return function(self, *arguments, **named)
        holder = getattr(self, "_core", None) or self._bank
        with telemetry.during("bank.verb", verb=verb, repo_id=holder.name):
            return function(self, *arguments, **named)

    return call
