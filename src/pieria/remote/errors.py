"""Errors from their JSON: the class that the server raised, with its message, hint and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pieria import errors
from pieria.errors import PieriaError, UnknownError


@cache
def _classes() -> Mapping[str, type[PieriaError]]:
    """Return the public classes of errors by their codes. A code of a branch means the branch."""
    from pieria.transfer.lines import Problem

    found: dict[str, type[PieriaError]] = {Problem.code: Problem}
    for name in errors.__all__:
        kind: object = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, PieriaError):
            found[kind.code] = kind
    return found


def error_of(told: Mapping[str, Any]) -> PieriaError:
    """Return the error with the state that its JSON tells. An unknown code of a newer server gives `UnknownError`."""
    kind = _classes().get(str(told.get("code")), UnknownError)
    message, hint = str(told.get("message") or "the server told no message"), told.get("hint")
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.hint = hint if isinstance(hint, str) else None
    error.errors = tuple(_listed(told.get("errors")))
    for name in kind.fields:
        if not isinstance(getattr(kind, name, None), property):
            setattr(error, name, _field(told.get(name)))
    if "retryable" in told and bool(told["retryable"]) != error.retryable:
        error.retryable = bool(told["retryable"])
    if error.hint:
        error.add_note(f"hint: {error.hint}")
    return error


def _listed(told: object) -> Iterator[PieriaError]:
    for each in told if isinstance(told, list) else ():
        if isinstance(each, Mapping):
            yield error_of(each)


def _field(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_field, value))
    return error_of(value) if isinstance(value, Mapping) and "code" in value else value
