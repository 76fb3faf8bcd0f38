"""Mnemex, also called CortexGraph: the folder of its store, which CORTEXGRAPH_STORAGE_PATH names there."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.exporters import Exporter
from pieria.exporters.fields import encode
from pieria.record.link import Link
from pieria.record.memory import Memory
from pieria.record.time import instant, is_over
from pieria.record.usage import Usage

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot

MEMORIES, RELATIONS = "memories.jsonl", "relations.jsonl"
LONGEST = 50_000
"""Longest content that its tools take, in characters."""
STATUSES = ("active", "promoted", "archived")
_OTHERS = ("title", "kind", "place", "importance")
"""Fields without a place there; `extra` holds them."""
_USUAL = (None, "note", 0.5)
_MARKS = ("imported_from", "origin", "mined", "promoted_to", "promoted_at", "id")
_SPACE = uuid.UUID("9d0e4c0a-5f7b-4c7e-9c59-2f1f4f3b7a10")
"""The namespace of ids made for memories whose id is no UUID: its tools accept no other."""


def write(snapshot: Snapshot, folder: Path) -> None:
    with (folder / MEMORIES).open("w", encoding="utf-8", errors="replace") as file:
        for memory, usage in snapshot.memories(("session",)):
            snapshot.leave("texts longer than its tools take, written whole", len(memory.text) > LONGEST)
            is_ended = is_over(memory.times.valid_until, snapshot.moment)
            file.write(encode(_row(memory, usage, is_ended=is_ended)) + "\n")
    with (folder / RELATIONS).open("w", encoding="utf-8", errors="replace") as file:
        for link in _between_memories(snapshot):
            file.write(encode(_relation(link)) + "\n")
    snapshot.leave("facts, which it has none of", sum(1 for _ in snapshot.facts()))
    snapshot.counts.pop("facts", None)


def _between_memories(snapshot: Snapshot) -> Iterator[Link]:
    for link in snapshot.links():
        if link.source.what == link.target.what == "memory":
            yield link
        else:
            snapshot.leave("links of places, which it has none of")


def _row(memory: Memory, usage: Usage, *, is_ended: bool) -> dict[str, Any]:
    """Return the row. What is no longer valid is archived there: it has no end of validity."""
    meta = memory.meta
    status = "archived" if is_ended else memory.standing.status
    other = {name: value for name in _OTHERS if (value := getattr(memory, name)) not in _USUAL}
    if memory.place.endswith("/note"):
        del other["place"]
    extra = {name: value for name, value in meta.items() if name not in _MARKS}
    used = max(filter(None, (usage.last_access, usage.last_review)), default=memory.at)
    promoted = status == "promoted"
    source = None if memory.source == meta.get("imported_from") else memory.source
    return {
        "id": _uuid(memory.id), "content": memory.text,
        "meta": {"tags": list(memory.tags), "source": source, "context": memory.context, "extra": {**other, **extra}},
        "created_at": _seconds(memory.at), "last_used": _seconds(used), "use_count": usage.accesses,
        "strength": memory.strength, "status": status if status in STATUSES else "archived",
        "promoted_at": _promoted_at(memory) if promoted else None,
        "promoted_to": meta.get("promoted_to") if promoted else None, "embed": None,
        "entities": list(memory.entities), "review_priority": 0.0,
        "last_review_at": None if usage.last_review is None else _seconds(usage.last_review),
        "review_count": usage.reviews, "cross_domain_count": usage.crossings,
    }  # fmt: skip


def _promoted_at(memory: Memory) -> int:
    told = memory.meta.get("promoted_at")
    try:
        return _seconds(instant(told, "promoted_at")) if isinstance(told, str) else _seconds(memory.known_from)
    except InputError:
        return _seconds(memory.known_from)


def _relation(link: Link) -> dict[str, Any]:
    made = link.meta.get("created_at")
    try:
        at = instant(made, "created_at") if isinstance(made, str) else link.known_from
    except InputError:
        at = link.known_from
    return {
        "id": _uuid(str(link.meta.get("origin") or link.id)),
        "from_memory_id": _uuid(link.source.name), "to_memory_id": _uuid(link.target.name),
        "relation_type": "consolidated_from" if link.relation == "provenance" else link.relation,
        "strength": link.weight, "created_at": _seconds(at),
        "metadata": {name: value for name, value in link.meta.items() if name not in ("created_at", "mined", "origin")},
    }  # fmt: skip


def _uuid(id: str) -> str:
    """Return an id that is a UUID, and for any other one that derives from it."""
    try:
        return id if str(uuid.UUID(id)) == id.lower() else str(uuid.uuid5(_SPACE, id))
    except ValueError:
        return str(uuid.uuid5(_SPACE, id))


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


EXPORTER = Exporter("mnemex", "Mnemex", write, is_folder=True)
