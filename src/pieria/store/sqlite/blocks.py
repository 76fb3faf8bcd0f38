"""The stored form of codes: blocks. A process loads them instead of the vectors.

A block is 1,024 consecutive entries of all kinds: first their rows, then their kinds, then their codes. Deleted and
unused entries are all zeros.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pieria.store.sql.embedded import SPACE_ENTRIES
from pieria.store.sql.session import UnreadableRow
from pieria.store.vectors import signs, turned, unpacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE = SPACE_ENTRIES
ROW = 8
LIKE = 16
"""Divisor: at most 1/16 of a code's signs may differ from those of its vector."""
KINDS = {"passage": 1, "window": 2, "rule": 3, "lead": 4}
NAMES = {number: name for name, number in KINDS.items()}


class Entries(NamedTuple):
    """Some entries, one a line: number, row, number of the kind, and code."""

    entries: NDArray[np.int64]
    rows: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    codes: NDArray[np.uint8]


def block_of(entry: int) -> int:
    return entry // SIZE


def parts(entry: int, width: int) -> list[tuple[int, int]]:
    """Return (offset, length) of the parts of a block that hold the entry."""
    place = entry % SIZE
    return [(place * ROW, ROW), (SIZE * ROW + place, 1), (SIZE * (ROW + 1) + place * width, width)]


def width_of(length: int) -> int:
    """Return the bytes of a code in a block of this length."""
    width, rest = divmod(length - SIZE * (ROW + 1), SIZE)
    if rest or width <= 0:
        raise UnreadableRow(f"a block of codes of {length} bytes")
    return width


def coded(stored: Iterable[tuple[int, int, str, bytes]], dimension: int) -> Entries:
    """Build entries from rows of `entry, row, what, vector`."""
    import numpy as np

    held = list(stored)
    for entry, _, what, vector in held:
        if what not in KINDS or len(vector) != 2 * dimension:
            raise UnreadableRow(f"the vector of entry {entry}")
    return Entries(
        np.array([entry for entry, *_ in held], dtype=np.int64),
        np.array([row for _, row, *_ in held], dtype=np.int64),
        np.array([KINDS[what] for _, _, what, _ in held], dtype=np.uint8),
        signs(turned(unpacked([vector for *_, vector in held], dimension))),
    )


def written(held: Entries) -> bytes:
    """Return the block of these entries, which must all belong to it."""
    import numpy as np

    places = held.entries % SIZE
    rows = np.zeros(SIZE, dtype="<i8")
    kinds = np.zeros(SIZE, dtype=np.uint8)
    codes = np.zeros((SIZE, held.codes.shape[1]), dtype=np.uint8)
    rows[places], kinds[places], codes[places] = held.rows, held.kinds, held.codes
    return rows.tobytes() + kinds.tobytes() + codes.tobytes()


def agree(block: int, stored: bytes | None, held: Entries) -> bool:
    """Return whether a block has exactly these entries, with the codes of their vectors.

    Processors may round numbers close to zero to different signs, so a few signs may differ.
    """
    import numpy as np

    if stored is None:
        return not len(held.entries)
    found = read(block, stored)
    if found.codes.shape[1] != held.codes.shape[1] or not np.array_equal(found.entries, held.entries):
        return False
    same = np.array_equal(found.rows, held.rows) and np.array_equal(found.kinds, held.kinds)
    differing = np.bitwise_count(found.codes ^ held.codes).sum(axis=1, initial=0)
    return bool(same and (differing <= held.codes.shape[1] * 8 // LIKE).all())


def read(block: int, stored: bytes) -> Entries:
    import numpy as np

    width = width_of(len(stored))
    rows = np.frombuffer(stored, dtype="<i8", count=SIZE).astype(np.int64)
    kinds = np.frombuffer(stored, dtype=np.uint8, count=SIZE, offset=SIZE * ROW)
    codes = np.frombuffer(stored, dtype=np.uint8, offset=SIZE * (ROW + 1)).reshape(SIZE, width)
    there = np.flatnonzero(kinds)
    return Entries(block * SIZE + there, rows[there], kinds[there], codes[there])
