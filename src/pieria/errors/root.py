"""The root of the error tree, its three branches, and what every error can do: display, JSON and pickling."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, ClassVar, TypedDict, TypeVar, Unpack

from pieria.errors.description import counted, described

T = TypeVar("T")


def jsonable(value: object) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str | PurePath):
        return str(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, PieriaError):
        return value.as_dict()
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    return described(value)


def _remade(kind: type[PieriaError], arguments: tuple[object, ...], state: dict[str, object]) -> PieriaError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


class More(TypedDict, total=False):
    """The keywords every error takes beside its own fields."""

    hint: str | None
    errors: Iterable[PieriaError]


class PieriaError(Exception):
    """The root; ``errors`` holds what else was found wrong in the same call."""

    code: ClassVar[str] = "error"
    fields: ClassVar[tuple[str, ...]] = ()
    reasons: ClassVar[Mapping[str, str]] = {}
    advice: ClassVar[str | None] = None
    retryable: bool = False

    def __init__(self, message: str = "", *, hint: str | None = None, errors: Iterable[PieriaError] = ()) -> None:
        self.errors: tuple[PieriaError, ...] = tuple(errors)
        self.hint: str | None = hint or self.advice
        super().__init__(message or self._default_message())
        if self.hint:
            self.add_note(f"hint: {self.hint}")

    def _worded(self, about: str, reason: object) -> str:
        """Return the message for a reason, in words if the reason is known."""
        if reason is None:
            return about
        words = self.reasons.get(reason, reason) if isinstance(reason, str) else jsonable(reason)
        return f"{about}: {words}"

    def _default_message(self) -> str:
        if self.errors:
            return f"{counted(len(self.errors), 'problem')}: " + "; ".join(map(str, self.errors))
        return str(type(self).__doc__).partition("\n")[0].rstrip(".")

    @property
    def message(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        if not self.errors or self._lists_others():
            return self.message
        return f"{self.message} (and {counted(len(self.errors), 'further problem')})"

    def all_errors(self) -> list[PieriaError]:
        """Return this error and all in its ``errors``, at any depth. One that only lists others is left out."""
        further = [one for error in self.errors for one in error.all_errors()]
        return further if self._lists_others() else [self, *further]

    def _lists_others(self) -> bool:
        return bool(self.errors) and self.message == self._default_message()

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON: code, message, retryable, hint, its own fields, and any further ``errors``."""
        shown: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "hint": self.hint,
        }
        shown.update({name: jsonable(getattr(self, name)) for name in self.fields})
        if self.errors:
            shown["errors"] = [error.as_dict() for error in self.errors]
        return shown

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from all state: the default uses ``args`` alone, which fails for keyword fields."""
        return _remade, (type(self), self.args, dict(self.__dict__))


def raise_or_return(outcome: T | BaseException) -> T:
    """Raise what a callback received if it is an error, and return it otherwise."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


class Invalid(PieriaError):
    """The request is wrong; repeating it will not help."""

    code = "invalid"


class Framework(PieriaError):
    """The request is valid, but could not be carried out now."""

    code = "framework"


class Unknown(PieriaError):
    """A failure that belongs to no other class."""

    code = "unknown"


class Reasoned(PieriaError):
    """Base of errors whose message is a reason from a known list."""

    fields = ("reason",)
    about: ClassVar[str]

    def __init__(self, reason: object = None, **more: Unpack[More]) -> None:
        self.reason = reason
        super().__init__(self._worded(self.about, reason), **more)


class UnknownError(Unknown):
    """An unexpected failure: ``error`` is the exception, ``value`` the value it occurred with."""

    code = "unknown_error"
    fields = ("error", "value")

    def __init__(self, error: object = None, value: object = None, **more: Unpack[More]) -> None:
        self.error = error
        self.value = value
        shown = "" if error is None else f": {jsonable(error)}"
        super().__init__(f"unexpected failure{shown}", **more)

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON. The value is only described, since it may hold anything."""
        return {**super().as_dict(), "value": None if self.value is None else described(self.value)}
