"""The stored form of vectors in every store: float16 of unit length, little-endian, and codes made of their signs.

NumPy is imported where it is used: most commands never see a vector.
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
    """One vector a line."""
    Halves = NDArray[np.int16]
    Bytes = NDArray[np.uint8]

SINGLE = "<f4"
HALF = "<f2"
HALF_BITS = "<i2"
SPREAD_SIGN = 0x70000000
"""Copies of a half's sign bit, after widening the half to an integer and shifting it to a float's place."""
EXPONENT_SHIFT = 112
"""Difference between the exponent offsets of a float and a half."""
ROUNDS = 4
WORD = 64
"""Signs are packed into words of this many bits, so that differences are counted a word at a time."""


def normalised(vectors: Sequence[Collection[float]], dimension: int) -> Floats:
    """Return unit vectors, one a line; a vector of zeros is kept, and is similar to nothing."""
    import numpy as np

    for vector in vectors:
        if len(vector) != dimension:
            raise InputError("vector", f"{dimension} numbers, as in the bank's space", f"{len(vector)}")
    try:
        held = np.asarray(vectors, dtype=np.float32).reshape(len(vectors), dimension)
    except (TypeError, ValueError) as problem:
        raise InputError("vector", "numbers", type(vectors[0]).__name__) from problem
    if not np.isfinite(held).all():
        raise InputError("vector", "finite numbers", "one that is not")
    # Divide by the largest number first: squares of huge or tiny numbers leave a float's range.
    largest = np.abs(held).max(axis=1, keepdims=True, initial=0.0)
    scaled = held / np.where(largest > 0, largest, 1)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1), dtype=np.float32)


def packed(vectors: Sequence[Collection[float]], dimension: int) -> list[bytes]:
    """Return the stored form of each vector."""
    return [line.tobytes() for line in normalised(vectors, dimension).astype(HALF)] if vectors else []


def halves(stored: Sequence[bytes], dimension: int) -> Halves:
    """Return the bits of the stored numbers, one vector a line."""
    import numpy as np

    return np.frombuffer(b"".join(stored), dtype=HALF_BITS).reshape(len(stored), dimension)


def singles(halves: Halves) -> Floats:
    """Return floats, bit for bit as NumPy converts them. NumPy takes five times as long: half of a search's time."""
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
    """Return each vector's similarity to the query, all of unit length.

    Computed line by line: a matrix product wakes a thread for every processor. On a busy machine, waiting for the
    threads takes longer than multiplying.
    """
    import numpy as np

    return np.asarray(np.vecdot(vectors, question), dtype=np.float32)


def turned(vectors: Floats) -> Floats:
    """Return the vectors after a fixed rotation that mixes every number into all others.

    Embedders put most of the information into few numbers. After the rotation all numbers, and so their signs, tell
    about equally much. The ten nearest are found among a tenth of the candidates.
    """
    import numpy as np

    held = vectors.astype(np.float32, copy=True)
    dimension = held.shape[1]
    size = 1 << (dimension.bit_length() - 1)
    left, right = (_hadamard(1 << bits) for bits in (size.bit_length() // 2, (size.bit_length() - 1) // 2))
    for turn in range(ROUNDS):
        # The largest power of two that fits, alternating between the front and the back.
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
    """Return signs that look random but never change: codes are stored in files."""
    import numpy as np

    mixed = np.arange(turn * size + 1, (turn + 1) * size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.where(mixed >> np.uint64(63), np.float32(1), np.float32(-1))


def signs(vectors: Floats) -> Bytes:
    """Return the sign bits of rotated vectors, one a line of bytes, padded to whole words."""
    import numpy as np

    bits = np.packbits(vectors > 0, axis=1)
    filled = np.zeros((len(bits), code_width(vectors.shape[1])), dtype=np.uint8)
    filled[:, : bits.shape[1]] = bits
    return filled


def code_width(dimension: int) -> int:
    """Return the number of bytes of a code."""
    return -(-dimension // WORD) * WORD // 8
