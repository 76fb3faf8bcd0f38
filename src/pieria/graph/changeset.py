"""The changes to a graph, collected and then applied as one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from pieria.errors import InputError
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODES, Node
from pieria.record import check
from pieria.record.draft import Problems

Tie = tuple[str, str, Edge]


@dataclass(frozen=True, slots=True)
class Changeset:
    """Nodes to put, links to make, metadata to set, and metadata to add to the current values.

    Each method returns another changeset.
    """

    additions: Sequence[Node] = field(default_factory=list)
    links: Sequence[Tie] = field(default_factory=list)
    metadata: Mapping[str, NodeMetadata] = field(default_factory=dict)
    gained: Mapping[str, NodeMetadata] = field(default_factory=dict)

    def add_node(self, node: Node) -> Changeset:
        return replace(self, additions=[*self.additions, node])

    def add_link(self, id_a: str, id_b: str, type: Edge) -> Changeset:
        return replace(self, links=[*self.links, (id_a, id_b, Edge(type))])

    def put_metadata(self, node_id: str, meta: NodeMetadata) -> Changeset:
        return replace(self, metadata={**self.metadata, node_id: meta})

    def add_metadata(self, node_id: str, meta: NodeMetadata) -> Changeset:
        """Add these counts to the node's metadata at the time of applying, including any use in between."""
        return replace(self, gained=_joined(self.gained, {node_id: meta}))

    def merge(self, other: Changeset) -> Changeset:
        """Return both changesets in sequence. The other one wins where both set the same node; gains add up."""
        additions, links = [*self.additions, *other.additions], [*self.links, *other.links]
        metadata = {**self.metadata, **other.metadata}
        return Changeset(additions, links, metadata, _joined(self.gained, other.gained))

    @property
    def empty(self) -> bool:
        return not (self.additions or self.links or self.metadata or self.gained)

    def metadata_over(self, held: Mapping[str, NodeMetadata]) -> dict[str, NodeMetadata]:
        """Return the resulting metadata of all nodes in the changeset, given their current metadata."""
        said = dict(self.metadata)
        for id, gain in self.gained.items():
            before = said.get(id) or held.get(id)
            said[id] = gain if before is None else before.joined(gain)
        return said

    def nodes(self) -> dict[str, Node]:
        """Return the nodes to put, by id; the last one wins."""
        return {node.id: node for node in self.additions}

    def ties(self) -> Iterator[Tie]:
        """Yield the links to make, those of the nodes first. Skip links from a node to itself."""
        for node in self.additions:
            for edge in Edge:
                yield from ((node.id, other, edge) for other in sorted(node.links[edge]) if other != node.id)
        yield from ((one, other, Edge(edge)) for one, other, edge in self.links if one != other)


def checked(changeset: object) -> Changeset:
    """Return the changeset if it is valid. Otherwise raise one error with all problems."""
    if not isinstance(changeset, Changeset):
        raise InputError("changeset", "a pieria.graph.Changeset", changeset)
    problems = Problems()
    for number, node in enumerate(changeset.additions):
        problems.of(_node, node, f"changeset.additions[{number}]")
    for number, tie in enumerate(changeset.links):
        problems.of(_tie, tie, f"changeset.links[{number}]")
    problems.of(checked_metadata, changeset.metadata, "changeset.metadata")
    problems.of(checked_metadata, changeset.gained, "changeset.gained")
    problems.settle()
    return changeset


def checked_metadata(entries: object, parameter: str) -> Mapping[str, NodeMetadata]:
    """Return metadata by node id. Raise `InputError` for invalid values."""
    if not isinstance(entries, Mapping):
        raise InputError(parameter, "a mapping of ids to NodeMetadata", entries)
    for id, metadata in entries.items():
        check.identifier(id, parameter)
        if not isinstance(metadata, NodeMetadata):
            raise InputError(f"{parameter}[{id!r}]", "a NodeMetadata", metadata)
        check.whole(metadata.access_count, f"{parameter}[{id!r}].access_count")
        check.whole(metadata.reward_count, f"{parameter}[{id!r}].reward_count")
        check.number(metadata.cumulative_reward, f"{parameter}[{id!r}].cumulative_reward", -1e9, 1e9)
        check.number(metadata.penalty, f"{parameter}[{id!r}].penalty", 0, 1e9)
    return entries


def checked_vector(vector: Any, parameter: str) -> Sequence[float]:
    """Return the vector: finite numbers in a list or an array. Raise `InputError` for anything else."""
    if isinstance(vector, str | bytes) or not hasattr(vector, "__len__") or not len(vector):
        raise InputError(parameter, "a list of numbers", vector)
    kinds = set(map(type, vector))
    if bool in kinds or not all(issubclass(kind, Real) for kind in kinds):
        raise InputError(parameter, "numbers alone", vector)
    if not all(map(math.isfinite, vector)):
        raise InputError(parameter, "finite numbers", "one that is not")
    return vector  # type: ignore[no-any-return]


def _joined(one: Mapping[str, NodeMetadata], other: Mapping[str, NodeMetadata]) -> dict[str, NodeMetadata]:
    return {**one, **{id: one[id].joined(gain) if id in one else gain for id, gain in other.items()}}


def _node(node: object, parameter: str) -> None:
    if not isinstance(node, Node) or node.node_type not in NODES:
        raise InputError(parameter, "a node of pieria.graph: " + ", ".join(NODES), node)
    check.identifier(node.id, f"{parameter}.id")
    check.text(node.text, f"{parameter}.text")
    if node.embedding is not None:
        checked_vector(node.embedding, f"{parameter}.embedding")


def _tie(tie: object, parameter: str) -> None:
    if not isinstance(tie, Sequence) or isinstance(tie, str) or len(tie) != 3:
        raise InputError(parameter, "two ids and a type of edge", tie)
    one, other, edge = tie
    check.identifier(one, parameter)
    check.identifier(other, parameter)
    check.one_of(str(edge), parameter, tuple(Edge))
