"""How a place to go on from travels to a reader and back: one short printable text, checked on its return.

Exists so that every verb that answers in pages writes and reads cursors alike. What a cursor says is its verb's own
business; nothing in it is secret, and nothing in it is believed before it has been checked.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

from pieria.errors import InputError
from pieria.record.json_text import parsed

LIMIT = 100_000
"""Characters of a cursor: room for the thousands of rows that were shown to one who asked for so many at once. Those
of usual pages have two or three thousand.
"""
UNPACKED = 1 << 18
HINT = "Ask again without a cursor."


def written(parts: Sequence[Any]) -> str:
    """Values that JSON can hold, as a text of letters, digits, hyphens and underscores."""
    packed = zlib.compress(json.dumps(list(parts), separators=(",", ":")).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def parts_of(cursor: object, expected: str, number: int) -> list[Any]:
    """What was written, if it is `number` values; else an `InputError` that asks for what is `expected`."""
    if isinstance(cursor, str) and 0 < len(cursor) <= LIMIT:
        try:
            found = _unpacked(cursor)
        except (ValueError, zlib.error):
            found = None
        if isinstance(found, list) and len(found) == number:
            return found
    raise foreign(cursor, expected)


def foreign(cursor: object, expected: str) -> InputError:
    """The error for a cursor that is none, or not of what is asked."""
    return InputError("cursor", expected, cursor, hint=HINT)


def _unpacked(cursor: str) -> Any:
    packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(packed, UNPACKED)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("not one whole piece")
    return parsed(plain)


def is_whole(value: object, low: int = 0, high: int = 2**53) -> bool:
    """Whether it is a whole number within the bounds, and no truth value."""
    return type(value) is int and low <= value <= high


def is_share(value: object) -> bool:
    """Whether it is a number from 0 to 1, and no truth value."""
    return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]
