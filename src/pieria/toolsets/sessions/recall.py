"""What is known about a question, in words and as the nodes that they rest on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pieria.toolsets.host import Call
from pieria.toolsets.sessions.bank_lookup import keeper, opened
from pieria.toolsets.sessions.words import told
from pieria.workspace import recalled_as_seen

KINDS = ("episodic", "semantic", "procedural")


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
    if session_id is not None:
        own = keeper(host, session_id).name
        opened(host, own)
        host = host.having(bank_name=own) if bank is None else host
    asked = host.other(bank)
    workspace = opened(host, asked.name)
    result = recalled_as_seen(workspace, asked, query, session_id, max_hops, verbosity)
    memory = result.reasoned
    reasoned = {kind: getattr(memory, kind) for kind in KINDS}
    cited = {kind: list(ids) for kind, ids in memory.cited.items()}
    touched = [
        {"id": one.id, "type": one.type, "score": one.score, "phase": one.phase, "hop": one.hop}
        | ({} if one.node is None else {"node": told(one.node, whole=True)})
        for one in result.touched_nodes
    ]
    return {
        "reasoned": {**reasoned, "cited": cited},
        "confidence": result.confidence,
        "touched_nodes": touched,
        "trace": asdict(result.trace),
    }
