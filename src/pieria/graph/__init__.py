"""The graph of what was lived and learnt: nodes, ties, changesets, and what keeps them.

Plain data and pure functions, and backends beside them; how experience becomes nodes is told in `learning`.
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
