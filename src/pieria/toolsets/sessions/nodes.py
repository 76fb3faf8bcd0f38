"""The tools that show learnt knowledge node by node, recall it, and keep it in order."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pieria.errors import InputError
from pieria.toolsets.host import Call
from pieria.toolsets.sessions.record import keeper, opened
from pieria.toolsets.sessions.words import bank_of, counted, no_such, node_in, ties, told
from pieria.workspace import recalled_as_seen

REASONED = ("episodic", "semantic", "procedural")
BY_THRESHOLD = ("consolidate", "decay")
VERBS = {"decay": "prune"}
"""Operations that the bank calls otherwise."""
DIGITS = 4
DETAILED = "detailed"
ON_REQUEST = ("verbosity", "relevances", "sure", "llm_calls", "tokens", "model_calls", "failures")
"""Parts of a trace that only a detailed reply has."""


def latest(call: Call, top_k: int, types: list[str], bank: str | None = None) -> dict[str, Any]:
    found = bank_of(call, bank).graph.everything.latest(top_k, types)
    nodes = [{**told(node), "metadata": counted(metadata)} for node, metadata in found]
    return {"nodes": nodes, "count": len(nodes)}


def node(call: Call, node_id: str, bank: str | None = None) -> dict[str, Any]:
    """Return the node, with its memory's kind, place, source and session."""
    keeper = bank_of(call, bank)
    found = node_in(keeper, node_id)
    memory = keeper.get(node_id)
    metadata = keeper.graph.everything.get_metadata([node_id]).get(node_id)
    if memory is None or metadata is None:
        # Removed between the two reads.
        raise no_such(node_id)
    from_ = {"kind": memory.kind, "place": memory.place, "source": memory.source, "session": memory.session}
    return {"node": {**told(found, whole=True), "links": ties(found), **from_}, "metadata": counted(metadata)}


def neighbors(call: Call, node_id: str, edge_type: str | None = None, bank: str | None = None) -> dict[str, Any]:
    """Return the neighbors. A neighbor with two links appears twice."""
    keeper = bank_of(call, bank)
    graph = keeper.graph.everything
    edges = [edge for edge in node_in(keeper, node_id).links if edge_type in (None, edge)]
    found = [
        {**told(tied), "edge_type": str(edge)} for edge in edges for tied in graph.get_linked_nodes([node_id], edge)
    ]
    return {"node_id": node_id, "neighbors": found, "count": len(found)}


def nodes(
    call: Call, types: list[str], limit: int, cursor: str | None = None, bank: str | None = None
) -> dict[str, Any]:
    page = bank_of(call, bank).graph.everything.page(types, limit, cursor)
    found = [told(one) for one in page.nodes]
    return {"nodes": found, "count": len(found), "next_cursor": page.cursor}


def list_banks(call: Call) -> dict[str, Any]:
    """Return the banks the caller may reach. Its own is listed even if it does not exist yet."""
    opened = call.host.banks.open_names()
    banks = [{"id": name, "open": name in opened} for name in call.host.bank_names()]
    return {"banks": banks, "count": len(banks)}


def recall(
    call: Call,
    query: str,
    max_hops: int,
    verbosity: str,
    session_id: str | None = None,
    bank: str | None = None,
) -> dict[str, Any]:
    """Recall from the named bank or, without a name, from the session's own."""
    host = call.host
    if session_id is not None:
        own = keeper(host, session_id).name
        opened(host, own)
        host = host.having(bank_name=own) if bank is None else host
    asked = host.other(bank)
    workspace = opened(host, asked.name)
    result = recalled_as_seen(workspace, asked, query, session_id, max_hops, verbosity)
    memory = result.reasoned
    reasoned = {kind: getattr(memory, kind) for kind in REASONED}
    cited = {kind: list(ids) for kind, ids in memory.cited.items()}
    touched = [
        {"id": one.id, "type": one.type, "score": round(one.score, DIGITS), "phase": one.phase, "hop": one.hop}
        | ({} if one.node is None else {"node": told(one.node, whole=True)})
        for one in result.touched_nodes
    ]
    scores = {id: round(score, DIGITS) for id, score in (result.trace.scores or {}).items()}
    trace = {**asdict(result.trace), "scores": scores}
    if verbosity != DETAILED:
        trace = {name: value for name, value in trace.items() if name not in ON_REQUEST}
    return {
        "reasoned": {**reasoned, "cited": cited},
        "confidence": round(result.confidence, DIGITS),
        "touched_nodes": touched,
        "trace": trace,
    }


def maintain(
    call: Call, operation: str, dry_run: bool, threshold: float | None = None, bank: str | None = None
) -> dict[str, Any]:
    asked: dict[str, Any] = {"dry_run": dry_run, "progress": call.host.progress}
    if threshold is not None:
        if operation not in BY_THRESHOLD:
            raise InputError("threshold", f"none for {operation}", threshold, hint="Leave it out.")
        asked["threshold"] = threshold
    done = getattr(bank_of(call, bank).graph, VERBS.get(operation, operation))(**asked)
    return {"operation": operation, "dry_run": dry_run, **done}
