"""The checksum of a row's values. Which columns of a file have one belongs to the store."""

from __future__ import annotations

from collections.abc import Sequence
from marshal import dumps
from typing import Any
from zlib import crc32

FORMAT = 2
"""Of `marshal`: the values alone decide its bytes, on every machine and in every Python that can read them."""


_PLAIN = frozenset({str, int, float, bytes, type(None)})


def sum_of(values: Sequence[Any]) -> int:
    """Return the checksum of texts, numbers, bytes and Nones in their order."""
    # Of a subclass `marshal` writes whatever buffer it has, and the database gives back the plain value.
    plain = values if _PLAIN.issuperset(map(type, values)) else map(_plain, values)
    return crc32(dumps(tuple(plain), FORMAT))


def _plain(value: Any) -> Any:
    """Return a value of a subclass as the database gives it back."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    return value
