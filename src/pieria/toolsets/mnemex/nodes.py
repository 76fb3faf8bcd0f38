"""The tools that open memories by id and relate them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.bank import Bank
from pieria.record.link import DRAWN_FROM, End, Link
from pieria.record.memory import Memory
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.words import days, score, seconds

CONSOLIDATED = "consolidated_from"
"""This toolset's name for the relation to evidence."""


def open_memories(
    call: Call, memory_ids: str | list[str], include_relations: bool, include_scores: bool
) -> dict[str, Any]:
    bank = call.bank
    wanted = list(dict.fromkeys([memory_ids] if isinstance(memory_ids, str) else memory_ids))
    found = {id: memory for id in wanted if (memory := bank.get(id)) is not None and memory.id == id}
    left = bank.upkeep.retained(list(found)) if found else {}
    shown = []
    for id, memory in found.items():
        one = left[id]
        told = _whole(memory, one.used.accesses, one.last_used, bank)
        if include_scores:
            told |= {
                "score": score(one.score),
                "retention": score(one.retention),
                "review_priority": score(one.urgency) or None,
            }
        if include_relations:
            told["relations"] = _relations(bank, memory.id)
        shown.append(told)
    return {"count": len(shown), "memories": shown, "not_found": [id for id in wanted if id not in found]}


def create_relation(
    call: Call,
    from_memory_id: str,
    to_memory_id: str,
    relation_type: str,
    strength: float,
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    bank = call.bank
    relation = DRAWN_FROM if relation_type == CONSOLIDATED else relation_type
    before = {link.id for link in bank.links(from_memory_id, relation=relation)}
    link = bank.link(from_memory_id, to_memory_id, relation, weight=strength, meta=metadata)
    is_new = link.id not in before
    done = "Created" if is_new else "The relation existed already and was updated:"
    return {
        "relation_id": link.id,
        "from": from_memory_id,
        "to": to_memory_id,
        "type": relation_type,
        "strength": link.weight,
        "metadata": dict(link.meta),
        "created": is_new,
        "message": f"{done} {relation_type} from {from_memory_id} to {to_memory_id}",
    }


def _whole(memory: Memory, uses: int, last_used: int, bank: Bank) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": memory.text,
        "title": memory.title,
        "kind": memory.kind,
        "tags": list(memory.tags),
        "entities": list(memory.entities),
        "source": memory.source,
        "context": memory.context,
        "meta": dict(memory.meta),
        "strength": memory.strength,
        "status": memory.status,
        "created_at": seconds(memory.at),
        "last_used": seconds(last_used),
        "use_count": uses,
        "age_days": days(memory.at, bank.clock()),
    }


def _relations(bank: Bank, id: str) -> dict[str, list[dict[str, Any]]]:
    own = End("memory", id)
    links = [link for link in bank.links(id) if link.source.what == link.target.what == "memory"]
    return {
        "outgoing": [_told(link, "to", link.target) for link in links if link.source == own],
        "incoming": [_told(link, "from", link.source) for link in links if link.target == own],
    }


def _told(link: Link, way: str, other: End) -> dict[str, Any]:
    type = CONSOLIDATED if link.relation == DRAWN_FROM else link.relation
    return {way: other.name, "type": type, "strength": link.weight, "relation_id": link.id}
