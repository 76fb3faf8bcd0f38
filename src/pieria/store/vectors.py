"""How any store keeps vectors: as float16 of length one, little-endian; and as a code the signs of their numbers.

NumPy is imported where it is used: most commands of a process never see a vector.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

from pieria.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    """A line each."""
    Halves = NDArray[np.int16]
    Bytes = NDArray[np.uint8]

SINGLE = "<f4"
HALF = "<f2"
HALF_BITS = "<i2"
SPREAD_SIGN = 0x70000000
"""Where the sign of a half stands again, once it was widened to an integer and moved to the place of a float's."""
EXPONENT_SHIFT = 112
"""How much more a float's exponent is offset than that of a half."""
ROUNDS = 4
WORD = 64
"""Signs are packed into words, so that their differences can be counted a word at a time."""


def normalised(vectors: Sequence[Collection[float]], dimension: int) -> Floats:
    """One a line, each of length one; a vector of zeros stays what it is: similar to nothing."""
    import numpy as np

    for vector in vectors:
        if len(vector) != dimension:
            raise InputError("vector", f"{dimension} numbers, as the bank's space has", f"{len(vector)}")
    try:
        held = np.asarray(vectors, dtype=np.float32).reshape(len(vectors), dimension)
    except (TypeError, ValueError) as problem:
        raise InputError("vector", "numbers", type(vectors[0]).__name__) from problem
    if not np.isfinite(held).all():
        raise InputError("vector", "finite numbers", "one that is not")
    # By the largest number first: the squares of huge or tiny ones leave what a float can hold.
    largest = np.abs(held).max(axis=1, keepdims=True, initial=0.0)
    scaled = held / np.where(largest > 0, largest, 1)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1), dtype=np.float32)


def packed(vectors: Sequence[Collection[float]], dimension: int) -> list[bytes]:
    """What is stored of each."""
    return [line.tobytes() for line in normalised(vectors, dimension).astype(HALF)] if vectors else []


def halves(stored: Sequence[bytes], dimension: int) -> Halves:
    """The bits of the numbers as they are stored, a line each."""
    import numpy as np

    return np.frombuffer(b"".join(stored), dtype=HALF_BITS).reshape(len(stored), dimension)


def singles(halves: Halves) -> Floats:
    """Bit by bit what NumPy's own conversion gives, in a fifth of its time, which was half of a look for neighbours."""
    import numpy as np

    bits = halves.astype("<i4")
    bits <<= 13
    bits &= ~SPREAD_SIGN
    floats = bits.view(SINGLE)
    floats *= np.float32(2.0**EXPONENT_SHIFT)
    return floats


def unpacked(stored: Sequence[bytes], dimension: int) -> Floats:
    return singles(halves(stored, dimension))


def alike(vectors: Floats, question: Floats) -> Floats:
    """How similar each is to the question, all of length one.

    Line by line, since a product of the whole wakes a thread for every processor, and waiting for these takes longer
    than multiplying where there is other work on the machine.
    """
    import numpy as np

    return np.asarray(np.vecdot(vectors, question), dtype=np.float32)


def turned(vectors: Floats) -> Floats:
    """The same vectors after a rotation that is the same everywhere and mixes every number into all others.

    Embedders put most of what they tell into few of their numbers. Turned, all numbers tell about as much, and so do
    their signs: the ten nearest are found among a tenth of the candidates.
    """
    import numpy as np

    held = vectors.astype(np.float32, copy=True)
    dimension = held.shape[1]
    size = 1 << (dimension.bit_length() - 1)
    left, right = (_hadamard(1 << bits) for bits in (size.bit_length() // 2, (size.bit_length() - 1) // 2))
    for turn in range(ROUNDS):
        # The largest power of two that fits, from the front and from the back by turns.
        part = held[:, :size] if turn % 2 == 0 else held[:, dimension - size :]
        square = (part * _flips(turn, size)).reshape(-1, len(left), len(right))
        part[:] = (left @ square @ right).reshape(-1, size)
    return held


@cache
def _hadamard(size: int) -> Floats:
    import numpy as np

    held = np.ones((1, 1), dtype=np.float32)
    while len(held) < size:
        held = np.block([[held, held], [held, -held]])
    return np.asarray(held / np.sqrt(np.float32(size)), dtype=np.float32)


@cache
def _flips(turn: int, size: int) -> Floats:
    """Signs that look random and never change: codes are kept in files."""
    import numpy as np

    mixed = np.arange(turn * size + 1, (turn + 1) * size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.where(mixed >> np.uint64(63), np.float32(1), np.float32(-1))


def signs(vectors: Floats) -> Bytes:
    """Of turned vectors: a line of bytes each, filled up to whole words."""
    import numpy as np

    bits = np.packbits(vectors > 0, axis=1)
    filled = np.zeros((len(bits), code_width(vectors.shape[1])), dtype=np.uint8)
    filled[:, : bits.shape[1]] = bits
    return filled


def code_width(dimension: int) -> int:
    """Bytes of a code."""
    return -(-dimension // WORD) * WORD // 8
