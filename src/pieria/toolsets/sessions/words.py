"""Nodes as these tools show them, with long texts cut. An error has its kind, reason and hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.errors import Framework, Invalid, NotFoundError, PieriaError
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.registry import Tool
from pieria.toolsets.validation import violations

SHOWN = 500
"""Longest text in a list, in characters; `sessions_node` shows it in full."""
_APART = ("embedding", "links")
KINDS: tuple[tuple[type[PieriaError], str], ...] = ((Invalid, "invalid"), (Framework, "framework"))
OTHERWISE = "unknown"


def bank_of(call: Call, name: str | None) -> Bank:
    """Return the named bank, which must exist, or the caller's own."""
    return call.host.other(name)


def node_in(bank: Bank, node_id: str) -> Any:
    """Return the node; every memory is one. Raise `NotFoundError` if there is none."""
    node = bank.graph.everything.get_node(node_id)
    if node is None:
        raise no_such(node_id)
    return node


def no_such(node_id: str) -> NotFoundError:
    hint = "sessions_recall, sessions_latest and sessions_nodes return the ids."
    return NotFoundError("node", node_id, hint=hint)


def told(node: Any, *, whole: bool = False) -> dict[str, Any]:
    """Return the node's id, type and own fields. Leave out the vector and the links."""
    own = {part.name: _plain(getattr(node, part.name)) for part in fields(node) if part.name not in _APART}
    shown = (
        own
        if whole
        else {
            name: f"{value[:SHOWN].rstrip()}…" if isinstance(value, str) and len(value) > SHOWN else value
            for name, value in own.items()
        }
    )
    said = {"id": node.id, "type": node.node_type, **shown}
    return said if shown == own else {**said, "truncated": True}


def ties(node: Any) -> dict[str, list[str]]:
    """Return the linked ids by link type."""
    return {str(edge): sorted(ids) for edge, ids in node.links.items()}


def counted(metadata: Any) -> dict[str, Any]:
    return {part.name: _plain(getattr(metadata, part.name)) for part in fields(metadata)}


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    return iso(value) if isinstance(value, datetime) else value


def succeeded(call: Call, value: Any) -> Any:
    return value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    found = violations(error)
    return {"error": fault_of(error) | ({"violations": found} if found else {})}


def fault_of(error: PieriaError) -> dict[str, Any]:
    """Return the error's fields. `kind` is its class; `reason` is its reason or, without one, its code."""
    fields = {name: value for name, value in error.as_dict().items() if name != "errors"}
    kind = next((kind for branch, kind in KINDS if isinstance(error, branch)), OTHERWISE)
    return {**fields, "kind": kind, "reason": fields.get("reason") or error.code}
