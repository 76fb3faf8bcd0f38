"""The cache of one search in a bank's graph: nothing is read twice.

It lives only as long as the search. It ranks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from pieria.bank.graph.grounding import taken
from pieria.bank.graph.write import metadata_of
from pieria.bank.read.usage import with_noted
from pieria.graph.memories import node_of
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import EDGES, NODE_TYPES, Node, Ties
from pieria.record.filter import Filter
from pieria.record.memory import Memory
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED
from pieria.store.parts import Tie
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.bank.graph.verbs import BankGraph

    Floats = NDArray[np.float32]


class Met(NamedTuple):
    """A node that was met: its type, its time, and the known time of its state, in microseconds."""

    id: str
    node_type: str
    at: datetime
    known_from: int


class GraphReading:
    def __init__(self, graph: BankGraph) -> None:
        self._graph = graph
        self._filters: dict[tuple[str, ...], Filter] = {}
        self._met: dict[str, Met] = {}
        self._memories: dict[str, Memory] = {}
        self._metadata: dict[str, NodeMetadata] = {}
        self._new: dict[int, NodeMetadata] = {}
        self._ties: dict[str, list[Tie]] = {}

    def filter(self, types: Sequence[str] = NODE_TYPES) -> Filter:
        """Return the filter for visible nodes, as of the beginning of the search."""
        asked = tuple(types)
        if asked not in self._filters:
            whole = self._filters.get(NODE_TYPES) or self._graph._filter()
            self._filters.setdefault(NODE_TYPES, whole)
            self._filters[asked] = whole.having(kinds=self._graph._kinds(asked))
        return self._filters[asked]

    def meet(self, memory: Memory) -> Met:
        """Keep a memory that was found, so that its node is made from this version."""
        self._memories[memory.id] = memory
        return self._noted(Met(memory.id, self._type(memory.kind), memory.at, micros(memory.known_from)))

    def met(self, id: str) -> Met:
        return self._met[id]

    def ties(self, reader: Reader, ids: Sequence[str], types: Sequence[str]) -> dict[str, list[Met]]:
        """Return the neighbours of each id among nodes of these types, latest edge first."""
        new = [id for id in ids if id not in self._ties]
        if new:
            self._ties.update((id, []) for id in new)
            for tie in reader.ties_of(new, self.filter()):
                self._ties[tie.id].append(tie)
        kinds = self.filter(types).kinds or ()
        newest_first = {id: sorted(self._ties[id], key=lambda tie: -tie.entry) for id in ids}
        return {id: [self._end(tie) for tie in ties if tie.kind in kinds] for id, ties in newest_first.items()}

    def tied(self, reader: Reader, ids: Sequence[str], types: Sequence[str], most: int) -> dict[str, list[Met]]:
        """Return at most `most` neighbours of each id, for nodes with very many."""
        filter = self.filter(types)
        rows = reader.tied(list(ids), filter, most) if ids else {}
        every = list(dict.fromkeys(row for of in rows.values() for row in of))
        spots = {spot.row: spot for spot in reader.spots(every, filter)} if every else {}
        met = {
            row: self._noted(Met(spot.id, self._type(spot.kind), moment(spot.at), spot.known_from))
            for row, spot in spots.items()
        }
        return {id: [met[row] for row in of if row in met] for id, of in rows.items()}

    def metadata(self, reader: Reader, ids: Iterable[str]) -> Mapping[str, NodeMetadata]:
        """Return metadata that includes these ids."""
        new = [id for id in dict.fromkeys(ids) if id not in self._metadata]
        if not new:
            return self._metadata
        usage, noted = reader.usage(new), self._graph._bank.core.uses.noted(new)
        seq, penalties = reader.head().seq, taken(reader, new)
        for id in new:
            known_from = self._met[id].known_from
            if id in usage or id in noted or id in penalties:
                used = with_noted(usage.get(id, UNUSED), noted.get(id, ()), seq)
                self._metadata[id] = metadata_of(used, known_from, penalties.get(id, 0.0))
            else:
                self._metadata[id] = self._unused(known_from)
        return self._metadata

    def nodes(self, reader: Reader, ids: Sequence[str]) -> list[Node]:
        """Return the nodes of these ids in the versions found, or else in their current version."""
        found = [self._memories[id] for id in ids if id in self._memories]
        others = [id for id in ids if id not in self._memories]
        self.ties(reader, [memory.id for memory in found], NODE_TYPES)
        # Rows of the user's bank are not rows of this bank.
        own = [memory.row for memory in found if self._is_own(memory)]
        vectors: dict[int, list[Floats]] = {}
        for row, line in zip(*reader.stacked(own), strict=True) if own else ():
            vectors.setdefault(row, []).append(line)
        made = {
            memory.id: self._node(memory, vectors.get(memory.row, ()) if self._is_own(memory) else ())
            for memory in found
        }
        if others:
            made |= {node.id: node for node in self._graph._nodes(reader, self._graph._memories(reader, others))}
        return [made[id] for id in ids if id in made]

    def _is_own(self, memory: Memory) -> bool:
        return memory.scope != "user" or self._graph._bank.is_user_bank

    def _type(self, kind: str) -> str:
        return self._graph._seen.get(kind, kind)

    def _noted(self, met: Met) -> Met:
        return self._met.setdefault(met.id, met)

    def _end(self, tie: Tie) -> Met:
        return self._noted(Met(tie.other, self._type(tie.kind), moment(tie.at), tie.known_from))

    def _unused(self, known_from: int) -> NodeMetadata:
        """Return shared metadata: most nodes are unused, and many have the same known time."""
        if known_from not in self._new:
            self._new[known_from] = metadata_of(UNUSED, known_from, 0.0)
        return self._new[known_from]

    def _node(self, memory: Memory, vectors: Sequence[Floats]) -> Node:
        tied: dict[str, list[str]] = {edge: [] for edge in EDGES}
        for tie in self._ties[memory.id]:
            if tie.relation in tied:
                tied[tie.relation].append(tie.other)
        links = Ties({edge: frozenset(others) for edge, others in tied.items()})
        return node_of(memory, links, whole(vectors))


def whole(vectors: Sequence[Floats]) -> list[float] | None:
    """Return one vector for the passages of a text: their mean."""
    if not vectors:
        return None
    middle = vectors[0] if len(vectors) == 1 else sum(vectors[1:], vectors[0]) / len(vectors)
    mean: list[float] = middle.tolist()
    return mean
