"""MemPalace: a folder that its `repair --mode from-sqlite` turns into a palace, with facts and tunnels beside it.

The rows have the tables of Chroma's SQLite file. Chroma makes the rest of that file, and the vectors, in the repair.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.exporters import Exporter
from pieria.record.days import end_text, start_text
from pieria.record.fact import Fact, source_parts
from pieria.record.link import Link, tunnel_id_of
from pieria.record.memory import Memory
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot

SYSTEM, TUNNEL, DIARY = "mempalace", "tunnel", "diary"
CHUNK = 800
"""How many characters MemPalace embeds as one document."""
HALLS = {
    "fact": "hall_facts",
    "decision": "hall_decisions", "event": "hall_events", "discovery": "hall_discoveries",
    "preference": "hall_preferences", "advice": "hall_advice", DIARY: "hall_diary",
}  # fmt: skip
_MARKS = ("imported_from", "origin")
_ROWS = """
CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER);
CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, collection TEXT NOT NULL);
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL, seq_id INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE embedding_metadata (
    id INTEGER, key TEXT NOT NULL, string_value TEXT, int_value INTEGER, float_value REAL, bool_value INTEGER,
    PRIMARY KEY (id, key)
);
INSERT INTO collections (id, name) VALUES ('drawers', 'mempalace_drawers'), ('closets', 'mempalace_closets');
INSERT INTO segments VALUES ('drawer-rows', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'drawers');
INSERT INTO segments VALUES ('closet-rows', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'closets');
"""
_FACTS = """
CREATE TABLE entities (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT DEFAULT 'unknown', properties TEXT DEFAULT '{}',
    created_at TEXT DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE triples (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL, valid_from TEXT,
    valid_to TEXT, confidence REAL DEFAULT 1.0, source_closet TEXT, source_file TEXT, source_drawer_id TEXT,
    adapter_name TEXT, extracted_at TEXT DEFAULT CURRENT_TIMESTAMP
);
"""
_FACT = "INSERT INTO triples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def write(snapshot: Snapshot, folder: Path) -> None:
    palace = folder / "palace"
    palace.mkdir()
    ids = _write_drawers(snapshot, palace / "chroma.sqlite3")
    _write_facts(snapshot, palace / "knowledge_graph.sqlite3", ids)
    tunnels = [_tunnel(link, ids) for link in snapshot.links() if _is_tunnel(link, snapshot)]
    (folder / "tunnels.json").write_text(json.dumps(tunnels, ensure_ascii=False, indent=2), "utf-8")


def _write_drawers(snapshot: Snapshot, path: Path) -> dict[str, str]:
    """Write the drawers; return the ids that differ from ours."""
    ids = dict[str, str]()
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(_ROWS)
        number = 0
        for memory, _ in snapshot.memories(("session", "archived", "over")):
            snapshot.leave("titles", int(memory.title is not None))
            id = _origin(memory)
            if id != memory.id:
                ids[memory.id] = id
            for row, text, meta in _chunks(id, memory.text, _metadata(memory, snapshot.bank)):
                number += 1
                base.execute(
                    "INSERT INTO embeddings VALUES (?, 'drawer-rows', ?, ?, ?)", (number, row, number, iso(memory.at))
                )
                values = {"chroma:document": text, **meta}
                base.executemany(
                    "INSERT INTO embedding_metadata VALUES (?, ?, ?, ?, ?, ?)",
                    [(number, key, *_typed(value)) for key, value in values.items()],
                )
    return ids


def _origin(memory: Memory) -> str:
    """Return the id that the drawer had in MemPalace, or else its own."""
    if memory.meta.get("imported_from") == SYSTEM and isinstance(memory.meta.get("origin"), str):
        return str(memory.meta["origin"])
    return memory.id


def _metadata(memory: Memory, bank: str) -> dict[str, Any]:
    wing, _, room = (memory.place or f"{bank}/{memory.kind}").partition("/")
    is_diary = memory.kind == DIARY
    kept = {
        name: value for name, value in memory.meta.items()
        if name not in _MARKS and isinstance(value, str | int | float | bool)
    }  # fmt: skip
    source = memory.source if memory.source != SYSTEM else None
    values: dict[str, Any] = {
        **kept,
        "wing": wing,
        "room": room,
        "source_file": source,
        "agent" if is_diary else "added_by": memory.author,
        "topic": memory.body.get("topic") if is_diary else None,
        "type": "diary_entry" if is_diary else kept.get("type"),
        "date": f"{_local(memory.at):%Y-%m-%d}" if is_diary else kept.get("date"),
        "hall": HALLS.get(str(memory.body.get("type"))),
        "entities": ";".join(memory.entities) or None,
        "filed_at": _local(memory.at).isoformat(),
        "chunk_index": 0,
    }
    return {name: value for name, value in values.items() if value is not None}


def _local(moment: datetime) -> datetime:
    """Return the time of this machine without its zone, as MemPalace writes times."""
    return moment.astimezone().replace(tzinfo=None)


def _chunks(id: str, text: str, meta: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a short text whole, and a long one in pieces that name their drawer."""
    if len(text) <= CHUNK:
        yield id, text, meta
        return
    parents = {"parent_drawer_id": id, **({"parent_entry_id": id} if meta.get("type") == "diary_entry" else {})}
    for index, begin in enumerate(range(0, len(text), CHUNK)):
        yield f"{id}_chunk_{index:06d}", text[begin : begin + CHUNK], {**meta, **parents, "chunk_index": index}


def _typed(value: object) -> tuple[object, object, object, object]:
    """Return the columns for a text, a whole number, a number, and true or false."""
    if isinstance(value, bool):
        return None, None, None, int(value)
    if isinstance(value, int):
        return None, value, None, None
    return (None, None, value, None) if isinstance(value, float) else (str(value), None, None, None)


def _write_facts(snapshot: Snapshot, path: Path, ids: Mapping[str, str]) -> None:
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(_FACTS)
        for fact in snapshot.facts():
            for name in (fact.subject, fact.object):
                base.execute("INSERT OR IGNORE INTO entities (id, name) VALUES (?, ?)", (_entity(name), name))
            base.execute(_FACT, _row(fact, snapshot.zone, ids))


def _row(fact: Fact, zone: tzinfo, ids: Mapping[str, str]) -> tuple[object, ...]:
    file, closet = source_parts(fact.source if fact.source != SYSTEM else None)
    drawer = fact.source_memory
    return (
        fact.id, _entity(fact.subject), fact.predicate, _entity(fact.object),
        _moment(start_text(fact.valid_from, zone), fact.valid_from),
        _moment(end_text(fact.valid_until, zone), fact.valid_until),
        1.0 if fact.confidence is None else fact.confidence, closet, file,
        None if drawer is None else ids.get(drawer, drawer), None, fact.known_from.astimezone(UTC).strftime("%F %T"),
    )  # fmt: skip


def _entity(name: str) -> str:
    return name.lower().replace(" ", "_").replace("'", "")


def _moment(text: str | None, moment: datetime | None) -> str | None:
    """Return a day, or a time to the second: MemPalace compares these texts."""
    if text is None or moment is None or "T" not in text:
        return text
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_tunnel(link: Link, snapshot: Snapshot) -> bool:
    is_one = link.relation == TUNNEL and {link.source.what, link.target.what} == {"place"}
    snapshot.leave("links that are no tunnels", int(not is_one))
    return is_one


def _tunnel(link: Link, ids: Mapping[str, str]) -> dict[str, Any]:
    places = link.source.name, link.target.name
    ends = [dict(zip(("wing", "room"), place.split("/", 1), strict=True)) for place in places]
    for end, name in zip(ends, ("source_drawer_id", "target_drawer_id"), strict=True):
        drawer = link.meta.get(name)
        if isinstance(drawer, str):
            end["drawer_id"] = ids.get(drawer, drawer)
    return {
        "id": link.meta.get("tunnel_id") or tunnel_id_of(*places),
        "source": ends[0],
        "target": ends[1],
        "label": link.label or "",
        "kind": "explicit",
        "created_at": link.meta.get("created_at") or iso(link.known_from),
        "strength": link.weight,
    }


EXPORTER = Exporter(SYSTEM, "MemPalace", write, is_folder=True)
