"""Replace node ids in a changeset after nodes were merged.

Ties to a merged node move to the node that stays. The caller decides which nodes to merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node

Rewrites = Mapping[str, str]
"""Maps the id of a merged node to the id that replaces it, which may be merged as well."""


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
