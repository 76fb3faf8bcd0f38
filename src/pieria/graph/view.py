"""The view of a graph for maintenance, which changes it while others write.

Each change names the nodes it is based on, and skips those that have changed since; the next run handles them. A
backend with its own way offers it as `tended`; others are changed through their callbacks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset, Tie
from pieria.graph.edge import Edge
from pieria.graph.memories import drawn
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Node, Procedural, Tag, all_linked_ids
from pieria.record.memory import FADES

Each = TypeVar("Each")
AT_ONCE = 500
"""Nodes to read or change at once."""


class Look(NamedTuple):
    """A node as maintenance sees it. `mark` belongs to the backend that made it."""

    id: str
    node_type: str
    created_at: datetime
    metadata: NodeMetadata | None
    mark: Any
    fades: bool = True
    """It may be archived for a low value, or as a duplicate."""
    stays: bool = False
    """It must not be archived at all."""
    apart: Hashable = None
    """Only nodes with equal values may be merged."""


class Statement(NamedTuple):
    """What a fact or a procedure says."""

    text: str
    condition: str = ""
    outcome: str = ""


class Pair(NamedTuple):
    loser: Look
    winner: Look


class Tended(Protocol):
    """A graph in pages, and changes to it. Each change is atomic and returns its effect."""

    def looks(self, node_types: Sequence[str]) -> Iterator[Sequence[Look]]:
        """Yield all nodes of these types in pages."""

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        """Return the nodes that exist."""

    def ties(self) -> Iterator[Tie]:
        """Yield each link once, even if an end is missing."""

    def statements(self, looks: Sequence[Look]) -> dict[str, Statement]:
        """Return what the nodes say, by id."""

    def likeness(self, one: str, other: str) -> float:
        """Return the cosine of two texts, or 0 if no embedding model runs in this process."""

    def vectors(self, looks: Sequence[Look]) -> dict[str, Any]:
        """Return the vectors by id, where there are any."""

    def standing(self, ids: Sequence[str]) -> set[str]:
        """Return the ids that exist."""

    def missing(self, ids: Sequence[str]) -> set[str]:
        """Return the ids that are gone for good, unless they are written again."""

    def drawn_on(self, looks: Sequence[Look]) -> set[str]:
        """Return the ids that other nodes were drawn from."""

    def leftovers(self) -> list[str]:
        """Return the ids of metadata without a node."""

    def put_away(self, looks: Sequence[Look]) -> list[str]:
        """Archive the nodes that are unchanged; delete them if the backend has no archive. Return their ids."""

    def put_away_idle(self, looks: Sequence[Look]) -> list[str]:
        """Archive the nodes without links. Return their ids."""

    def fold(self, pairs: Sequence[Pair]) -> list[str]:
        """Move links and usage from losers to winners, and archive the losers. Return their ids."""

    def penalize(self, penalties: Mapping[str, float]) -> list[str]:
        """Set the penalty for weak grounding, in place of the former one. Return the ids that changed."""

    def untie(self, ties: Sequence[Tie]) -> int:
        """Remove these links to missing nodes. Return their number."""

    def forget(self, ids: Sequence[str]) -> list[str]:
        """Delete the metadata of missing nodes. Return their ids."""


@runtime_checkable
class Tending(Protocol):
    """A backend with its own view for maintenance."""

    @property
    def tended(self) -> Tended: ...


@runtime_checkable
class Exclusive(Protocol):
    """A backend that can block other writers."""

    def exclusively(self) -> AbstractContextManager[Any]: ...


def tended(backend: GraphBackend) -> Tended:
    return backend.tended if isinstance(backend, Tending) else ByCallbacks(backend)


def statement_of(node: Node) -> Statement:
    if isinstance(node, Procedural):
        return Statement(node.text, node.condition, node.expected_outcome)
    return Statement(node.text)


def alone(backend: GraphBackend) -> AbstractContextManager[Any]:
    """Return a context that blocks other writers, if the backend can."""
    return backend.exclusively() if isinstance(backend, Exclusive) else nullcontext()


def pages(whole: Iterable[Each], size: int = AT_ONCE) -> Iterator[list[Each]]:
    left = iter(whole)
    while page := list(islice(left, size)):
        yield page


class ByCallbacks:
    """Change any backend through its callbacks. It reads again right before it writes. Only with an `Exclusive` backend
    can no other write come between."""

    def __init__(self, backend: GraphBackend) -> None:
        self._backend = backend

    def looks(self, node_types: Sequence[str]) -> Iterator[Sequence[Look]]:
        for page in pages(self._backend.get_nodes_by_type(node_types)):
            metadata = self._backend.get_metadata([node.id for node in page])
            yield [
                Look(node.id, node.node_type, node.created_at, metadata.get(node.id), node, node.node_type in FADES)
                for node in page
            ]

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        found = ((id, self._backend.get_node(id)) for id in ids)
        return {id: node for id, node in found if node is not None}

    def ties(self) -> Iterator[Tie]:
        held = {node.id: node for node in self._backend.get_nodes_by_type(NODE_TYPES)}
        for id, node in held.items():
            for edge in Edge:
                for other in sorted(node.links[edge]):
                    told_there = other in held and id in held[other].links[edge]
                    if id < other or not told_there:
                        yield id, other, edge

    def statements(self, looks: Sequence[Look]) -> dict[str, Statement]:
        return {look.id: statement_of(look.mark) for look in looks}

    def likeness(self, one: str, other: str) -> float:
        return 0.0

    def vectors(self, looks: Sequence[Look]) -> dict[str, Any]:
        return {look.id: look.mark.embedding for look in looks if look.mark.embedding is not None}

    def standing(self, ids: Sequence[str]) -> set[str]:
        return set(self.nodes(ids))

    def missing(self, ids: Sequence[str]) -> set[str]:
        return set(ids) - self.standing(ids)

    def drawn_on(self, looks: Sequence[Look]) -> set[str]:
        others = self.nodes(list({id for look in looks for id in look.mark.links[Edge.PROVENANCE]}))
        return {
            look.id
            for look in looks
            for other in look.mark.links[Edge.PROVENANCE] & others.keys()
            if not drawn(look.node_type, others[other].node_type)
        }

    def leftovers(self) -> list[str]:
        metadata = getattr(self._backend, "metadata", None)
        return sorted(self.missing(list(metadata))) if isinstance(metadata, Mapping) else []

    def put_away(self, looks: Sequence[Look]) -> list[str]:
        with alone(self._backend):
            same = self._unchanged(looks)
            used = self._backend.get_metadata(list(same))
            ids = [
                look.id
                for look in looks
                if look.id in same and same[look.id].links == look.mark.links and used.get(look.id) == look.metadata
            ]
            return self._deleted(ids)

    def put_away_idle(self, looks: Sequence[Look]) -> list[str]:
        with alone(self._backend):
            held = self.nodes([look.id for look in looks])
            others = self.standing(list({id for node in held.values() for id in all_linked_ids(node)}))
            return self._deleted([id for id, node in held.items() if not all_linked_ids(node) & others])

    def fold(self, pairs: Sequence[Pair]) -> list[str]:
        with alone(self._backend):
            held = self._unchanged([look for pair in pairs for look in pair])
            into = {loser.id: winner.id for loser, winner in pairs if loser.id in held and winner.id in held}
            ties = [
                (winner, into.get(other, other), edge)
                for loser, winner in into.items()
                for edge in Edge
                for other in sorted(held[loser].links[edge])
            ]
            if into:
                self._backend.apply_changeset(Changeset([], ties, self._together(into)))
            return self._deleted(list(into))

    def penalize(self, penalties: Mapping[str, float]) -> list[str]:
        with alone(self._backend):
            used = self._backend.get_metadata(list(penalties))
            settled = {id: entry.penalized(penalties[id]) for id, entry in used.items()}
            changed = {id: entry for id, entry in settled.items() if entry != used[id]}
            if changed:
                self._backend.update_metadata(changed)
            return list(changed)

    def untie(self, ties: Sequence[Tie]) -> int:
        """Put each missing node briefly, with these links, and delete it together with all links to it."""
        with alone(self._backend):
            gone = self.missing(list({other for _, other, _ in ties}))
            left = [tie for tie in ties if tie[1] in gone]
            if left:
                self._backend.apply_changeset(Changeset([Tag(id=id, label=id) for id in sorted(gone)], left))
                self._backend.delete_nodes(sorted(gone))
                self._backend.delete_metadata(sorted(gone))
            return len(left)

    def forget(self, ids: Sequence[str]) -> list[str]:
        with alone(self._backend):
            gone = sorted(self.missing(ids))
            if gone:
                self._backend.delete_metadata(gone)
            return gone

    def _unchanged(self, looks: Sequence[Look]) -> dict[str, Node]:
        """Return the nodes with unchanged content; their links may have changed."""
        held = self.nodes([look.id for look in looks])
        return {look.id: held[look.id] for look in looks if look.id in held and _same(held[look.id], look.mark)}

    def _together(self, into: Mapping[str, str]) -> dict[str, NodeMetadata]:
        used = self._backend.get_metadata([*into, *into.values()])
        summed: dict[str, NodeMetadata] = {}
        for loser, winner in into.items():
            if loser in used:
                had = summed.get(winner) or used.get(winner)
                summed[winner] = used[loser].penalized(0) if had is None else had.joined(used[loser])
        return summed

    def _deleted(self, ids: Sequence[str]) -> list[str]:
        if ids:
            self._backend.delete_nodes(ids)
            self._backend.delete_metadata(ids)
        return list(ids)


def _same(one: Node, other: Node) -> bool:
    """Return whether the two have equal content. Equal vectors may be separate lists."""
    same_vector = one.embedding is other.embedding or _numbers(one) == _numbers(other)
    return same_vector and _bare(one) == _bare(other)


def _bare(node: Node) -> Node:
    return replace(node, links={}, embedding=None)


def _numbers(node: Node) -> list[float] | None:
    return None if node.embedding is None else [float(number) for number in node.embedding]
