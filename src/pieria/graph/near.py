"""Similarity of in-memory nodes to queries. Each vector is normalized once and cached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.graph.nodes import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Line = NDArray[np.float32]


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
        asked = [_direction(question) for question in questions]
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
            held = self._made[node.id] = (node.embedding, _direction(node.embedding))
        return held[1]


def _direction(vector: Any) -> Line:
    """Return the vector with length one; a zero vector is unchanged."""
    import numpy as np

    line = np.asarray(vector, dtype=np.float64)
    # Scale by the largest number first: the squares of huge or tiny numbers exceed the range of a float.
    line = line / (np.abs(line).max() or 1.0)
    made: Line = (line / (np.linalg.norm(line) or 1.0)).astype(np.float32)
    return made
