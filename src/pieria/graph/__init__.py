"""The graph of experience and knowledge: nodes, links, changesets, and the backends that store them.

Plain data, pure functions and backends. `learning` turns experience into nodes.
"""

from pieria.graph.backend import Found, GraphBackend, chosen
from pieria.graph.changeset import Changeset, checked
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph
from pieria.graph.in_memory import InMemoryBackend
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import (
    NODE_TYPES,
    Episodic,
    Intent,
    Node,
    Procedural,
    Semantic,
    Source,
    Subgoal,
    Tag,
    all_linked_ids,
)
from pieria.graph.persistence import Persistence
from pieria.graph.similarity import cosine_similarity, top_k

__all__ = [
    "NODE_TYPES",
    "Changeset",
    "Edge",
    "Episodic",
    "Found",
    "Graph",
    "GraphBackend",
    "InMemoryBackend",
    "Intent",
    "Node",
    "NodeMetadata",
    "Persistence",
    "Procedural",
    "Semantic",
    "Source",
    "Subgoal",
    "Tag",
    "all_linked_ids",
    "checked",
    "chosen",
    "cosine_similarity",
    "top_k",
]
