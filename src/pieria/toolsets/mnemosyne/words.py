"""Translate between the original's names and the bank's.

A reply is an object with `status`, and `error` if the call failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from pieria.bank import Bank
from pieria.errors import NotFoundError, PieriaError
from pieria.record.days import end_text, start_text
from pieria.record.fact import Fact
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.registry import Tool
from pieria.toolsets.validation import violations

SCOPES = {"session": "session", "global": "bank"}
SCOPE_WORDS = {"session": "session", "bank": "global", "user": "user"}
TIER_WORDS = {"working": "working", "kept": "episodic", "settled": "semantic"}
UNKNOWN = "unknown"
VERACITIES = ("stated", "inferred", "tool", "imported", UNKNOWN)
WRITTEN_BY = {"human": "stated", "agent": "inferred", "system": "tool"}
LONGEST = 8_000
"""Longest text in a reply, in characters; a longer one is cut, with `truncated` and `length`."""
_MISSING = {
    "mnemosyne_forget": "not_found",
    "mnemosyne_update": "not_found",
    "mnemosyne_invalidate": "memory_not_found",
}
"""Statuses for a missing memory; agents know them from the original."""


def veracity_of(memory: Memory) -> str:
    """Return how far to trust the memory, from its author or its origin."""
    told = memory.meta.get("veracity")
    if told in VERACITIES:
        return str(told)
    if memory.meta.get("imported_from") or memory.source == "import":
        return "imported"
    return WRITTEN_BY.get(memory.author_type or "", UNKNOWN)


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def told(call: Call, memory: Memory) -> dict[str, Any]:
    """Return the memory in the original's shape."""
    return {
        "id": memory.id,
        "content": memory.text[:LONGEST],
        "kind": memory.kind if memory.kind != "note" else None,
        "tier": TIER_WORDS[memory.tier],
        "importance": memory.importance,
        "timestamp": iso(memory.at),
        "source": memory.source,
        "scope": SCOPE_WORDS[memory.scope],
        "session": memory.session if memory.session != call.host.session else None,
        "veracity": veracity_of(memory),
        "valid_until": stamp(memory.valid_until),
        "superseded_by": memory.superseded_by,
        "author_id": memory.author,
        "author_type": memory.author_type,
        "channel_id": memory.channel,
    }


def triple(fact: Fact, zone: tzinfo) -> dict[str, Any]:
    return {
        "id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": start_text(fact.valid_from, zone),
        "valid_until": end_text(fact.valid_until, zone),
        "confidence": fact.confidence,
        "memory_id": fact.source_memory,
        "source": fact.source,
        "known_since": iso(fact.known_from),
    }


def closed_triple(fact: Fact, zone: tzinfo) -> dict[str, Any]:
    """Return a triple that made room for another. One that another value displaced for its whole time has no end."""
    return {**present(triple(fact, zone)), **({"displaced": True} if fact.ended else {})}


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def here(call: Call, bank: Bank) -> dict[str, Any]:
    """Return the bank and session of an answer."""
    return {"bank": bank.name, "session": call.host.session}


def succeeded(call: Call, value: dict[str, Any]) -> dict[str, Any]:
    return value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    # `violations` already holds all of `errors`, and the first error as well.
    shown = {name: value for name, value in error.as_dict().items() if name != "errors"}
    told: dict[str, Any] = {"status": "error", "error": {**shown, "violations": violations(error)}}
    if isinstance(error, NotFoundError) and error.resource == "memory" and tool.name in _MISSING:
        told["status"] = _MISSING[tool.name]
        told["memory_id"] = arguments.get("memory_id")
    return told
