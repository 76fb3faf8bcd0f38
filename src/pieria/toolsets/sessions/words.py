"""Nodes as these tools tell them: their own fields beside what all have, and where texts are cut that they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.errors import NotFoundError
from pieria.record.time import iso
from pieria.toolsets.host import Call

SHOWN = 500
"""Characters of a text in a list; `sessions_node` tells all of it."""
_APART = ("embedding", "links")


def bank_of(call: Call, name: str | None) -> Bank:
    """The bank that is named, which is there; without a name the caller's own."""
    return call.host.other(name)


def node_in(bank: Bank, node_id: str) -> Any:
    """Any memory is a node, whoever keeps it."""
    node = bank.graph.everything.get_node(node_id)
    if node is None:
        raise no_such(node_id)
    return node


def no_such(node_id: str) -> NotFoundError:
    hint = "sessions_recall, sessions_latest and sessions_nodes give the ids there are."
    return NotFoundError("node", node_id, hint=hint)


def told(node: Any, *, whole: bool = False) -> dict[str, Any]:
    """Its id, type and own fields. A vector says nothing to a reader, and ties are told where they are asked for."""
    own = {part.name: _plain(getattr(node, part.name)) for part in fields(node) if part.name not in _APART}
    shown = own if whole else {name: _cut(value) for name, value in own.items()}
    said = {"id": node.id, "type": node.node_type, **shown}
    return said if shown == own else {**said, "truncated": True}


def ties(node: Any) -> dict[str, list[str]]:
    """The ids it is tied to, by the type of the tie."""
    return {str(edge): sorted(ids) for edge, ids in node.links.items()}


def counted(metadata: Any) -> dict[str, Any]:
    return {part.name: _plain(getattr(metadata, part.name)) for part in fields(metadata)}


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    return iso(value) if isinstance(value, datetime) else value


def _cut(value: Any) -> Any:
    return f"{value[:SHOWN].rstrip()}…" if isinstance(value, str) and len(value) > SHOWN else value
