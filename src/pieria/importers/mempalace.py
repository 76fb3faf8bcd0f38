"""MemPalace: its palace's folder with drawers and diaries, its graph of facts, and its tunnels.

Reads the rows of Chroma's SQLite file, or of the backend `sqlite_exact`, without either program.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from pieria.errors import InputError, TransferError
from pieria.importers import Importer, database
from pieria.importers.database import Database
from pieria.importers.items import Item, Left, MemoryItem, Problem, memory_id
from pieria.importers.source import Source
from pieria.importers.values import name_of, names_of, number_of, object_of, text_of, without_nothing
from pieria.mining.records import named
from pieria.mining.said import excerpt
from pieria.record.draft import NewFact, NewLink, NewMemory
from pieria.record.fact import joined_source
from pieria.record.link import Place
from pieria.record.time import instant

EXPECTS = "MemPalace's folder with chroma.sqlite3 or sqlite_exact.sqlite3, such as ~/.mempalace/palace"
CHROMA, EXACT, GRAPH, TUNNELS, HALLWAYS = (
    "chroma.sqlite3", "sqlite_exact.sqlite3", "knowledge_graph.sqlite3", "tunnels.json", "hallways.json",
)  # fmt: skip
SYSTEM, COLLECTION, CLOSETS, DOCUMENT = "mempalace", "mempalace_drawers", "mempalace_closets", "chroma:document"
PARENTS = ("parent_drawer_id", "parent_entry_id")
"""Keys of the drawer that a chunk belongs to."""
DIARY, MARKS, UNKNOWN = "diary", "_registry", "unknown"
CHOSEN = {
    "hall_facts": "fact", "hall_decisions": "decision", "hall_events": "event", "hall_discoveries": "discovery",
    "hall_preferences": "preference", "hall_advice": "advice", "hall_diary": DIARY,
}  # fmt: skip
HOMES = ("MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE")
_OURS = {
    "wing",
    "room",
    "hall",
    "source_file",
    "added_by",
    "agent",
    "topic",
    "filed_at",
    "entities",
    "chunk_index",
    *PARENTS,
}
"""Keys that become fields; the others are kept in `meta`."""
_ROWS = """
SELECT e.id AS number, e.embedding_id AS id, m.key, m.string_value, m.int_value, m.float_value, m.bool_value
FROM embeddings AS e JOIN segments AS s ON s.id = e.segment_id JOIN collections AS c ON c.id = s.collection
JOIN embedding_metadata AS m ON m.id = e.id WHERE c.name = ? AND s.scope = 'METADATA'
"""
_CHUNKS = """
AND e.id IN (
    SELECT id FROM embedding_metadata WHERE key IN ('parent_drawer_id', 'parent_entry_id') AND string_value = ?
)
"""
_WAITING = """
SELECT count(*) AS number FROM embeddings_queue AS q JOIN collections AS c ON q.topic LIKE '%' || c.id
JOIN segments AS s ON s.collection = c.id AND s.scope = 'METADATA'
LEFT JOIN max_seq_id AS m ON m.segment_id = s.id WHERE c.name = ? AND q.seq_id > coalesce(m.seq_id, 0)
"""
_DOCUMENTS = """
WITH d AS (
    SELECT d.rowid AS number, d.id, d.document, iif(json_valid(d.metadata_json), d.metadata_json, '{}') AS meta
    FROM documents AS d JOIN collections AS c ON c.id = d.collection_id WHERE c.name = ?
)
SELECT id, document, meta FROM d
ORDER BY coalesce(json_extract(meta, '$.parent_drawer_id'), json_extract(meta, '$.parent_entry_id'), id),
    json_extract(meta, '$.chunk_index'), number
