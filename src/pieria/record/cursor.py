"""Cursors of paged answers: encode a position as short printable text, and check it when it comes back.

Each verb decides what its cursors hold. A cursor is not secret. Treat every value in it as untrusted input.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any

from pieria.errors import InputError
from pieria.record.json_text import parsed

LIMIT = 100_000
"""Most characters of a cursor: room for the thousands of rows that one large page may show. Usual pages need two or
three thousand characters.
"""
UNPACKED = 1 << 18
HINT = "Ask again without a cursor."


def mark_of(*asked: object) -> str:
    """Return a digest of a query, to check that a cursor continues it."""
    return hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def written(parts: Sequence[Any]) -> str:
    """Return JSON values as text of letters, digits, hyphens and underscores."""
    packed = zlib.compress(json.dumps(list(parts), separators=(",", ":")).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def parts_of(cursor: object, expected: str, number: int) -> list[Any]:
    """Return the `number` values of a cursor, or raise an `InputError` that names what is `expected`."""
    if isinstance(cursor, str) and 0 < len(cursor) <= LIMIT:
        try:
            found = _unpacked(cursor)
        except (ValueError, zlib.error):
            found = None
        if isinstance(found, list) and len(found) == number:
            return found
    raise foreign(cursor, expected)


def foreign(cursor: object, expected: str) -> InputError:
    """Return the error for a malformed cursor, or for a cursor of another query."""
    return InputError("cursor", expected, cursor, hint=HINT)


def _unpacked(cursor: str) -> Any:
    packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(packed, UNPACKED)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("not one whole piece")
    return parsed(plain)


def is_whole(value: object, low: int = 0, high: int = 2**53) -> bool:
    """Return whether it is a whole number within the bounds. Booleans do not count."""
    return type(value) is int and low <= value <= high


def is_share(value: object) -> bool:
    """Return whether it is a number from 0 to 1. Booleans do not count."""
    return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]
