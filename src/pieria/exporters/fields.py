"""Memories, facts and links as JSON objects, with the names that `remember` and the importer of JSON lines use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pieria.record.fact import Fact
from pieria.record.link import Link
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.record.usage import UNUSED, Usage

encode = json.JSONEncoder(ensure_ascii=False).encode
USUAL: Mapping[str, Any] = {
    "kind": "note", "importance": 0.5, "strength": 1.0, "scope": "bank", "pinned": False, "status": "active",
    "tier": "working", "weight": 1.0, "source_is": "memory", "target_is": "memory",
}  # fmt: skip
"""Values that need not be written."""


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def memory_values(memory: Memory, usage: Usage) -> dict[str, Any]:
    return _told(
        {
            "id": memory.id, "text": memory.text, "title": memory.title, "kind": memory.kind,
            "body": dict(memory.body), "tags": list(memory.tags), "entities": list(memory.entities),
            "files": list(memory.files), "importance": memory.importance, "confidence": memory.confidence,
            "strength": memory.strength, "scope": memory.scope, "source": memory.source, "context": memory.context,
            "author": memory.author, "author_type": memory.origin.author_type, "channel": memory.origin.channel,
            "session": memory.session, "sequence": memory.origin.sequence, "place": memory.place,
            "at": iso(memory.at), "valid_from": stamp(memory.times.valid_from),
            "valid_until": stamp(memory.times.valid_until), "pinned": memory.pinned,
            "status": memory.standing.status, "tier": memory.standing.tier, "meta": dict(memory.meta),
            "usage": {} if usage == UNUSED else _told(usage.as_dict() | {"spaced": usage.spaced}),
        }
    )  # fmt: skip


def fact_values(fact: Fact) -> dict[str, Any]:
    return _told(
        {
            "id": fact.id, "subject": fact.subject, "predicate": fact.predicate, "object": fact.object,
            "valid_from": stamp(fact.valid_from), "valid_until": stamp(fact.valid_until),
            "confidence": fact.confidence, "memory": fact.source_memory, "source": fact.source,
            "at": iso(fact.known_from),
        }
    )  # fmt: skip


def link_values(link: Link) -> dict[str, Any]:
    return _told(
        {
            "id": link.id, "source": link.source.name, "source_is": link.source.what, "relation": link.relation,
            "target": link.target.name, "target_is": link.target.what, "weight": link.weight, "label": link.label,
            "meta": dict(link.meta),
        }
    )  # fmt: skip


def _told(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in values.items()
        if value not in (None, "", [], {}, 0) and value != USUAL.get(name, ...)
    }  # fmt: skip
