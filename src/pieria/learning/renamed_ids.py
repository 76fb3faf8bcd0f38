"""Nodes of a changeset that are others under another id: what is tied to the one is tied to the other, to the end.

Exists for whatever finds that two nodes are one. Which they are is decided there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node

Rewrites = Mapping[str, str]
"""From the id of a node that goes to that of the one which stays, or goes as well."""


def final(id: str, rewrites: Rewrites) -> str:
    """Where it ends, however many stand between."""
    while id in rewrites:
        id = rewrites[id]
    return id


def rewritten(changeset: Changeset, rewrites: Rewrites) -> Changeset:
    """Without the nodes that go. What they had, ties and rewards, has the one that stays.

    A node that stays and comes with the changeset has the rewards in its metadata; one that is kept already gains them.
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
