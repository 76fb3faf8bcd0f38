"""Converts nodes to memories and back, field by field, for graphs that are kept in a bank.

The text of a memory is the text of its node, so that a correction of one applies to both. Fields that a memory lacks
are derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any, Protocol

from pieria.graph.nodes import ARROW, NODES, Node, Semantic, Source
from pieria.record.draft import NewMemory
from pieria.record.memory import EMPTY

OF_ALL = ("id", "created_at", "embedding", "links")
SAID = {
    "semantic": "proposition",
    "procedural": "instruction",
    "subgoal": "description",
    "source": "plain_text",
    "tag": "label",
    "intent": "description",
}
"""The field of each type that holds the whole text. An episodic node combines two fields."""
SEEN_AS = {
    "note": "semantic",
    "drawer": "semantic",
    "observation": "semantic",
    "summary": "semantic",
    "fact": "semantic",
    "diary": "episodic",
    "turn": "episodic",
}
"""The node type of memories of other kinds, when a whole bank is read as a graph."""
# Evidence has a higher number than what is drawn from it: knowledge, then steps, then their sources.
_EVIDENCE = {"episodic": 1, "source": 2}


def memory_of(node: Node) -> NewMemory:
    """Return the memory for a node. The bank stores its links separately."""
    return NewMemory(
        node.text,
        id=node.id,
        kind=node.node_type,
        body=_body(node),
        confidence=node.confidence if isinstance(node, Semantic) else None,
        at=node.created_at,
        vectors=node.embedding,
    )


class Told(Protocol):
    """A memory, or the part of one that makes a node."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def at(self) -> datetime: ...
    @property
    def body(self) -> Mapping[str, Any]: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def sequence(self) -> int | None: ...


def node_of(memory: Told, links: Mapping[Any, frozenset[str]], embedding: Sequence[float] | None) -> Node:
    """Return the node of a memory. A kind that is no node type is mapped by `SEEN_AS`.

    For a mapped kind only the text counts: its body has other fields.
    """
    kind = SEEN_AS.get(memory.kind, memory.kind)
    body = memory.body if kind == memory.kind else EMPTY
    own = {name: body[name] for name in _in_body(kind) if body.get(name) is not None}
    derived = _DERIVED[kind](memory, body) if kind in _DERIVED else {SAID[kind]: memory.text}
    return NODES[kind](id=memory.id, created_at=memory.at, embedding=embedding, links=links, **{**own, **derived})


def drawn(one: str, other: str) -> bool:
    """Return whether, between two node types with a provenance link, the first is drawn from the second."""
    return _EVIDENCE.get(one, 0) <= _EVIDENCE.get(other, 0)


@cache
def own_fields(node_type: str) -> list[str]:
    """Return the fields of this type that not every node has."""
    return [part.name for part in fields(NODES[node_type]) if part.name not in OF_ALL]


@cache
def _in_body(node_type: str) -> list[str]:
    """Return the fields of a type that a memory keeps in its body."""
    return [name for name in own_fields(node_type) if name not in (SAID.get(node_type), "confidence")]


def _body(node: Node) -> dict[str, Any]:
    body = {name: getattr(node, name) for name in _in_body(node.node_type)}
    kept = {name: value for name, value in body.items() if value not in (None, "")}
    if isinstance(node, Source) and not node.plain_text:
        kept["plain_text"] = ""
    return kept


def _episodic(memory: Told, body: Mapping[str, Any]) -> dict[str, Any]:
    observation, action = (body.get(name) or "" for name in ("observation", "action"))
    if f"{observation}{ARROW}{action}" != memory.text:
        # The text was corrected since, or the author did not write it as a step.
        observation, _, action = memory.text.partition(ARROW)
    return {"observation": observation, "action": action}


def _semantic(memory: Told, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"proposition": memory.text, "confidence": 1.0 if memory.confidence is None else memory.confidence}


def _source(memory: Told, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "episode_id": body.get("episode_id") or memory.session or "",
        "step_index": body.get("step_index") or memory.sequence or 0,
        "plain_text": None if body.get("plain_text") == "" else memory.text,
    }


_DERIVED: Mapping[str, Callable[[Told, Mapping[str, Any]], dict[str, Any]]] = {
    "episodic": _episodic,
    "semantic": _semantic,
    "source": _source,
}
