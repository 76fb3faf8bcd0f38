"""A graph as a value: nodes with their ties, and what they are found by. Each change makes another graph.

Whoever holds one may read it for as long as he likes while others go on. It keeps its own order: a tie stands on both
of its ends, and leads to nothing that is not there. Where it is kept is a backend's business.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pieria.graph.changeset import Changeset, Tie
from pieria.graph.edge import Edge
from pieria.graph.nodes import Node, Subgoal, Tag, all_linked_ids

Index = Mapping[str, frozenset[str]]
IndexName = Literal["by_type", "by_tag", "by_subgoal"]


@dataclass(frozen=True, slots=True)
class Graph:
    """`by_tag` goes by the label as `same_label` has it, `by_subgoal` by the description as it stands."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    by_type: Index = field(default_factory=dict)
    by_tag: Index = field(default_factory=dict)
    by_subgoal: Index = field(default_factory=dict)

    def get_node(self, id: str) -> Node | None:
        return self.nodes.get(id)

    def nodes_by_type(self, type: str) -> list[Node]:
        """Those made first come first."""
        return in_order(self.nodes[id] for id in self.by_type.get(type, ()))

    def put_node(self, node: Node) -> Graph:
        """With the node. What stood under its id is replaced; its ties stay, and those that it brings are made."""
        return self.apply_changeset(Changeset([node]))

    def link(self, id_a: str, id_b: str, type: Edge) -> Graph:
        """With both tied to each other. Where either is not there, or both are the same, nothing changes."""
        return self.apply_changeset(Changeset(links=[(id_a, id_b, Edge(type))]))

    def delete_node(self, id: str) -> Graph:
        """Without the node, and without any tie to it."""
        return self.without([id])

    def without(self, ids: Iterable[str]) -> Graph:
        """Without any of these nodes; those that are not there anyway do not matter."""
        gone = {id for id in ids if id in self.nodes}
        if not gone:
            return self
        touched = {other for id in gone for other in all_linked_ids(self.nodes[id])} - gone
        return self._having({id: self.nodes[id].unlinked(gone) for id in touched if id in self.nodes}, gone)

    def apply_changeset(self, changeset: Changeset) -> Graph:
        """With all of its nodes, and then its ties. Metadata is no part of a graph."""
        put = {id: self._bare(node) for id, node in changeset.nodes().items()}
        tied: dict[str, dict[Edge, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one, other, edge in self.made_by(changeset):
            tied[one][edge].append(other)
            tied[other][edge].append(one)
        for id, more in tied.items():
            put[id] = put.get(id, self.nodes.get(id)).linked(more)  # type: ignore[union-attr]
        return self._having(put) if put else self

    def made_by(self, changeset: Changeset) -> Iterator[Tie]:
        """The ties of a changeset that lead to something on both ends, once it is applied."""
        put = changeset.nodes()
        for tie in changeset.ties():
            if all(id in put or id in self.nodes for id in tie[:2]):
                yield tie

    def _bare(self, node: Node) -> Node:
        """The node with the ties of the one that it replaces, and without its own until they are made."""
        before = self.nodes.get(node.id)
        bare = node.unlinked(all_linked_ids(node))
        return bare if before is None else bare.linked(before.links)

    def _having(self, put: Mapping[str, Node], gone: Iterable[str] = ()) -> Graph:
        nodes = dict(self.nodes)
        less: dict[IndexName, dict[str, set[str]]] = _keys_of(self.nodes.get(id) for id in (*put, *gone))
        more = _keys_of(put.values())
        for id in gone:
            del nodes[id]
        nodes.update(put)
        return Graph(
            nodes,
            _changed(self.by_type, less["by_type"], more["by_type"]),
            _changed(self.by_tag, less["by_tag"], more["by_tag"]),
            _changed(self.by_subgoal, less["by_subgoal"], more["by_subgoal"]),
        )


def same_label(label: str) -> str:
    """What labels have in common that mean one tag."""
    return label.strip().casefold()


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """The oldest first; ids tell between those made at one moment."""
    return sorted(nodes, key=lambda node: (node.created_at, node.id))


def _keys_of(nodes: Iterable[Node | None]) -> dict[IndexName, dict[str, set[str]]]:
    """What nodes are found by, and which of them by what."""
    found: dict[IndexName, dict[str, set[str]]] = {
        "by_type": defaultdict(set),
        "by_tag": defaultdict(set),
        "by_subgoal": defaultdict(set),
    }
    for node in nodes:
        if node is not None:
            found["by_type"][node.node_type].add(node.id)
        if isinstance(node, Tag):
            found["by_tag"][same_label(node.label)].add(node.id)
        elif isinstance(node, Subgoal):
            found["by_subgoal"][node.description].add(node.id)
    return found


def _changed(index: Index, less: Mapping[str, set[str]], more: Mapping[str, set[str]]) -> Index:
    changed = dict(index)
    for key in less.keys() | more.keys():
        kept = (index.get(key, frozenset()) - less.get(key, set())) | more.get(key, set())
        if kept:
            changed[key] = kept
        else:
            changed.pop(key, None)
    return changed
