"""Which function answers to which tool."""

from __future__ import annotations

from pieria.toolsets.sessions.looking import latest, list_banks, neighbors, node, nodes
from pieria.toolsets.sessions.maintaining import maintain
from pieria.toolsets.sessions.recalling import recall
from pieria.toolsets.sessions.recording import append, close, commit, discard, start, state

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
