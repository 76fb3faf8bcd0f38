"""What is known about a question, in words and as the nodes that they rest on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pieria.toolsets.host import Call
from pieria.toolsets.sessions.finding import keeper, opened
from pieria.toolsets.sessions.words import bank_of, told

KINDS = ("episodic", "semantic", "procedural")
DETAILED = "detailed"


def recall(
    call: Call,
    query: str,
    max_hops: int,
    verbosity: str,
    session_id: str | None = None,
    bank: str | None = None,
) -> dict[str, Any]:
    """A session is asked in its own bank, unless another one is named."""
    host = call.host
    if session_id is None:
        name = bank_of(call, bank).name
        result = opened(host, name).recall(name, query, max_hops)
    else:
        own = keeper(host, session_id).name
        name = own if bank is None else bank_of(call, bank).name
        opened(host, own)
        result = opened(host, name).recall_in_context(name, session_id, query, max_hops)
    memory = result.reasoned
    reasoned = {kind: getattr(memory, kind) for kind in KINDS}
    cited = {kind: list(ids) for kind, ids in memory.cited.items()}
    nodes = {one.node.id: one.node for found in result.candidates.values() for one in found}
    touched = [
        {"id": one.id, "type": one.type, "score": one.score, "phase": one.phase, "hop": one.hop}
        | ({"node": told(nodes[one.id], whole=True)} if verbosity == DETAILED else {})
        for one in result.touched_nodes
    ]
    return {"reasoned": {**reasoned, "cited": cited}, "touched_nodes": touched, "trace": asdict(result.trace)}
