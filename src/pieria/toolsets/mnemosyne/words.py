"""Translate between the original's names and the bank's."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.record.fact import Fact
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.host import Call

SCOPES = {"session": "session", "global": "bank"}
SCOPE_WORDS = {"session": "session", "bank": "global", "user": "user"}
TIER_WORDS = {"working": "working", "kept": "episodic", "settled": "semantic"}
VERACITIES = ("stated", "inferred", "tool", "imported", "unknown")
WRITTEN_BY = {"human": "stated", "agent": "inferred", "system": "tool"}
LONGEST = 8_000
"""Longest text in a reply, in characters; a longer one is cut, with `truncated` and `length`."""


def veracity(memory: Memory) -> str:
    """Return how far to trust the memory, from its author or its origin."""
    told = memory.meta.get("veracity")
    if told in VERACITIES:
        return str(told)
    if memory.meta.get("imported_from") or memory.source == "import":
        return "imported"
    return WRITTEN_BY.get(memory.author_type or "", "unknown")


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def told(memory: Memory) -> dict[str, Any]:
    """Return the memory in the original's shape."""
    return {
        "id": memory.id,
        "content": memory.text[:LONGEST],
        "truncated": len(memory.text) > LONGEST,
        "length": len(memory.text),
        "kind": memory.kind,
        "tier": TIER_WORDS[memory.tier],
        "importance": memory.importance,
        "timestamp": iso(memory.at),
        "source": memory.source,
        "scope": SCOPE_WORDS[memory.scope],
        "session": memory.session,
        "veracity": veracity(memory),
        "valid_until": stamp(memory.valid_until),
        "superseded_by": memory.superseded_by,
        "author_id": memory.author,
        "author_type": memory.author_type,
        "channel_id": memory.channel,
    }


def triple(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": stamp(fact.valid_from),
        "valid_until": stamp(fact.valid_until),
        "confidence": fact.confidence,
        "memory_id": fact.source_memory,
        "source": fact.source,
        "known_since": iso(fact.known_from),
    }


def here(call: Call, bank: Bank) -> dict[str, Any]:
    """Return the bank and session of an answer."""
    return {"bank": bank.name, "session": call.host.session}