"""
"""The chunks of a drawer come together."""
_TRIPLES = """
SELECT t.*, s.name AS subject_name, o.name AS object_name FROM triples AS t
LEFT JOIN entities AS s ON s.id = t.subject LEFT JOIN entities AS o ON o.id = t.object ORDER BY t.rowid
"""
_TYPED = "SELECT count(*) AS number FROM entities WHERE type != 'unknown' OR properties NOT IN ('', '{}')"


def read(source: Source) -> Iterator[Item]:
    palace = _palace(source.path)
    with ExitStack() as stack:
        drawers = _Drawers(
            stack.enter_context(database.opened(palace / (CHROMA if (palace / CHROMA).exists() else EXACT)))
        )
        source.total = drawers.count()
        known = set[str]()
        for id, text, meta in drawers.all():
            source.heard(source.done + 1)
            for item in _drawer(id, text, meta):
                known.update([item.origin] if isinstance(item, MemoryItem) else [])
                yield item
        yield from drawers.left()
        graph = next((path for path in (palace / GRAPH, palace.parent / GRAPH) if path.exists()), None)
        if graph is not None:
            yield from _facts(stack.enter_context(database.opened(graph)), known)
    yield from _tunnels(palace.parent / TUNNELS, known)
    if isinstance(hallways := _list_in(palace.parent / HALLWAYS), list) and hallways:
        yield Left("hallways, which the names in drawers replace", len(hallways))


def _palace(given: Path) -> Path:
    """Return the folder with the drawers: the given one, its `palace`, or that of a given file."""
    folder = given if given.is_dir() else given.parent
    found = next(
        (each for each in (folder, folder / "palace") if (each / CHROMA).exists() or (each / EXACT).exists()), None
    )
    if found is None:
        raise TransferError(given, "it holds no drawers", hint=f"Expected {EXPECTS}.")
    return found


class _Drawers:
    """The logical drawers of a palace: the chunks of a long one are joined."""

    def __init__(self, base: Database) -> None:
        self._base = base
        tables = base.tables()
        self._is_chroma = "embedding_metadata" in tables
        if not self._is_chroma and not {"documents", "collections"} <= tables:
            raise TransferError(base.path, "it has no table of drawers", hint=f"Expected {EXPECTS}.")
        self._has_queue = {"embeddings_queue", "max_seq_id"} <= tables

    def count(self) -> int:
        return self._base.count("embeddings" if self._is_chroma else "documents")

    def all(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        if not self._is_chroma:
            for whole, rows in groupby(self._documents(COLLECTION), lambda row: _parent(row[2]) or row[0]):
                chunks = list(rows)
                yield whole, "".join(chunk[1] for chunk in chunks), chunks[0][2]
            return
        seen = set[str]()
        for id, text, meta in self._rows(COLLECTION):
            parent = _parent(meta)
            if parent is None:
                yield id, text, meta
            elif parent not in seen:
                seen.add(parent)
                chunks = sorted(self._rows(COLLECTION, parent), key=lambda chunk: _place_of(chunk[2]))
                yield parent, "".join(chunk[1] for chunk in chunks), meta

    def left(self) -> Iterator[Item]:
        rows = self._rows if self._is_chroma else self._documents
        if closets := sum(1 for _ in rows(CLOSETS)):
            yield Left("closets, MemPalace's index of drawers", closets)
        if self._has_queue and (waiting := next(self._base.query(_WAITING, COLLECTION))["number"]):
            reason = f"expected no drawers in Chroma's queue, got {waiting:,}; open the palace once with MemPalace"
            yield Problem(self._base.path.name, reason)

    def _rows(self, collection: str, parent: str | None = None) -> Iterator[tuple[str, str, dict[str, Any]]]:
        sql = f"{_ROWS}{_CHUNKS if parent is not None else ''} ORDER BY e.id"
        number, id, meta = None, "", dict[str, Any]()
        for row in self._base.query(sql, collection, *([parent] if parent is not None else [])):
            if row["number"] != number:
                if number is not None:
                    yield id, str(meta.pop(DOCUMENT, "")), meta
                number, id, meta = row["number"], str(row["id"]), {}
            meta[row["key"]] = _value(row)
        if number is not None:
            yield id, str(meta.pop(DOCUMENT, "")), meta

    def _documents(self, collection: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for row in self._base.query(_DOCUMENTS, collection):
            yield str(row["id"]), str(row["document"]), object_of(row["meta"])


def _parent(meta: Mapping[str, Any]) -> str | None:
    return next((str(meta[key]) for key in PARENTS if meta.get(key)), None)


def _value(row: Mapping[str, Any]) -> Any:
    if row["bool_value"] is not None:
        return bool(row["bool_value"])
    values = (row[name] for name in ("string_value", "int_value", "float_value"))
    return next((value for value in values if value is not None), None)


def _place_of(meta: Mapping[str, Any]) -> int:
    index = meta.get("chunk_index")
    return index if isinstance(index, int) else 0


def _drawer(id: str, text: str, meta: dict[str, Any]) -> Iterator[MemoryItem | Problem | Left]:
    wing, room = name_of(meta.get("wing")) or UNKNOWN, name_of(meta.get("room")) or UNKNOWN
    if room == MARKS or id.startswith("_reg_"):
        yield Left("marks of files without a drawer")
        return
    if text_of(text) is None:
        yield Problem(f"drawer {id}", "expected a text, got none", excerpt(meta))
        return
    is_diary = room == DIARY and "agent" in meta
    author = name_of(meta.get("agent")) or name_of(meta.get("added_by"))
    kept = {name: value for name, value in meta.items() if name not in _OURS}
    type = CHOSEN.get(str(meta.get("hall")), DIARY if is_diary else None)
    new = NewMemory(
        text,
        kind=DIARY if is_diary else "drawer",
        body=without_nothing({"type": type, "topic": name_of(meta.get("topic")) if is_diary else None}),
        place=f"{wing}/{room}",
        session=None if is_diary else f"{wing}/{room}",
        at=_local(meta.get("filed_at")),
        author=author,
        author_type="agent" if is_diary else None,
        source=text_of(meta.get("source_file")),
        meta=without_nothing(kept),
    )
    yield MemoryItem(id, replace(new, entities=names_of(_semicolons(meta.get("entities"))) or named(new)))


def _semicolons(value: object) -> object:
    return value.split(";") if isinstance(value, str) else value


def _local(value: object) -> datetime | None:
    """Return a time. MemPalace writes the time of its machine without a zone; this machine's zone replaces it."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        return None if moment is None else instant(moment.astimezone(), "filed_at")
    except (ValueError, OverflowError, OSError, InputError):
        return None


