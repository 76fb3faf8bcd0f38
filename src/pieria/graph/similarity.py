"""The similarity of vectors: of two, and of nodes to queries. Each node's vector is normalized once and cached."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.graph.nodes import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Line = NDArray[np.float32]

EXACT = 1e-6
"""The precision of a cosine in single precision."""


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


class Directions:
    """The normalized vectors of nodes, by id. Threads may share it: at worst a vector is computed twice."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Any, Line]] = {}

    def forget(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._made.pop(id, None)

    def relevances(self, nodes: Sequence[Node], questions: Sequence[Sequence[float]]) -> list[float]:
        """Return each node's cosine to the nearest query, at least 0; 0 for a node without a vector."""
        import numpy as np

        places = [place for place, node in enumerate(nodes) if node.embedding is not None]
        relevances = [0.0] * len(nodes)
        if not places:
            return relevances
        lines = [self._of(nodes[place]) for place in places]
        asked = [directions([question])[0] for question in questions]
        lengths = {len(line) for line in (*lines, *asked)}
        if len(lengths) > 1:
            expected = f"as many numbers as the embeddings of the nodes have, {len(lines[0])}"
            raise InputError("query_embedding", expected, sorted(lengths), hint="Embed all with one model.")
        nearest = (np.stack(lines) @ np.stack(asked).T).max(axis=1)
        for place, relevance in zip(places, nearest.tolist(), strict=True):
            relevances[place] = min(1.0, max(0.0, relevance))
        return relevances

    def _of(self, node: Node) -> Line:
        held = self._made.get(node.id)
        if held is None or held[0] is not node.embedding:
            held = self._made[node.id] = (node.embedding, directions([node.embedding])[0])
        return held[1]


def directions(vectors: Sequence[Any]) -> Line:
    """Return the vectors scaled to length one; a zero vector stays zero."""
    import numpy as np

    lines = np.asarray(vectors, dtype=np.float64)
    # Scale by the largest number first: squares of huge or tiny numbers overflow or underflow a float.
    largest = np.abs(lines).max(axis=1, keepdims=True)
    lines = lines / np.where(largest == 0, 1.0, largest)
    lengths = np.linalg.norm(lines, axis=1, keepdims=True)
    made: Line = (lines / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)
    return made
