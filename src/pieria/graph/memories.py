"""A node as a memory, and a memory as a node: what a bank keeps of a graph, field by field.

The text of a memory is what its node says, so that whoever corrects the one has corrected the other. What a memory
lacks that a node needs is derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from pieria.graph.edge import Edge
from pieria.graph.nodes import ARROW, NODES, Node, Semantic, Source
from pieria.record.draft import NewMemory
from pieria.record.memory import Memory

OF_ALL = ("id", "created_at", "embedding", "links")
SAID = {
    "semantic": "proposition",
    "procedural": "instruction",
    "subgoal": "description",
    "source": "plain_text",
    "tag": "label",
    "intent": "description",
}
"""Which field of a type is its text alone. What an episodic node says is put together from two."""
SEEN_AS = {
    "note": "semantic",
    "drawer": "semantic",
    "observation": "semantic",
    "summary": "semantic",
    "diary": "episodic",
    "turn": "episodic",
}
"""As which type of node a memory of another kind is seen, by whoever looks at all of a bank as a graph."""
# Evidence lies to the right of what was drawn from it: knowledge, then the steps, then their sources.
_EVIDENCE = {"episodic": 1, "source": 2}


def memory_of(node: Node) -> NewMemory:
    """What is to be remembered of it; its ties are links of the bank."""
    return NewMemory(
        node.text,
        id=node.id,
        kind=node.node_type,
        body=_body(node),
        confidence=node.confidence if isinstance(node, Semantic) else None,
        at=node.created_at,
        vectors=node.embedding,
    )


def node_of(memory: Memory, links: Mapping[Edge, frozenset[str]], embedding: Sequence[float] | None) -> Node:
    """The node that a memory of one of the seven kinds is."""
    own = {name: memory.body[name] for name in _in_body(memory.kind) if memory.body.get(name) is not None}
    return NODES[memory.kind](
        id=memory.id,
        created_at=memory.at,
        embedding=embedding,
        links=links,
        **{**own, **_DERIVED.get(memory.kind, _said)(memory)},
    )


def seen_as(memory: Memory) -> Memory:
    """A memory of any kind as one of the seven: what its kind has besides the text says nothing about a node."""
    kind = SEEN_AS.get(memory.kind)
    return memory if kind is None else replace(memory, kind=kind, body={})


def drawn(one: str, other: str) -> bool:
    """Whether, of two types of node that are tied by provenance, the first is drawn from the second."""
    return _EVIDENCE.get(one, 0) <= _EVIDENCE.get(other, 0)


@cache
def own_fields(node_type: str) -> list[str]:
    """The fields that this type has and not every node."""
    return [part.name for part in fields(NODES[node_type]) if part.name not in OF_ALL]


@cache
def _in_body(node_type: str) -> list[str]:
    """The fields of a type for which a memory has no other place."""
    return [name for name in own_fields(node_type) if name not in (SAID.get(node_type), "confidence")]


def _body(node: Node) -> dict[str, Any]:
    body = {name: getattr(node, name) for name in _in_body(node.node_type)}
    kept = {name: value for name, value in body.items() if value not in (None, "")}
    if isinstance(node, Source) and not node.plain_text:
        kept["plain_text"] = ""
    return kept


def _said(memory: Memory) -> dict[str, Any]:
    return {SAID[memory.kind]: memory.text}


def _episodic(memory: Memory) -> dict[str, Any]:
    observation, action = (memory.body.get(name) or "" for name in ("observation", "action"))
    if f"{observation}{ARROW}{action}" != memory.text:
        # It was corrected since, or comes from somebody who knows no steps.
        observation, _, action = memory.text.partition(ARROW)
    return {"observation": observation, "action": action}


def _semantic(memory: Memory) -> dict[str, Any]:
    return {"proposition": memory.text, "confidence": 1.0 if memory.confidence is None else memory.confidence}


def _source(memory: Memory) -> dict[str, Any]:
    return {
        "episode_id": memory.body.get("episode_id") or memory.session or "",
        "step_index": memory.body.get("step_index") or memory.sequence or 0,
        "plain_text": None if memory.body.get("plain_text") == "" else memory.text,
    }


_DERIVED: Mapping[str, Callable[[Memory], dict[str, Any]]] = {
    "episodic": _episodic,
    "semantic": _semantic,
    "source": _source,
}
