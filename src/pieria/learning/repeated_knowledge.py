"""Knowledge that is learnt again: it strengthens what the graph has, instead of being written a second time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset, rewritten
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node
from pieria.graph.view import statement_of
from pieria.learning.likeness import ROUTES, nearest, outcomes_oppose

NEAREST = 20
"""Stored nodes compared with each new one, if the backend cannot find them by their text."""


@runtime_checkable
class Recognising(Protocol):
    """A backend that finds nodes by their text, and knows which of them new knowledge may strengthen."""

    def find_equal(self, changeset: Changeset, node_ids: Sequence[str]) -> Mapping[str, Sequence[Node]]:
        """Return the stored nodes of the same type and text as each of these new nodes, oldest first."""


def strengthen(changeset: Changeset, backend: GraphBackend | None) -> Changeset:
    """Return the changeset without the facts and procedures that the graph has in the same words.

    The condition must be the same, too, and a tag or intent must lead to both. The stored node gets the edges and
    rewards of the new one, and counts as used once more.
    """
    new = [node for node in changeset.nodes().values() if node.node_type in ROUTES]
    if backend is None or not new:
        return changeset
    leading, held = _leading(changeset), _held(changeset, new, backend)
    rewrites: dict[str, str] = {}
    metadata = dict(changeset.metadata)
    for node in new:
        stored = next((one for one in held[node.id] if _is_same(node, one, leading[node.id])), None)
        if stored is not None:
            rewrites[node.id] = stored.id
            metadata[node.id] = metadata.get(node.id, NodeMetadata()).record_access(node.created_at)
    return rewritten(replace(changeset, metadata=metadata), rewrites)


def _leading(changeset: Changeset) -> defaultdict[str, set[str]]:
    """Return the tags of each fact and the intents of each procedure."""
    nodes = changeset.nodes()
    edges = {id: ROUTES[node.node_type].edge for id, node in nodes.items() if node.node_type in ROUTES}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other, edge in changeset.ties():
        for here, there in ((one, other), (other, one)):
            if edges.get(there) == edge:
                found[there].add(here)
    return found


def _held(changeset: Changeset, new: Sequence[Node], backend: GraphBackend) -> Mapping[str, Sequence[Node]]:
    if isinstance(backend, Recognising):
        return backend.find_equal(changeset, [node.id for node in new])
    return {node.id: [one for one in nearest(backend, node, NEAREST) if one.text == node.text] for node in new}


def _is_same(new: Node, stored: Node, leading: set[str]) -> bool:
    one, other = statement_of(new), statement_of(stored)
    if new.id == stored.id or one.condition != other.condition or outcomes_oppose(one.outcome, other.outcome):
        return False
    return not leading.isdisjoint(stored.links[ROUTES[stored.node_type].edge])
