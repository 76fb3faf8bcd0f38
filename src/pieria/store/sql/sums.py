"""Checksums of a row's values. Each store decides which columns have one."""

from __future__ import annotations

from collections.abc import Sequence
from marshal import dumps
from typing import Any
from zlib import crc32

FORMAT = 2
"""A `marshal` format whose bytes depend only on the values, on every machine and in every Python that reads it."""


_PLAIN = frozenset({str, int, float, bytes, type(None)})


def sum_of(values: Sequence[Any]) -> int:
    """Return the checksum of texts, numbers, bytes and Nones in their order."""
    # For a subclass `marshal` writes its raw buffer, but the database returns the plain value.
    plain = values if _PLAIN.issuperset(map(type, values)) else map(_plain, values)
    return crc32(dumps(tuple(plain), FORMAT))


def _plain(value: Any) -> Any:
    """Return a value of a subclass as the plain value that the database returns."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    return value
