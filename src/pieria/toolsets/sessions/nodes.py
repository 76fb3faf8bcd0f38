"""Looking at what was learnt, node by node."""

from __future__ import annotations

from typing import Any

from pieria.toolsets.host import Call
from pieria.toolsets.sessions.words import bank_of, counted, no_such, node_in, ties, told


def latest(call: Call, top_k: int, types: list[str], bank: str | None = None) -> dict[str, Any]:
    found = bank_of(call, bank).graph.everything.latest(top_k, types)
    nodes = [{**told(node), "metadata": counted(metadata)} for node, metadata in found]
    return {"nodes": nodes, "count": len(nodes)}


def node(call: Call, node_id: str, bank: str | None = None) -> dict[str, Any]:
    """With the kind of memory that it is, and where that came from."""
    keeper = bank_of(call, bank)
    found = node_in(keeper, node_id)
    memory = keeper.get(node_id)
    metadata = keeper.graph.everything.get_metadata([node_id]).get(node_id)
    if memory is None or metadata is None:
        # It was removed this very moment.
        raise no_such(node_id)
    from_ = {"kind": memory.kind, "place": memory.place, "source": memory.source, "session": memory.session}
    return {"node": {**told(found, whole=True), "links": ties(found), **from_}, "metadata": counted(metadata)}


def neighbors(call: Call, node_id: str, edge_type: str | None = None, bank: str | None = None) -> dict[str, Any]:
    """One that is tied to it in two ways comes twice."""
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
    """Those that the caller may reach; their own is listed before anything is in it."""
    opened = call.host.banks.open_names()
    banks = [{"id": name, "open": name in opened} for name in call.host.bank_names()]
    return {"banks": banks, "count": len(banks)}
