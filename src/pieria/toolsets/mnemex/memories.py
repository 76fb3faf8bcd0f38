"""The tools that save, open, edit, relate and forget memories, record their use, and analyze messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.errors import InputError
from pieria.record.link import DRAWN_FROM, End, Link
from pieria.record.memory import STATEMENT, Memory, unchanged_source
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.words import cleaned, days, opened, promotion, score, seconds, tag, warned

FADED = "It scores {score:.2f}, so the next gc removes it again: touch_memory keeps it."
NOTHING, OFF = "no memory_ids provided", "auto_reinforce is disabled in config"
CONSOLIDATED = "consolidated_from"
"""This toolset's name for the relation to evidence."""
EMPTY = "The message is empty"
SKIP, SAVE, SEARCH = "skip", "save", "search"
SAVE_REQUESTS = frozenset({"asked", "asked kindly", "introduced", "told"})
DECISIONS = frozenset({"decided", "preferring"})
"""Groups of phrases that are one signal to Mnemex."""
DIGITS = 2


def save_memory(
    call: Call,
    content: str,
    tags: list[str] | None = None,
    entities: list[str] | None = None,
    source: str | None = None,
    context: str | None = None,
    meta: Mapping[str, Any] | None = None,
    strength: float | None = None,
) -> dict[str, Any]:
    bank = call.bank
    given = list(tags or [])
    read = bank.text.enrich(content, entities=entities, strength=strength)
    memory = bank.remember(
        content,
        tags=cleaned(given),
        entities=read.entities,
        source=source,
        context=context,
        meta=meta,
        strength=read.strength,
    )
    twins = [twin.id for twin in bank.identical(memory.text) if twin.id != memory.id]
    more = [f"The same content is in {', '.join(twins)} already."] if twins else []
    more += [f"A tag was left out, for it holds no letter or digit: {one}" for one in given if not tag(one)]
    return {
        "memory_id": memory.id,
        "message": f"Memory saved with ID: {memory.id}",
        "has_embedding": memory.id in bank.embedded(memory.id),
        "enrichment_applied": read.is_enriched,
        "auto_entities": len(memory.entities) if entities is None else 0,
        "calculated_strength": memory.strength,
        **_labelled(memory),
        **warned(memory, more),
    }


def edit_memory(
    call: Call,
    memory_id: str,
    content: str | None = None,
    tags: list[str] | None = None,
    strength: float | None = None,
    reason: str | None = None,
) -> dict[str, Any]:
    bank = call.bank
    opened(bank, memory_id)
    asked = {"text": content, "tags": None if tags is None else cleaned(tags), "strength": strength}
    changes: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if not changes:
        raise InputError("content", "at least one of content, tags and strength", None)
    memory = bank.update(memory_id, reason=reason, **changes)
    return {
        "memory_id": memory.id,
        "version": memory.version,
        "content": memory.text,
        "strength": memory.strength,
        **_labelled(memory),
        "message": f"Memory {memory.id} is now version {memory.version}",
        **warned(memory, unchanged_source(memory)),
    }


def forget_memory(call: Call, memory_id: str, erase: bool, reason: str | None = None) -> dict[str, Any]:
    bank = call.bank
    memory = opened(bank, memory_id, include_removed=erase)
    if erase:
        receipt = bank.purge(memory_id)
        message = f"Memory {memory_id} is erased, with its history"
        return {"memory_id": memory_id, "status": "erased", "changed": True, "also": list(receipt.also),
                "unreached": list(receipt.unreached), "message": message}  # fmt: skip
    if memory.kind == STATEMENT:
        # An archived statement would leave its fact in force.
        removed = bank.remove(memory_id, reason=reason)
        message = f"The fact {memory_id} is removed; recover_memory brings it back"
        return {"memory_id": memory_id, "status": "removed", "changed": True, "message": message,
                **warned(removed, unchanged_source(removed))}  # fmt: skip
    if memory.status == "archived":
        return {"memory_id": memory_id, "status": "archived", "changed": False, "message": "It was archived before"}
    bank.update(memory_id, status="archived", reason=reason)
    message = f"Memory {memory_id} is archived; recover_memory brings it back"
    return {"memory_id": memory_id, "status": "archived", "changed": True, "message": message}


def recover_memory(call: Call, memory_id: str) -> dict[str, Any]:
    bank = call.bank
    memory = opened(bank, memory_id, include_removed=True)
    changed = memory.removed or memory.status == "archived"
    if memory.removed:
        memory = bank.restore(memory_id)
    if memory.status == "archived":
        before = [one.status for one in bank.history(memory_id) if one.status != "archived"]
        memory = bank.update(memory_id, status=before[-1] if before else "active")
    message = f"Memory {memory_id} is {memory.status} again" if changed else f"It is {memory.status} already"
    told = {"memory_id": memory_id, "status": memory.status, "changed": changed, "message": message}
    if not memory.is_stored:
        return told
    left = bank.upkeep.retained(memory_id)[memory_id].score
    return told if left >= bank.fading.forget else {**told, "warnings": [FADED.format(score=left)]}


def _labelled(memory: Memory) -> dict[str, Any]:
    return {"entities": list(memory.entities), "tags": list(memory.tags)}


def touch_memory(call: Call, memory_id: str, boost_strength: bool) -> dict[str, Any]:
    bank = call.bank
    before = bank.upkeep.retained(opened(bank, memory_id).id)[memory_id]
    bank.touch(memory_id, boost=boost_strength)
    after = bank.upkeep.retained(memory_id)[memory_id]
    return {
        "memory_id": memory_id,
        "old_score": score(before.score),
        "new_score": score(after.score),
        "use_count": after.used.accesses,
        "strength": after.memory.strength,
        "message": f"Memory reinforced. Score: {before.score:.2f} -> {after.score:.2f}",
    }


