"""Mnemosyne's own export, version 1.3: `mnemosyne import` reads it, and so does our importer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.exporters import Exporter
from pieria.exporters.fields import encode
from pieria.exporters.json_format import write_list
from pieria.record.fact import Fact
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory
from pieria.record.usage import Usage

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot

NAME = "mnemosyne"
VERSION = "1.3"
SUMMARY = "summary"
UNNAMED = "default"
VERACITIES = {"human": "stated", "agent": "inferred", "system": "tool"}
MARKS = ("imported_from", "origin", "veracity", "superseded_by", NAME)
"""Keys of `meta` that have a place of their own in a row."""
EMPTY = ("episodic_embeddings", "consolidation_log", "legacy_memories", "legacy_embeddings", "canonical_facts")
"""Sections that every export has, and a bank has nothing for."""


def write(snapshot: Snapshot, path: Path) -> None:
    ids = _Ids(snapshot)
    summaries: list[dict[str, Any]] = []
    counts = snapshot.counts
    facts = list(_Facts(snapshot, ids).rows())
    with path.open("w", encoding="utf-8", errors="replace") as file:
        header = {"version": VERSION, "export_date": datetime.now(UTC).isoformat(), "source_db": snapshot.bank}
        file.write(f'{{"mnemosyne_export": {encode(header)}')
        write_list(file, "working_memory", ids.memories(summaries))
        write_list(file, "episodic_memory", summaries)
        write_list(file, "scratchpad", _entries(snapshot))
        for name in ("triples", "annotations"):
            rows = [row for section, row in facts if section == name]
            write_list(file, name, rows)
            counts[name] = len(rows)
        for name in EMPTY:
            write_list(file, name, ())
        file.write("}\n")
    counts["episodic_memory"] = len(summaries)
    counts["working_memory"] = counts.pop("memories", 0) - len(summaries)
    counts["scratchpad"] = counts.pop("entries", 0)
    del counts["facts"]


class _Ids:
    """The ids that memories have in Mnemosyne, and the sources of summaries."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[str, str] = {}
        self._sources: dict[str, list[str]] = {}
        for link in snapshot.links():
            if link.relation == DRAWN_FROM:
                self._sources.setdefault(link.source.name, []).append(link.target.name)
            else:
                snapshot.leave("links other than those from a summary to its sources")
        del snapshot.counts["links"]
        for memory, _ in snapshot.memories():
            if memory.meta.get("imported_from") == NAME and "origin" in memory.meta:
                self._known[memory.id] = str(memory.meta["origin"])
        del snapshot.counts["memories"]

    def name(self, id: str) -> str:
        return self._known.get(id, id)

    def memories(self, summaries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the rows of working memory, and collect those of summaries."""
        for memory, usage in self._snapshot.memories():
            row = self._row(memory, usage)
            if memory.kind == SUMMARY:
                sources = map(self.name, self._sources.get(memory.id, ()))
                summaries.append(row | {"summary_of": ",".join(sources), "tier": 1 + int(memory.body.get("level", 0))})
            else:
                yield row

    def _row(self, memory: Memory, usage: Usage) -> dict[str, Any]:
        kept = memory.meta.get(NAME)
        rest = dict(kept) if isinstance(kept, dict) else {}
        successor = memory.superseded_by or memory.meta.get("superseded_by")
        return {
            **rest,
            "id": self.name(memory.id),
            "content": memory.text,
            "source": memory.source,
            "timestamp": _moment(memory.at),
            "session_id": memory.session or rest.get("session_id") or UNNAMED,
            "importance": memory.importance,
            "metadata_json": json.dumps(_metadata(memory), ensure_ascii=False),
            "valid_until": _moment(memory.times.valid_until),
            "superseded_by": None if successor is None else self.name(str(successor)),
            "scope": _scope(memory, rest),
            "recall_count": int(rest.get("recall_count") or 0) + usage.accesses,
            "last_recalled": _moment(usage.last_access) or rest.get("last_recalled"),
            "created_at": rest.get("created_at") or _moment(memory.at),
            "veracity": memory.meta.get("veracity") or VERACITIES.get(memory.origin.author_type or "", "unknown"),
            "author_id": memory.author,
            "author_type": memory.origin.author_type,
            "channel_id": memory.origin.channel,
        }


def _metadata(memory: Memory) -> dict[str, Any]:
    """Return the metadata, and what a row of Mnemosyne has no column for."""
    meta = {name: value for name, value in memory.meta.items() if name not in MARKS}
    kind = None if memory.kind in ("note", SUMMARY) else memory.kind
    status = None if memory.standing.status == "active" else memory.standing.status
    more = {"title": memory.title, "tags": list(memory.tags), "kind": kind, "status": status}
    return meta | {name: value for name, value in more.items() if value}


def _scope(memory: Memory, rest: dict[str, Any]) -> str:
    """Return the row's scope. In the session that all clients share, either scope is public, so it stays."""
    if memory.scope == "session":
        return "session"
    return str(rest.get("scope") or "global") if memory.session is None else "global"


def _entries(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    for session, entry in snapshot.entries():
        times = {name: _moment(datetime.fromisoformat(entry[name])) for name in ("created_at", "updated_at")}
        yield {"id": entry["id"], "content": entry["content"], "session_id": session or UNNAMED, **times}


class _Facts:
    """Facts as rows of triples, or of annotations if they are about a memory."""

    def __init__(self, snapshot: Snapshot, ids: _Ids) -> None:
        self._snapshot = snapshot
        self._ids = ids

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, fact in enumerate(self._snapshot.facts(mentions=True), 1):
            shared = {
                "id": number,
                "source": "" if fact.source == NAME else fact.source,
                "confidence": 1.0 if fact.confidence is None else fact.confidence,
                "created_at": _moment(fact.known_from),
            }
            if fact.subject == fact.memory:
                name = self._ids.name(fact.subject)
                yield "annotations", shared | {"memory_id": name, "kind": fact.predicate, "value": fact.object}
            else:
                yield "triples", shared | _triple(fact)


def _triple(fact: Fact) -> dict[str, Any]:
    begin = _day(fact.valid_from) or _moment(fact.known_from)
    named = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
    return named | {"valid_from": begin, "valid_until": _day(fact.valid_until)}


def _moment(moment: datetime | None) -> str | None:
    """Return a time as Mnemosyne writes it: without a zone, which means UTC here."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None).isoformat()


def _day(moment: datetime | None) -> str | None:
    written = _moment(moment)
    return written.removesuffix("T00:00:00") if written is not None else None


EXPORTER = Exporter(NAME, "Mnemosyne", write)
