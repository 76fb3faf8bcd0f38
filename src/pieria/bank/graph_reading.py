"""What one search has read of a bank's graph: of a memory nothing is read twice, however many looks meet it.

It is made for one search and ends with it, so that nothing in it outlives what it was read from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pieria.bank.graph_writing import metadata_of
from pieria.bank.grounding import taken
from pieria.bank.using import with_noted
from pieria.graph.memories import node_of
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import EDGES, NODE_TYPES, Node, Ties
from pieria.record.filter import Filter
from pieria.record.time import micros
from pieria.record.usage import UNUSED
from pieria.store.parts import Said, Spot, Tie
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.bank.graph import BankGraph

    Floats = NDArray[np.float32]


class GraphReading:
    def __init__(self, graph: BankGraph) -> None:
        self._graph = graph
        self._filters: dict[tuple[str, ...], Filter] = {}
        self._spots: dict[int, Spot | None] = {}
        self._rows: dict[str, int] = {}
        self._metadata: dict[str, NodeMetadata] = {}
        self._new: dict[int, NodeMetadata] = {}
        self._ties: dict[str, list[Tie]] = {}
        self._vectors: dict[int, list[Floats]] = {}

    def filter(self, types: Sequence[str] = NODE_TYPES) -> Filter:
        asked = tuple(types)
        if asked not in self._filters:
            whole = self._filters.get(NODE_TYPES) or self._graph._filter()
            self._filters[asked] = whole.having(kinds=self._graph._kinds(asked))
        return self._filters[asked]

    def type_of(self, spot: Spot) -> str:
        return self._graph._seen.get(spot.kind, spot.kind)

    def row_of(self, id: str) -> int:
        """Of a memory that was met."""
        return self._rows[id]

    def spots(self, reader: Reader, rows: Iterable[int], types: Sequence[str]) -> dict[int, Spot]:
        """Of these rows those that may be seen and are of one of the types."""
        asked = list(dict.fromkeys(rows))
        new = [row for row in asked if row not in self._spots]
        if new:
            self._spots.update(dict.fromkeys(new))
            self._meet(reader.spots(new, self.filter()))
        kinds = self.filter(types).kinds or ()
        held = ((row, self._spots[row]) for row in asked)
        return {row: spot for row, spot in held if spot is not None and spot.kind in kinds}

    def ties(self, reader: Reader, ids: Sequence[str]) -> dict[str, list[Tie]]:
        """Of each of these its ties to what may be seen."""
        new = [id for id in ids if id not in self._ties]
        if new:
            self._ties.update((id, []) for id in new)
            for tie in reader.ties_of(new, self.filter()):
                self._ties[tie.id].append(tie)
        return {id: self._ties[id] for id in ids}

    def ends(self, ties: Iterable[Tie]) -> list[int]:
        """The rows they lead to."""
        found = []
        for tie in ties:
            if tie.other not in self._rows:
                self._meet([Spot(tie.row, tie.other, tie.kind, tie.at, tie.known_from)])
            found.append(self._rows[tie.other])
        return found

    def _meet(self, spots: Iterable[Spot]) -> None:
        for spot in spots:
            self._spots[spot.row] = spot
            self._rows[spot.id] = spot.row

    def vectors(self, reader: Reader, rows: Sequence[int]) -> tuple[list[int], Floats]:
        """The row that each vector belongs to, and the vectors line by line."""
        import numpy as np

        new = [row for row in rows if row not in self._vectors]
        owners, lines = reader.stacked(new)
        self._vectors.update((row, []) for row in new)
        for row, line in zip(owners, lines, strict=True):
            self._vectors[row].append(line)
        if len(new) == len(rows):
            return owners, lines
        held = [(row, line) for row in rows for line in self._vectors[row]]
        return [row for row, _ in held], np.array([line for _, line in held], dtype=np.float32)

    def metadata(self, reader: Reader, spots: Iterable[Spot]) -> Mapping[str, NodeMetadata]:
        """Of these, among others."""
        new = {spot.id: spot for spot in spots if spot.id not in self._metadata}
        if not new:
            return self._metadata
        ids, noted = list(new), self._graph._bank._uses.noted(new)
        usage, seq, penalties = reader.usage(ids), reader.head().seq, taken(reader, ids)
        for id, spot in new.items():
            if id in usage or id in noted or id in penalties:
                used = with_noted(usage.get(id, UNUSED), noted.get(id, ()), seq)
                self._metadata[id] = metadata_of(used, spot.known_from, penalties.get(id, 0.0))
            else:
                self._metadata[id] = self._unused(spot.known_from)
        return self._metadata

    def _unused(self, known_from: int) -> NodeMetadata:
        """What is learnt together is known from one moment, and most of it was never asked for."""
        if known_from not in self._new:
            self._new[known_from] = metadata_of(UNUSED, known_from, 0.0)
        return self._new[known_from]

    def nodes(self, reader: Reader, ids: Sequence[str]) -> list[Node]:
        """As they were met; what was changed since comes as it stands by now, if it may be seen."""
        standing = self._as_met(reader, [self.row_of(id) for id in ids])
        changed = [id for id in ids if id not in standing]
        later = self._graph._nodes(reader, self._graph._memories(reader, changed)) if changed else []
        self.ties(reader, list(standing))
        self.vectors(reader, [said.row for said in standing.values()])
        return [*map(self._node, standing.values()), *later]

    def _as_met(self, reader: Reader, rows: Sequence[int]) -> dict[str, Said]:
        found = reader.said(rows, self.filter()) if rows else []
        held = ((said, self._spots[said.row]) for said in found)
        return {said.id: said for said, spot in held if spot is not None and micros(said.known_from) == spot.known_from}

    def _node(self, said: Said) -> Node:
        tied: dict[str, list[str]] = {edge: [] for edge in EDGES}
        for tie in self._ties[said.id]:
            if tie.relation in tied:
                tied[tie.relation].append(tie.other)
        links = Ties({edge: frozenset(others) for edge, others in tied.items()})
        return node_of(said, links, whole(self._vectors[said.row]))


def whole(vectors: Sequence[Floats]) -> list[float] | None:
    """One vector for the passages of a text: their mean."""
    if not vectors:
        return None
    middle = vectors[0] if len(vectors) == 1 else sum(vectors[1:], vectors[0]) / len(vectors)
    mean: list[float] = middle.tolist()
    return mean
