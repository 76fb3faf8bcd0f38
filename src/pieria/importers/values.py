"""Read loosely typed values of other systems. A value of another type counts as missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pieria.errors import InputError
from pieria.record.time import instant

_CONTROLS = dict.fromkeys((*range(32), 127), " ")


def text_of(value: object) -> str | None:
    """Return a text that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def name_of(value: object) -> str | None:
    """Return a text or a number as a name on one line, without control characters."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return " ".join(value.translate(_CONTROLS).split())[:1_000] or None if isinstance(value, str) else None


def names_of(value: object) -> list[str]:
    """Return the names in a list, or those of a text with commas, each once."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return []
    return list(dict.fromkeys(name for each in value if (name := name_of(each)) is not None))


def number_of(value: object, usual: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return a number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return usual
    return min(high, max(low, float(value)))


def moment_of(value: object) -> datetime | None:
    """Return a time: ISO 8601 text, or seconds since the epoch. Milliseconds count as such."""
    if isinstance(value, bool) or value in (None, "", 0):
        return None
    if isinstance(value, int | float) and value > 100_000_000_000:
        value = value / 1000
    try:
        return instant(value, "time")
    except InputError:
        return None


def object_of(value: object) -> dict[str, Any]:
    """Return an object that a bank can keep as JSON; a text that holds one is parsed."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return dict(value) if isinstance(value, Mapping) else {}


def without_nothing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are there."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}


def digest_of(*values: object) -> str:
    """Return a digest of values, for records without an id of their own."""
    written = json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:32]
