"""Find similar vectors block by block, so only a few blocks are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Lines = NDArray[np.float32]

BLOCK = 2_048
HELD = 8
"""Blocks of one group kept in memory while the group is compared."""
EXACT = 1e-6
"""The precision of a cosine in single precision; a score must exceed the threshold by more than this."""

Vectors = Callable[[Sequence[int]], Mapping[int, Any]]


def best_alike(
    ranks: Sequence[int], vectors: Vectors, threshold: float, may: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield (rank, first earlier rank it may join whose cosine is above the threshold), in order."""
    import numpy as np

    read = _Blocks(ranks, vectors)
    for row in range(len(read)):
        left, lines = read[row]
        places = np.arange(len(left))
        for column in range(row + 1):
            others, across = read[column]
            if not len(places) or not others:
                continue
            hits = _hits(lines[places], across, threshold)
            if row == column:
                # Within one block, compare only with earlier rows.
                hits &= np.arange(len(others)) < places[:, None]
            found = np.zeros(len(places), dtype=np.bool_)
            for n in np.flatnonzero(hits.any(axis=1)).tolist():
                rank = left[places[n]]
                first = next((at for at in np.flatnonzero(hits[n]).tolist() if may(rank, others[at])), None)
                if first is not None:
                    found[n] = True
                    yield rank, others[first]
            places = places[~found]


def _hits(lines: Lines, across: Lines, threshold: float) -> NDArray[np.bool_]:
    if lines.shape[1] != across.shape[1]:
        expected = f"as many numbers in all of them, {across.shape[1]}"
        raise InputError("embedding", expected, lines.shape[1], hint="Embed all with one model.")
    hits: NDArray[np.bool_] = lines @ across.T > threshold + EXACT
    return hits


class _Blocks:
    """The ranks that have vectors, with their unit vectors, in blocks."""

    def __init__(self, ranks: Sequence[int], vectors: Vectors) -> None:
        self._parts = [ranks[begin : begin + BLOCK] for begin in range(0, len(ranks), BLOCK)]
        self._vectors = vectors
        self._read: dict[int, tuple[list[int], Lines]] = {}

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: int) -> tuple[list[int], Lines]:
        if number not in self._read:
            if len(self._read) >= HELD:
                self._read.pop(max(self._read))
            self._read[number] = self._made(number)
        return self._read[number]

    def _made(self, number: int) -> tuple[list[int], Lines]:
        import numpy as np

        held = self._vectors(self._parts[number])
        ranks = [rank for rank in self._parts[number] if rank in held]
        if not ranks:
            return [], np.zeros((0, 0), dtype=np.float32)
        lengths = {len(held[rank]) for rank in ranks}
        if len(lengths) > 1:
            expected = f"as many numbers in all of them, {min(lengths)}"
            raise InputError("embedding", expected, max(lengths), hint="Embed all with one model.")
        return ranks, directions([held[rank] for rank in ranks])


def directions(vectors: Sequence[Any]) -> Lines:
    """Return the vectors scaled to length one; a zero vector stays zero."""
    import numpy as np

    lines = np.asarray(vectors, dtype=np.float64)
    # Scale by the largest number first: squares of huge or tiny numbers overflow or underflow a float.
    largest = np.abs(lines).max(axis=1, keepdims=True)
    lines = lines / np.where(largest == 0, 1.0, largest)
    lengths = np.linalg.norm(lines, axis=1, keepdims=True)
    made: Lines = (lines / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)
    return made
