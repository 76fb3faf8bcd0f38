"""A graph as an immutable value: nodes with their links, and indexes. Each change returns another graph.

Readers keep their version while others write. A graph is consistent: a link is on both of its ends, and both exist.
Storage belongs to backends.
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
    """`by_tag` is keyed by the label after `same_label`, `by_subgoal` by the exact description."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    by_type: Index = field(default_factory=dict)
    by_tag: Index = field(default_factory=dict)
    by_subgoal: Index = field(default_factory=dict)

    def get_node(self, id: str) -> Node | None:
        return self.nodes.get(id)

    def nodes_by_type(self, type: str) -> list[Node]:
        """Return the nodes of a type, oldest first."""
        return in_order(self.nodes[id] for id in self.by_type.get(type, ()))

    def put_node(self, node: Node) -> Graph:
        """Return the graph with the node. A node with the same id is replaced; its links stay, and the new node's are
        added."""
        return self.apply_changeset(Changeset([node]))

    def link(self, id_a: str, id_b: str, type: Edge) -> Graph:
        """Return the graph with the two linked. It is unchanged if either is missing, or if both are the same."""
        return self.apply_changeset(Changeset(links=[(id_a, id_b, Edge(type))]))

    def delete_node(self, id: str) -> Graph:
        """Return the graph without the node and its links."""
        return self.without([id])

    def without(self, ids: Iterable[str]) -> Graph:
        """Return the graph without these nodes. Ignore unknown ids."""
        gone = {id for id in ids if id in self.nodes}
        if not gone:
            return self
        touched = {other for id in gone for other in all_linked_ids(self.nodes[id])} - gone
        return self._having({id: self.nodes[id].unlinked(gone) for id in touched if id in self.nodes}, gone)

    def apply_changeset(self, changeset: Changeset) -> Graph:
        """Return the graph with all nodes and then all links of the changeset. Metadata is not part of a graph."""
        put = {id: self._bare(node) for id, node in changeset.nodes().items()}
        tied: dict[str, dict[Edge, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one, other, edge in self.made_by(changeset):
            tied[one][edge].append(other)
            tied[other][edge].append(one)
        for id, more in tied.items():
            put[id] = put.get(id, self.nodes.get(id)).linked(more)  # type: ignore[union-attr]
        return self._having(put) if put else self

    def made_by(self, changeset: Changeset) -> Iterator[Tie]:
        """Yield the links of a changeset whose ends both exist after it is applied."""
        put = changeset.nodes()
        for tie in changeset.ties():
            if all(id in put or id in self.nodes for id in tie[:2]):
                yield tie

    def _bare(self, node: Node) -> Node:
        """Return the node with the links of the one it replaces, and without its own, which are added later."""
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
    """Return a key that is equal for labels of the same tag."""
    return label.strip().casefold()


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes oldest first, and by id at the same moment."""
    return sorted(nodes, key=lambda node: (node.created_at, node.id))


def _keys_of(nodes: Iterable[Node | None]) -> dict[IndexName, dict[str, set[str]]]:
    """Return the index keys of nodes, each with the ids of its nodes."""
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
