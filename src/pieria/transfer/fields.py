"""The fields of every kind of line: how each is written from a row, and checked when read.

`docs/export-format.md` documents the same tables. The order is that of the rows, which are built by position. Reading
lines, and checks across lines, do not belong here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from pieria.errors import InputError
from pieria.record import check
from pieria.record.changeset import FOREVER
from pieria.record.memory import AUTHOR_TYPES, ENDINGS, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.time import instant, iso, micros, moment
from pieria.record.trust import WAYS

RECORD_LIMIT = 4 * check.TEXT_LIMIT


class Field(NamedTuple):
    """`read` returns the stored form of a value or raises `InputError`; `write` turns a column into a JSON value."""

    name: str
    read: Callable[[object, str], Any]
    write: Callable[[Any], Any] | None = None
    needed: bool = False


def _text(value: object, parameter: str) -> str:
    """Return any text that a store can hold, also a blank one."""
    if value == "":
        return ""
    if isinstance(value, str) and value.isspace():
        return value
    return check.text(value, parameter)


def _within_body(value: object, parameter: str) -> str:
    """Return a text inside a body, which may hold characters that a plain text may not."""
    if not isinstance(value, str):
        raise InputError(parameter, "a text", value)
    check.text(f"{value.replace(chr(0), ' ')}.", parameter)
    return value


def _instant(value: object, parameter: str) -> int:
    if not isinstance(value, str):
        raise InputError(parameter, "a time as ISO 8601 text", value)
    return micros(instant(value, parameter))


def _written_instant(value: int) -> str | None:
    return None if value == FOREVER else iso(moment(value))


def _number(value: object, parameter: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(parameter, "a finite number", value)
    return float(value)


def _strength(value: object, parameter: str) -> float:
    return check.number(value, parameter, 0.0, 2.0)


def _flag(value: object, parameter: str) -> int:
    return int(check.flag(value, parameter))


def _version(value: object, parameter: str) -> int:
    return check.whole(value, parameter, 1)


def _list(value: object, parameter: str) -> str | None:
    if not isinstance(value, list):
        raise InputError(parameter, "a list of texts", value)
    kept = check.names(value, parameter)
    return written_json(list(kept)) if kept else None


def _mapping(value: object, parameter: str) -> str | None:
    return check.mapping(value, parameter)


def _ids(value: object, parameter: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(parameter, "a list of ids", value)
    return tuple(_text(item, parameter) for item in value)


def _any_json(value: object, parameter: str) -> object:
    if value is None:
        raise InputError(parameter, "a value", value)
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InputError(parameter, "finite numbers", value) from None
    check.text(written, parameter, RECORD_LIMIT)
    return value


def _one_of(*allowed: str) -> Callable[[object, str], str]:
    return lambda value, parameter: check.one_of(value, parameter, allowed)


def _ended(value: object, parameter: str) -> str:
    return "" if value == "" else check.one_of(value, parameter, ENDINGS)


def written_json(value: Any) -> str:
    """Return JSON text in the form that rows hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _needed(name: str, read: Callable[[object, str], Any], write: Callable[[Any], Any] | None = None) -> Field:
    return Field(name, read, write, needed=True)


KNOWN = (_needed("known_from", _instant, _written_instant), Field("known_until", _instant, _written_instant))

