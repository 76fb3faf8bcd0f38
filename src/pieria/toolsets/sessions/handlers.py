"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.sessions.nodes import latest, list_banks, neighbors, node, nodes
from pieria.toolsets.sessions.recall import recall
from pieria.toolsets.sessions.record import append, close, commit, discard, start, state
from pieria.toolsets.sessions.upkeep import maintain

__all__ = [
    "append",
    "close",
    "commit",
    "discard",
    "latest",
    "list_banks",
    "maintain",
    "neighbors",
    "node",
    "nodes",
    "recall",
    "start",
    "state",
]
