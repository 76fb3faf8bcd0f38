"""The tools that save, edit, forget and recover memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import InputError
from pieria.record.memory import Memory
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.words import cleaned, opened, tag, warned

FADED = "It scores {score:.2f}, so the next gc removes it again: touch_memory keeps it."


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
        **warned(memory),
    }


def forget_memory(call: Call, memory_id: str, erase: bool, reason: str | None = None) -> dict[str, Any]:
    bank = call.bank
    memory = opened(bank, memory_id, include_removed=erase)
    if erase:
        receipt = bank.purge(memory_id)
        message = f"Memory {memory_id} is erased, with its history"
        return {"memory_id": memory_id, "status": "erased", "changed": True, "also": list(receipt.also),
                "unreached": list(receipt.unreached), "message": message}  # fmt: skip
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
    left = bank.upkeep.retained(memory_id)[memory_id].score
    told = {"memory_id": memory_id, "status": memory.status, "changed": changed, "message": message}
    return told if left >= bank.fading.forget else {**told, "warnings": [FADED.format(score=left)]}


def _labelled(memory: Memory) -> dict[str, Any]:
    return {"entities": list(memory.entities), "tags": list(memory.tags)}
