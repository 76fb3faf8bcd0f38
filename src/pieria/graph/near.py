"""How near nodes in memory are to questions. Each vector is brought to the length of one once, as long as it stands."""

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
    """The directions of the vectors of nodes, by their ids. Threads may share it: at worst one is made twice."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Any, Line]] = {}

    def forget(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._made.pop(id, None)

    def relevances(self, nodes: Sequence[Node], questions: Sequence[Sequence[float]]) -> list[float]:
        """Of each node the cosine to the nearest question, at least 0; 0 of one that has no vector."""
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
    """Of length one; a vector of zeros stays what it is."""
    import numpy as np

    line = np.asarray(vector, dtype=np.float64)
    # By the largest number first: the squares of huge or tiny ones leave what a float can hold.
    line = line / (np.abs(line).max() or 1.0)
    made: Line = (line / (np.linalg.norm(line) or 1.0)).astype(np.float32)
    return made