FIELDS: dict[str, tuple[Field, ...]] = {
    "change": (
        _needed("seq", _version),
        _needed("at", _instant, _written_instant),
        _needed("who", _text),
        _needed("what", _text),
        _needed("ids", _ids, json.loads),
    ),
    "content": (
        _needed("id", check.text),
        _needed("version", _version),
        Field("title", check.text),
        _needed("text", check.text),
        Field("body", _mapping, json.loads),
        Field("tags", _list, json.loads),
        Field("entities", _list, json.loads),
        Field("files", _list, json.loads),
        Field("flags", _list, json.loads),
        Field("context", check.text),
        Field("meta", _mapping, json.loads),
    ),
    "state": (
        _needed("id", check.text),
        _needed("version", _version),
        _needed("kind", _one_of(*KINDS)),
        Field("type", _within_body),
        _needed("place", check.place),
        _needed("scope", _one_of(*SCOPES)),
        Field("session", check.name),
        Field("sequence", check.whole),
        Field("channel", check.name),
        Field("author", check.name),
        Field("author_type", _one_of(*AUTHOR_TYPES)),
        Field("source", check.name),
        _needed("at", _instant, _written_instant),
        Field("valid_from", _instant, _written_instant),
        Field("valid_until", _instant, _written_instant),
        _needed("status", _one_of(*STATUSES)),
        _needed("tier", _one_of(*TIERS)),
        _needed("importance", check.number),
        Field("confidence", check.number),
        _needed("strength", _strength),
        _needed("trust", check.number),
        _needed("pinned", _flag, bool),
        _needed("ended", _ended),
        Field("reason", _text),
        Field("superseded_by", check.text),
        Field("via", _one_of(*WAYS)),
        *KNOWN,
    ),
    "link": (
        _needed("id", check.text),
        _needed("source_is", _one_of("memory", "place")),
        _needed("source", check.text),
        _needed("relation", check.name),
        _needed("target_is", _one_of("memory", "place")),
        _needed("target", check.text),
        _needed("weight", check.number),
        Field("label", _text),
        Field("meta", _mapping, json.loads),
        _needed("ended", _text),
        *KNOWN,
    ),
    "fact": (
        _needed("id", check.text),
        _needed("subject", check.text),
        _needed("predicate", check.text),
        _needed("object", check.text),
        Field("valid_from", _instant, _written_instant),
        Field("valid_until", _instant, _written_instant),
        Field("confidence", check.number),
        Field("memory", check.text),
        Field("source", _text),
        _needed("ended", _text),
        Field("reason", _text),
        *KNOWN,
    ),
    "purged": (_needed("id", check.text), _needed("known_from", _instant, _written_instant)),
    "usage": (
        _needed("id", check.text),
        _needed("accesses", check.whole),
        Field("last_access", _instant, _written_instant),
        _needed("reviews", check.whole),
        Field("last_review", _instant, _written_instant),
        _needed("crossings", check.whole),
        _needed("rewards", _number),
        _needed("rewarded", check.whole),
        Field("spaced", _number),
    ),
    "record": (
        _needed("collection", check.text),
        _needed("key", _text),
        _needed("value", _any_json, json.loads),
    ),
}
_ALLOWED = {what: frozenset(("line", *(field.name for field in fields))) for what, fields in FIELDS.items()}


def line_of(what: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the store as the JSON object of a line, without missing values."""
    line: dict[str, Any] = {"line": what}
    for name, _, write, _ in FIELDS[what]:
        value = row[name]
        if value is not None and write is not None:
            value = write(value)
        if value is not None:
            line[name] = value
    return line


def values_of(what: str, line: Mapping[str, Any], problems: list[InputError]) -> list[Any]:
    """Return the values of a line in the order of its fields. Add each error to `problems`, with None as the value."""
    values: list[Any] = []
    for name, read, _, needed in FIELDS[what]:
        value = line.get(name)
        if value is None:
            if needed or name in line:
                problems.append(InputError(name, "a value", None))
            values.append(None)
            continue
        try:
            values.append(read(value, name))
        except InputError as problem:
            problems.append(problem)
            values.append(None)
    if not line.keys() <= _ALLOWED[what]:
        for name in line.keys() - _ALLOWED[what]:
            near = get_close_matches(name, _ALLOWED[what], 1)
            hint = f"Did you mean {near[0]}?" if near else None
            problems.append(InputError(name, f"only fields of a {what} line", "a field it does not have", hint=hint))
    return values
