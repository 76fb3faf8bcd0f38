"""Checks of single values: each returns the value in stored form or raises `InputError`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pieria.errors import InputError
from pieria.record.memory import End

TEXT_LIMIT = 1 << 20
"""UTF-8 bytes of a text, and of a memory's body and meta."""
NAME_LIMIT = 500
LABELS_LIMIT = 1000
DEPTH_LIMIT = 50
SPLIT = "split it into several memories"


def text(value: object, parameter: str, limit: int = TEXT_LIMIT, too_long: str = SPLIT) -> str:
    """Return a non-blank text that every store can hold."""
    if not isinstance(value, str):
        raise InputError(parameter, "a text", value)
    if "\0" in value:
        raise InputError(parameter, "a text without NUL characters", value, hint="Remove the \\0 characters.")
    if not value or value.isspace():
        raise InputError(parameter, "a text that is not blank", value)
    if value.isascii():
        size = len(value)
    else:
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise InputError(
                parameter,
                "valid Unicode",
                value,
                hint="It holds half of a surrogate pair; decode it with errors='replace' first.",
            ) from None
    if size > limit:
        raise InputError(parameter, f"at most {limit:,} bytes", value, hint=f"It has {size:,} bytes; {too_long}.")
    return value


def name(value: object, parameter: str) -> str:
    """Return a short one-line text, trimmed."""
    kept = text(value, parameter, 4 * NAME_LIMIT, "shorten it").strip()
    if len(kept) > NAME_LIMIT:
        raise InputError(parameter, f"at most {NAME_LIMIT} characters", kept)
    if not kept.isprintable() and any(ord(c) < 32 or ord(c) == 127 for c in kept):
        raise InputError(parameter, "a name without control characters", value)
    return kept


def identifier(value: object, parameter: str) -> str:
    """Return an id unchanged: ids may come from other systems."""
    name(value, parameter)
    assert isinstance(value, str)
    return value


def identifiers(value: object, parameter: str) -> tuple[str, ...]:
    """Return one or several ids without duplicates, in the given order."""
    items = (value,) if isinstance(value, str) else value
    if isinstance(items, bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError(parameter, "an id or a list of ids", value)
    kept = tuple(dict.fromkeys(identifier(item, parameter) for item in items))
    if not kept:
        raise InputError(parameter, "at least one id", value)
    return kept


def one_of(value: object, parameter: str, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    near = get_close_matches(value, allowed, 1) if isinstance(value, str) else []
    raise InputError(
        parameter, "one of " + ", ".join(allowed), value, hint=f"Did you mean {near[0]}?" if near else None
    )


def number(value: object, parameter: str, low: float = 0.0, high: float = 1.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(parameter, f"a number from {low:g} to {high:g}", value)
    return float(value)


def whole(value: object, parameter: str, low: int = 0, high: int = 2**53) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(parameter, f"a whole number from {low} to {high:,}", value)
    return value


def flag(value: object, parameter: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(parameter, "true or false", value)
    return value


def names(value: object, parameter: str) -> tuple[str, ...]:
    """Return a list of short texts, trimmed, without duplicates, in the given order."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(parameter, "a list of texts", value, hint=f'Write {parameter}=["…"].')
    kept = dict.fromkeys(name(item, parameter) for item in value)
    if len(kept) > LABELS_LIMIT:
        raise InputError(parameter, f"at most {LABELS_LIMIT} of them", f"{len(kept)}")
    return tuple(kept)


def choices(value: object, parameter: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return one or several of the allowed names. A single name needs no list."""
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, Iterable):
        raise InputError(parameter, "one or several of " + ", ".join(allowed), value)
    return tuple(dict.fromkeys(one_of(item, parameter, allowed) for item in items))


def mapping(value: object, parameter: str) -> str | None:
    """Return a mapping as JSON text in canonical form, or None if it is empty. It must survive JSON unchanged."""
    if not isinstance(value, Mapping):
        raise InputError(parameter, "a mapping of JSON values", value)
    if not value:
        return None
    _json(value, parameter, 0)
    written = json.dumps(_thawed(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text(written, parameter)


def spelt_place(value: object) -> object:
    """Return a place as text if it came as the end of a link."""
    return value.name if isinstance(value, End) and value.what == "place" else value


def place(value: object, parameter: str = "place") -> str:
    value = spelt_place(value)
    return _place(value, parameter) if isinstance(value, str) else name(value, parameter)


@lru_cache(1024)
def _place(value: str, parameter: str) -> str:
    kept = name(value, parameter)
    wing, slash, room = (part.strip() for part in kept.partition("/"))
    if not (wing and slash and room) or "/" in room:
        raise InputError(parameter, "a place spelt wing/room", value, hint='For example "billing/decisions".')
    return f"{wing}/{room}"


def _json(value: object, parameter: str, depth: int) -> None:
    if depth > DEPTH_LIMIT:
        raise InputError(parameter, f"at most {DEPTH_LIMIT} levels of nesting", "a deeper one")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InputError(parameter, "texts as keys", key)
            _json(key, parameter, depth + 1)
            _json(item, parameter, depth + 1)
    elif isinstance(value, str):
        # Check here, because JSON escapes the character and the check of the written text would miss it.
        if "\0" in value:
            raise InputError(parameter, "texts without NUL characters", value, hint="Remove the \\0 characters.")
    elif isinstance(value, list | tuple):
        for item in value:
            _json(item, parameter, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(parameter, "finite numbers", value)
    elif value is not None and not isinstance(value, int | bool):
        raise InputError(parameter, "JSON values", value)


def _thawed(value: Any) -> Any:
    """Return plain dicts and lists at every level: `json` accepts no other mapping."""
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_thawed(item) for item in value]
    return value


def keywords(given: Mapping[str, Any], known: type, verb: str) -> None:
    """Raise `TypeError` for a keyword that the `TypedDict` of a verb's keywords does not have."""
    for name in given:
        if name not in known.__annotations__:
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}")
