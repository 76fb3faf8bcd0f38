"""Nodes, links and metadata as JSON, to store a changeset outside of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from pieria.errors import CorruptError, InputError
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODES, Node
from pieria.record.time import iso


def written(changeset: Changeset) -> dict[str, Any]:
    return {
        "nodes": [dict(_node(node)) for node in changeset.additions],
        "links": [[one, other, edge] for one, other, edge in changeset.links],
        "metadata": metadata_written(changeset.metadata),
        **({"gained": metadata_written(changeset.gained)} if changeset.gained else {}),
    }


def read(kept: Mapping[str, Any]) -> Changeset:
    """Return the changeset from the output of `written`; a missing part is empty. Raise `CorruptError` if it is
    damaged."""
    return Changeset(
        [node_read(node) for node in kept.get("nodes", ())],
        [(one, other, Edge(edge)) for one, other, edge in kept.get("links", ())],
        {id: metadata_read(entry) for id, entry in kept.get("metadata", {}).items()},
        {id: metadata_read(entry) for id, entry in kept.get("gained", {}).items()},
    )


def node_read(kept: Mapping[str, Any]) -> Node:
    kind = NODES.get(kept.get("type", ""))
    if kind is None:
        raise damaged(f"there is no node of the type {kept.get('type')!r}")
    try:
        return kind(**{name: value for name, value in kept.items() if name != "type"})
    except (TypeError, InputError) as problem:
        raise damaged("a node lacks what its type has") from problem


def metadata_written(entries: Mapping[str, NodeMetadata]) -> dict[str, Any]:
    return {
        id: {
            part.name: iso(value) if isinstance(value := getattr(entry, part.name), datetime) else value
            for part in fields(entry)
        }
        for id, entry in entries.items()
    }


def metadata_read(kept: Mapping[str, Any]) -> NodeMetadata:
    moments = {
        name: datetime.fromisoformat(kept[name])
        for name in ("created_at", "last_accessed_at")
        if kept[name] is not None
    }
    return NodeMetadata(**{**kept, **moments})


def damaged(reason: str) -> CorruptError:
    return CorruptError("load", reason, hint="Replace the file with an older copy, and keep the damaged one.")


def _node(node: Node) -> Iterator[tuple[str, Any]]:
    yield "type", node.node_type
    for part in fields(node):
        value = getattr(node, part.name)
        if part.name == "links":
            value = {edge: sorted(ids) for edge, ids in value.items() if ids}
        elif part.name == "embedding" and value is not None:
            value = [float(number) for number in value]
        yield part.name, iso(value) if isinstance(value, datetime) else value
