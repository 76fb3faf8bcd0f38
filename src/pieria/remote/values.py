"""The values of verbs as JSON, and back. Plain JSON stays plain; every other value is an object with one `$` key.

`{"$record": "Memory", "fields": {…}}` is an instance of a class in `records`. Functions, streams and models have no
JSON and are refused by name.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any
from zoneinfo import ZoneInfo

from pieria.errors import InputError, PieriaError, UnavailableError
from pieria.learning.experience import Experience
from pieria.record.event import AgentEvent
from pieria.record.memory import Frozen
from pieria.remote.errors import error_of
from pieria.remote.records import SENT, record_named, wire_name

MARK = "$"
FUNCTION = "a function cannot be sent over HTTP"


class Unreadable(ValueError):
    """JSON that is not a value of ours."""


def encoded(value: object, parameter: str = "") -> Any:
    """Return the value as JSON. Raise `UnavailableError` for a function, `InputError` for a value without JSON."""
    if value is None or (isinstance(value, bool | int) and not isinstance(value, Enum)):
        return value
    for kind, encode in _ENCODERS:
        if isinstance(value, kind):
            return encode(value, parameter)
    if hasattr(value, "tolist"):
        return encoded(value.tolist(), parameter)
    if callable(value):
        raise UnavailableError(parameter or "argument", FUNCTION)
    raise InputError(parameter, "a value that JSON can express", value)


def _dataclass(value: Any, parameter: str) -> Any:
    return _record(value, {one.name: getattr(value, one.name) for one in fields(value)}, parameter)


def _record(value: object, parts: Mapping[str, object], parameter: str) -> Any:
    wire = wire_name(type(value))
    if wire is None:
        raise InputError(parameter, "a value that JSON can express", value)
    return {"$record": wire, "fields": {name: encoded(part, parameter) for name, part in parts.items()}}


def _text(value: str, parameter: str) -> Any:
    return value if type(value) is str else str(value)


def _number(value: float, parameter: str) -> Any:
    return value if math.isfinite(value) else {"$number": str(value)}


def _enum(value: Enum, parameter: str) -> Any:
    wire = wire_name(type(value))
    if wire is None:
        return encoded(value.value, parameter)
    return {"$enum": wire, "value": value.value}


def _tuple(value: tuple[object, ...], parameter: str) -> Any:
    names = getattr(value, "_fields", None)
    if names is None:
        return {"$tuple": _each(value, parameter)}
    return _record(value, dict(zip(names, value, strict=True)), parameter)


def _list(value: Sequence[object], parameter: str) -> Any:
    if wire_name(type(value)) is None:
        return _each(value, parameter)
    return {"$list": wire_name(type(value)), "items": _each(value, parameter), "more": encoded(vars(value), parameter)}


def _each(values: Any, parameter: str = "") -> list[Any]:
    return [encoded(one, f"{parameter}[{number}]" if parameter else "") for number, one in enumerate(values)]


def _mapping(value: Mapping[Any, object], parameter: str) -> Any:
    if all(isinstance(key, str) and type(key) is str and not key.startswith(MARK) for key in value):
        return {key: encoded(one, f"{parameter}.{key}" if parameter else "") for key, one in value.items()}
    pairs = [[encoded(key, parameter), encoded(one, parameter)] for key, one in value.items()]
    return {"$mapping": pairs}


def _experience(value: Experience, parameter: str) -> Any:
    """Return the mapping that the server checks, since the class checks nothing."""
    steps = [dict(zip(step._fields, step, strict=True)) for step in value.steps]
    told = {"source_id": value.source_id, "goal": value.goal, "steps": steps}
    return encoded({**told, "metadata": json.loads(value.metadata or "{}")}, parameter)


def _zone(value: tzinfo, parameter: str) -> Any:
    if isinstance(value, ZoneInfo) and value.key:
        return {"$zone": value.key}
    offset = value.utcoffset(datetime.now(UTC))
    return {"$offset": 0.0 if offset is None else offset.total_seconds()}


class _Kind(type):
    def __instancecheck__(cls, value: object) -> bool:
        return is_dataclass(value) and not isinstance(value, type)


class _Dataclass(metaclass=_Kind):
    """Any instance of a dataclass, also one that is a sequence."""


_ENCODERS: tuple[tuple[Any, Callable[[Any, str], Any]], ...] = (
    (AgentEvent, lambda value, parameter: encoded(value.as_dict(), parameter)),
    (Experience, _experience),
    (_Dataclass, _dataclass),
    (Enum, _enum),
    (str, _text),
    (float, _number),
    (datetime, lambda value, _: {"$time": value.isoformat()}),
    (date, lambda value, _: {"$date": value.isoformat()}),
    (timedelta, lambda value, _: {"$duration": [value.days, value.seconds, value.microseconds]}),
    (tzinfo, _zone),
    (bytes | bytearray, lambda value, _: {"$bytes": base64.b64encode(value).decode()}),
    # A caller must not learn where a server keeps its files.
    (PurePath, lambda value, _: {"$path": value.name}),
    (PieriaError, lambda value, _: {"$error": value.as_dict()}),
    (Counter, lambda value, parameter: {"$counter": _mapping(value, parameter)}),
    (Frozen, lambda value, parameter: {"$frozen": _mapping(value, parameter)}),
    (Mapping, _mapping),
    (tuple, _tuple),
    (Set, lambda value, parameter: {"$set": _each(value, parameter), "frozen": isinstance(value, frozenset)}),
    (Sequence, _list),
    (Iterator, _each),
)


class Decoder:
    """Builds values from JSON. `sent` limits the classes to those that a caller may send."""

    def __init__(self, *, sent: bool = False, more: Mapping[str, Callable[[Any], Any]] | None = None) -> None:
        self._sent = sent
        self._makers: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
            "$record": self._record,
            "$enum": lambda name, told: self._class(name)(told["value"]),
            "$list": self._list,
            "$tuple": lambda items, _: tuple(map(self.value, items)),
            "$set": lambda items, told: (frozenset if told.get("frozen") else set)(map(self.value, items)),
            "$mapping": lambda pairs, _: {self.value(key): self.value(one) for key, one in pairs},
            "$frozen": lambda parts, _: Frozen(self.value(parts)),
            "$counter": lambda counts, _: Counter(self.value(counts)),
            "$number": lambda text, _: float(text),
            "$time": lambda text, _: datetime.fromisoformat(text),
            "$date": lambda text, _: date.fromisoformat(text),
            "$duration": lambda parts, _: timedelta(*parts),
            "$zone": lambda name, _: ZoneInfo(name),
            "$offset": lambda seconds, _: UTC if seconds == 0 else timezone(timedelta(seconds=seconds)),
            "$bytes": lambda text, _: base64.b64decode(text, validate=True),
        }
        if not sent:
            self._makers |= {"$path": lambda name, _: _path(name), "$error": lambda told, _: error_of(told)}
        for name, make in (more or {}).items():
            self._makers[name] = _alone(make)

    def value(self, told: Any) -> Any:
        """Return the value. Raise `Unreadable` for JSON that is none of ours."""
        if isinstance(told, list):
            return [self.value(one) for one in told]
        if not isinstance(told, dict):
            return told
        mark = next(iter(told), "")
        if not mark.startswith(MARK):
            return {key: self.value(one) for key, one in told.items()}
        make = self._makers.get(mark)
        if make is None:
            raise Unreadable(f"{mark[:20]} is no kind of value here")
        try:
            return make(told[mark], told)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
            if isinstance(problem, Unreadable):
                raise
            raise Unreadable(f"the value of {mark} cannot be read") from problem

    def _class(self, name: str) -> Any:
        kind = record_named(name) if isinstance(name, str) else None
        if kind is None:
            raise Unreadable("it names a class that does not travel")
        if self._sent and name not in SENT:
            raise Unreadable(f"{name} is a result and no argument: give its .id")
        return kind

    def _record(self, name: str, told: Mapping[str, Any]) -> Any:
        kind = self._class(name)
        parts = {part: self.value(one) for part, one in told["fields"].items()}
        if self._sent or issubclass(kind, tuple):
            return kind(**parts)
        return _restored(kind, parts)

    def _list(self, name: str, told: Mapping[str, Any]) -> Any:
        return self._class(name)(map(self.value, told["items"]), **self.value(told["more"]))


def _restored(kind: Any, parts: Mapping[str, Any]) -> Any:
    """Return an instance with exactly these fields: the server has checked them."""
    made = kind.__new__(kind)
    for name in _fields_of(kind):
        if name in parts:
            object.__setattr__(made, name, parts[name])
    return made


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def _alone(make: Callable[[Any], Any]) -> Callable[[Any, Mapping[str, Any]], Any]:
    return lambda value, _: make(value)


def _path(name: str) -> Any:
    from pathlib import Path

    return Path(name)
