"""mem0: the shape of its `get_all`. mem0 reads no file; a short program on the page adds the memories."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.exporters import Exporter
from pieria.exporters.fields import encode, stamp
from pieria.exporters.json_format import write_list
from pieria.record.fact import Fact
from pieria.record.memory import Memory

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot

_ROLES = {"human": "user", "agent": "assistant", "system": "system"}
_OWNERS = ("user_id", "agent_id", "app_id")
_OTHERS = ("title", "kind", "place", "source", "context", "importance")
"""Fields that mem0 has no place for, and that `metadata` can hold."""
_MARKS = ("imported_from", "origin", "hash", "updated_at", "immutable", *_OWNERS)


def write(snapshot: Snapshot, path: Path) -> None:
    rows = (_row(memory, snapshot.bank) for memory, _ in snapshot.memories(("session", "archived")))
    with path.open("w", encoding="utf-8", errors="replace") as file:
        file.write(f'{{"bank": {encode(snapshot.bank)}')
        write_list(file, "results", rows)
        write_list(file, "relations", map(_relation, snapshot.facts(current=True)))
        file.write("}\n")
    snapshot.leave("links, which mem0 has none of", sum(1 for _ in snapshot.links(counted=False)))


def _row(memory: Memory, bank: str) -> dict[str, Any]:
    kept = {name: value for name, value in memory.meta.items() if name not in _MARKS}
    more = {name: value for name in _OTHERS if (value := getattr(memory, name)) not in (None, "note", 0.5)}
    user = memory.meta.get("user_id") or bank
    row = {
        "id": memory.id, "memory": memory.text, "hash": _hash(memory.text),
        "metadata": {**more, **({"body": dict(memory.body)} if memory.body else {}), **kept},
        "categories": list(memory.tags), "created_at": stamp(memory.at), "updated_at": stamp(memory.times.known_from),
        "expiration_date": stamp(memory.times.valid_until), "user_id": user, "agent_id": memory.meta.get("agent_id"),
        "run_id": memory.session, "actor_id": memory.author, "role": _ROLES.get(str(memory.origin.author_type)),
    }  # fmt: skip
    return {name: value for name, value in row.items() if value not in (None, [], {})}


def _hash(text: str) -> str:
    """Return mem0's digest of a text, by which it recognises its own."""
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _relation(fact: Fact) -> dict[str, Any]:
    return {"source": fact.subject, "relationship": fact.predicate, "target": fact.object}


EXPORTER = Exporter("mem0", "mem0", write)
