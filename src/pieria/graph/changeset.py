"""The changes to a graph, collected and then applied as one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from numbers import Real
from typing import Any

from pieria.errors import CorruptError, InputError
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODES, Node
from pieria.record import check
from pieria.record.draft import Problems
from pieria.record.time import iso

Tie = tuple[str, str, Edge]

Rewrites = Mapping[str, str]
"""Maps the id of a merged node to the id that replaces it, which may be merged as well."""


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


def written(changeset: Changeset) -> dict[str, Any]:
    return {
        "nodes": [dict(_node_written(node)) for node in changeset.additions],
        "links": [[one, other, edge] for one, other, edge in changeset.links],
        "metadata": metadata_written(changeset.metadata),
        **({"gained": metadata_written(changeset.gained)} if changeset.gained else {}),
    }


def read(kept: Mapping[str, Any]) -> Changeset:
    """Return the changeset from the output of `written`; a missing part is empty. Raise `CorruptError` if it is
    damaged."""
    return Changeset(
        [node_read(node) for node in kept.get("nodes", ())],
        [(one, other, Edge(edge)) for one, other, edge in kept.get("links", ())],
        {id: metadata_read(entry) for id, entry in kept.get("metadata", {}).items()},
        {id: metadata_read(entry) for id, entry in kept.get("gained", {}).items()},
    )


def node_read(kept: Mapping[str, Any]) -> Node:
    kind = NODES.get(kept.get("type", ""))
    if kind is None:
        raise damaged(f"there is no node of the type {kept.get('type')!r}")
    try:
        return kind(**{name: value for name, value in kept.items() if name != "type"})
    except (TypeError, InputError) as problem:
        raise damaged("a node lacks what its type has") from problem


def metadata_written(entries: Mapping[str, NodeMetadata]) -> dict[str, Any]:
    return {
        id: {
            part.name: iso(value) if isinstance(value := getattr(entry, part.name), datetime) else value
            for part in fields(entry)
        }
        for id, entry in entries.items()
    }


def metadata_read(kept: Mapping[str, Any]) -> NodeMetadata:
    moments = {
        name: datetime.fromisoformat(kept[name])
        for name in ("created_at", "last_accessed_at")
        if kept[name] is not None
    }
    return NodeMetadata(**{**kept, **moments})


def damaged(reason: str) -> CorruptError:
    return CorruptError("load", reason, hint="Replace the file with an older copy, and keep the damaged one.")


def _node_written(node: Node) -> Iterator[tuple[str, Any]]:
    yield "type", node.node_type
    for part in fields(node):
        value = getattr(node, part.name)
        if part.name == "links":
            value = {edge: sorted(ids) for edge, ids in value.items() if ids}
        elif part.name == "embedding" and value is not None:
            value = [float(number) for number in value]
        yield part.name, iso(value) if isinstance(value, datetime) else value


def final(id: str, rewrites: Rewrites) -> str:
    """Return the final id after all rewrites."""
    while id in rewrites:
        id = rewrites[id]
    return id


def rewritten(changeset: Changeset, rewrites: Rewrites) -> Changeset:
    """Return the changeset without the merged nodes; their ties and rewards go to the node that stays.

    If that node is in the changeset, its metadata gets the rewards; if it is stored, it gains them.
    """
    if not rewrites:
        return changeset
    put = {node.id for node in changeset.additions} - rewrites.keys()
    additions = [_retied(node, rewrites) for node in changeset.additions if node.id not in rewrites]
    ties = [(final(one, rewrites), final(other, rewrites), Edge(edge)) for one, other, edge in changeset.links]
    for node in changeset.additions:
        if node.id in rewrites:
            stays = final(node.id, rewrites)
            ties += [(stays, final(other, rewrites), edge) for edge in Edge for other in sorted(node.links[edge])]
    ties = list(dict.fromkeys(tie for tie in ties if tie[0] != tie[1]))
    metadata = {id: entry for id, entry in changeset.metadata.items() if id not in rewrites}
    whole = replace(changeset, additions=additions, links=ties, metadata=metadata, gained={})
    for id, entry in changeset.metadata.items():
        if id in rewrites:
            whole = _given(whole, final(id, rewrites), entry, put)
    for id, gain in changeset.gained.items():
        whole = whole.add_metadata(final(id, rewrites), gain)
    return whole


def _given(changeset: Changeset, id: str, entry: NodeMetadata, put: set[str]) -> Changeset:
    if id not in put or id not in changeset.metadata:
        return changeset.add_metadata(id, entry)
    return changeset.put_metadata(id, changeset.metadata[id].joined(entry))


def _retied(node: Node, rewrites: Rewrites) -> Node:
    tied = {edge: frozenset(final(id, rewrites) for id in ids) - {node.id} for edge, ids in node.links.items()}
    return node if tied == node.links else replace(node, links=tied)