def observe_memory_usage(call: Call, memory_ids: list[str], context_tags: list[str]) -> dict[str, Any]:
    if not memory_ids:
        return _nothing(NOTHING)
    told = call.bank.upkeep.reinforce(memory_ids, context_tags=_spelt(call.bank, memory_ids, context_tags))
    if told.reason is not None:
        return _nothing(OFF)
    return {
        "reinforced": told.count > 0,
        "count": told.count,
        "cross_domain_count": told.crossings,
        "results": [_result(one) for one in told.results],
    }


def _spelt(bank: Bank, ids: list[str], tags: list[str]) -> list[str]:
    """Return the tags in the spelling these memories use: other toolsets spell tags differently."""
    memories = [memory for id in ids if (memory := bank.get(id)) is not None]
    theirs = {tag(one): one for memory in memories for one in memory.tags}
    return [theirs.get(one, one) for one in cleaned(tags)]


def _nothing(reason: str) -> dict[str, Any]:
    return {"reinforced": False, "reason": reason, "count": 0, "cross_domain_count": 0, "results": []}


def _result(one: Any) -> dict[str, Any]:
    if one.after is None:
        return {"id": one.id, "status": "not_found", "reason": one.missing}
    return {
        "id": one.id,
        "status": "reinforced",
        "cross_domain": one.crossing,
        "new_use_count": one.after.used.accesses,
        "new_review_count": one.after.used.reviews,
        "strength": one.after.memory.strength,
    }


def open_memories(
    call: Call, memory_ids: str | list[str], include_relations: bool, include_scores: bool
) -> dict[str, Any]:
    bank = call.bank
    wanted = list(dict.fromkeys([memory_ids] if isinstance(memory_ids, str) else memory_ids))
    found = {id: memory for id in wanted if (memory := bank.get(id)) is not None and memory.id == id}
    stored = [id for id, memory in found.items() if memory.is_stored]
    left = bank.upkeep.retained(stored) if stored else {}
    shown = [
        _opened(bank, memory, left.get(id), scores=include_scores, relations=include_relations)
        for id, memory in found.items()
    ]
    return {"count": len(shown), "memories": shown, "not_found": [id for id in wanted if id not in found]}


def _opened(bank: Bank, memory: Memory, left: Any, *, scores: bool, relations: bool) -> dict[str, Any]:
    """Return the memory for a reply. A fact drawn from a memory does not fade, so it has no scores and uses."""
    uses, last_used = (0, memory.at) if left is None else (left.used.accesses, left.last_used)
    told = _whole(memory, uses, last_used, bank)
    if scores and left is not None:
        told |= {
            "score": score(left.score),
            "retention": score(left.retention),
            "review_priority": score(left.urgency) or None,
            "age_days": days(memory.at, bank.clock()),
        }
    if relations:
        told["relations"] = _relations(bank, memory.id)
    return told


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


def _whole(memory: Memory, uses: int, last_used: datetime | int, bank: Bank) -> dict[str, Any]:
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
        **promotion(memory, bank),
    }


def _relations(bank: Bank, id: str) -> dict[str, list[dict[str, Any]]]:
    own = End("memory", id)
    links = [link for link in bank.links(id) if link.source.what == link.target.what == "memory"]
    return {
        "outgoing": [_told(link, "to", link.target) for link in links if link.source == own],
        "incoming": [_told(link, "from", link.source) for link in links if link.target == own],
    }


def _told(link: Link, way: str, other: End) -> dict[str, Any]:
    return {way: other.name, "type": type_of(link), "strength": score(link.weight), "relation_id": link.id}


def type_of(link: Link) -> str:
    return CONSOLIDATED if link.relation == DRAWN_FROM else link.relation


def analyze_message(call: Call, message: str) -> dict[str, Any]:
    if not message.strip():
        return _saving(0.0, SKIP, EMPTY)
    found = call.bank.text.analyze(message).saving
    signals = _signals(
        found,
        save_request=not SAVE_REQUESTS.isdisjoint(found.groups),
        decision_marker=not DECISIONS.isdisjoint(found.groups),
        importance_marker=found.important,
        critical_marker=found.critical,
    )
    return _saving(found.confidence, found.band, found.reasoning, found.entities, found.tags, found.strength, signals)


def analyze_for_recall(call: Call, message: str) -> dict[str, Any]:
    if not message.strip():
        return _recalling(0.0, SKIP, EMPTY)
    found = call.bank.text.analyze(message).recalling
    signals = _signals(found, recall_request=bool(found.phrases))
    return _recalling(found.confidence, found.band, found.reasoning, found.query, found.entities, found.tags, signals)


def _saving(
    confidence: float,
    band: str,
    reasoning: str,
    entities: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    strength: float = 1.0,
    signals: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "should_save": band == SAVE,
        "confidence": round(confidence, DIGITS),
        "action": band,
        "suggested_entities": list(entities),
        "suggested_tags": list(tags),
        "suggested_strength": strength,
        "reasoning": reasoning,
        "phrase_signals": signals or {},
    }


def _recalling(
    confidence: float,
    band: str,
    reasoning: str,
    query: str = "",
    entities: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    signals: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "should_search": band == SEARCH,
        "confidence": round(confidence, DIGITS),
        "action": band,
        "suggested_query": query,
        "suggested_tags": list(tags),
        "suggested_entities": list(entities),
        "reasoning": reasoning,
        "phrase_signals": signals or {},
    }


def _signals(found: Any, **more: bool) -> dict[str, Any]:
    """Return the signals that are not empty."""
    against = {"against": list(found.against), "exclusion_pattern": bool(found.against)}
    told = {"matched_phrases": list(found.phrases), **against, **more}
    return {name: value for name, value in told.items() if value}