def _facts(base: Database, known: set[str]) -> Iterator[Item]:
    if not {"triples", "entities"} <= base.tables():
        yield Problem(base.path.name, "expected the tables triples and entities")
        return
    for row in base.query(_TRIPLES):
        drawer, closet = name_of(row.get("source_drawer_id")), text_of(row.get("source_closet"))
        subject = name_of(row["subject_name"]) or name_of(row["subject"])
        object = name_of(row["object_name"]) or name_of(row["object"])
        predicate = name_of(row["predicate"])
        if subject is None or predicate is None or object is None:
            yield Problem(f"fact {row['id']}", "expected a subject, a predicate and an object", excerpt(row))
            continue
        if drawer is not None and drawer not in known:
            yield Left("drawers of facts that are not in the palace")
        yield NewFact(
            str(row["id"]),
            subject,
            predicate,
            object,
            valid_from=row.get("valid_from") or None,
            valid_until=row.get("valid_to") or None,
            confidence=number_of(row.get("confidence"), 1.0),
            memory=drawer if drawer in known else None,
            source=joined_source(text_of(row.get("source_file")), closet),
            at=_local(str(row.get("extracted_at") or "").replace(" ", "T") + "+00:00"),
        )
    if typed := next(base.query(_TYPED))["number"]:
        yield Left("types and properties of entities", typed)


def _tunnels(path: Path, known: set[str]) -> Iterator[Item]:
    found = _list_in(path)
    if isinstance(found, Problem):
        yield found
        return
    for row in found:
        ends = [_end(row.get(end)) if isinstance(row, Mapping) else None for end in ("source", "target")]
        if not isinstance(row, Mapping) or name_of(row.get("id")) is None or None in ends:
            yield Problem(path.name, "expected a tunnel with an id, a source and a target", excerpt(row))
            continue
        if row.get("kind", "explicit") != "explicit":
            yield Left("tunnels that mining made, which the names in drawers replace")
            continue
        drawers = {f"{end}_drawer_id": name_of((row[end] or {}).get("drawer_id")) for end in ("source", "target")}
        told = {end: memory_id(SYSTEM, id) for end, id in drawers.items() if id in known}
        meta = without_nothing({"tunnel_id": name_of(row["id"]), "created_at": text_of(row.get("created_at")), **told})
        source, target = (Place(str(end)) for end in ends)
        weight, label = number_of(row.get("strength"), 1.0), text_of(row.get("label"))
        yield NewLink(str(row["id"]), source, "tunnel", target, weight, label, meta)


def _end(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    wing, room = name_of(value.get("wing")), name_of(value.get("room"))
    return f"{wing}/{room}" if wing and room else None


def _list_in(path: Path) -> list[Any] | Problem:
    """Return the list in a small file of JSON; none without the file."""
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        return Problem(path.name, f"expected a list as JSON ({type(problem).__name__})")
    return found if isinstance(found, list) else Problem(path.name, "expected a list", excerpt(found))


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    config = environment.get("MEMPALACE_CONFIG_DIR")
    around = environment.get("XDG_CONFIG_HOME")
    folders = [Path(environment[name]) for name in HOMES if environment.get(name)]
    folders += [Path(config) / "palace"] if config else []
    folders += [home / ".mempalace" / "palace", Path(around or home / ".config") / SYSTEM / "palace"]
    return next(
        (each for each in folders if database.is_database(each / CHROMA) or database.is_database(each / EXACT)), None
    )


IMPORTER = Importer(SYSTEM, "MemPalace", EXPECTS, read, find)
