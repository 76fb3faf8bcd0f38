"""Counting what is of use, so that it stays."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.words import cleaned, opened, score, tag

NOTHING, OFF = "no memory_ids provided", "auto_reinforce is disabled in config"


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
    """Tags as these memories bear them: what other toolsets keep spells them otherwise, and means the same."""
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
