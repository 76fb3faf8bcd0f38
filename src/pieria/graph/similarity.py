"""The similarity of two vectors."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence

from pieria.errors import InputError


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine, from -1 to 1; 0 for a zero or empty vector."""
    if len(a) != len(b):
        raise InputError("b", f"as many numbers as in a, {len(a)}", len(b))
    # Scale by the largest number first: the squares of huge or tiny numbers exceed the range of a float.
    one, other = _scaled(a), _scaled(b)
    lengths = math.hypot(*one) * math.hypot(*other)
    if not lengths or not math.isfinite(lengths):
        return 0.0
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths))


def top_k(
    query: Sequence[float], candidates: Iterable[tuple[str, Sequence[float] | None]], k: int
) -> list[tuple[str, float]]:
    """Return the k most similar, best first, without those that have no vector. Equal ones keep their order."""
    scored = [(id, cosine_similarity(query, vector)) for id, vector in candidates if vector is not None]
    return heapq.nlargest(k, scored, key=lambda found: found[1])


def _scaled(vector: Sequence[float]) -> list[float]:
    largest = max(map(abs, vector), default=0.0)
    return [float(number) / float(largest) for number in vector] if largest else [0.0] * len(vector)
