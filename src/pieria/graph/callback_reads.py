"""Reads a graph through its callbacks, for backends without a faster way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset
from pieria.graph.graph import Graph
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.graph.value_function import checked_types


@runtime_checkable
class Dated(Protocol):
    """A backend that can return the newest nodes directly."""

    def latest(self, top_k: int, types: Sequence[str]) -> list[tuple[Node, NodeMetadata]]: ...


def whole(backend: GraphBackend) -> Graph:
    """Return the whole graph as a value."""
    held = getattr(backend, "graph", None)
    if isinstance(held, Graph):
        return held
    return Graph().apply_changeset(Changeset(backend.get_nodes_by_type(NODE_TYPES)))


def newest(backend: GraphBackend, top_k: int, types: Sequence[str]) -> list[tuple[Node, NodeMetadata]]:
    """Return the nodes with the latest `created_at` in their metadata, without those that have no metadata."""
    wanted = checked_types(types, "types")
    if isinstance(backend, Dated):
        return backend.latest(top_k, wanted)
    nodes = backend.get_nodes_by_type(wanted)
    metadata = backend.get_metadata([node.id for node in nodes])
    dated = [(node, metadata[node.id]) for node in nodes if node.id in metadata]
    dated.sort(key=lambda pair: (pair[1].created_at, pair[0].id), reverse=True)
    return dated[:top_k]
