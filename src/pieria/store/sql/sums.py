"""The checksum of a row's values. Which columns of a file have one belongs to the store."""

from __future__ import annotations

from collections.abc import Sequence
from marshal import dumps
from typing import Any
from zlib import crc32

FORMAT = 2
"""Of `marshal`: the values alone decide its bytes, on every machine and in every Python that can read them."""


def sum_of(values: Sequence[Any]) -> int:
    """Return the checksum of texts, numbers, bytes and Nones in their order."""
    try:
        return crc32(dumps(tuple(values), FORMAT))
    except ValueError:
        return crc32(dumps(tuple(map(_plain, values)), FORMAT))


def _plain(value: Any) -> Any:
    """Return a value of a subclass as the database gives it back."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    return value
