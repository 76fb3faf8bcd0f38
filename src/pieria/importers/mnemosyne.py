"""Mnemosyne, the memory for agents: its store `mnemosyne.db`, or the JSON of its export, versions 1.0 to 1.3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.errors import TransferError
from pieria.importers import Importer, database
from pieria.importers.files import json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem, memory_id
from pieria.importers.source import Source
from pieria.importers.values import digest_of, moment_of, name_of, number_of, object_of, text_of, without_nothing
from pieria.mining.said import excerpt
from pieria.record.draft import NewEntry, NewFact, NewLink, NewMemory
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import AUTHOR_TYPES
from pieria.record.time import instant

NAME = "mnemosyne"
FILE = "mnemosyne.db"
EXPECTS = "the store mnemosyne.db or its folder, or a file of `mnemosyne export`"
SHARED = "mcp_"
"""Prefix of the session that all clients of one server share. Its memories are open to the whole bank."""
UNNAMED = "default"
"""The session of the command line and of unnamed programs. It is shared, too."""
TABLES = (
    ("working_memory", "working_memory"),
    ("episodic_memory", "episodic_memory"),
    ("memories", "legacy_memories"),
    ("scratchpad", "scratchpad"),
    ("triples", "triples"),
    ("annotations", "annotations"),
    ("canonical_facts", "canonical_facts"),
)
"""The tables that are read, and their sections in an export. Memories come first, because the others name them."""
HOMES = (
    *("id", "rowid", "content", "source", "timestamp", "importance", "metadata_json", "metadata", "valid_until"),
    *("author_id", "author_type", "channel_id", "pinned", "summary_of", "veracity", "superseded_by"),
)
"""Columns of a memory that a bank has a place for. The others are kept as they are, under `meta.mnemosyne`."""
LEFT = {
    "memory_embeddings": "vectors, which the bank makes again",
    "episodic_embeddings": "vectors, which the bank makes again",
    "legacy_embeddings": "vectors, which the bank makes again",
    "consolidation_log": "entries of the log of sleeps: a bank has its own journal",
    "sync_events": "events of its sync: a bank has its own journal",
    "memory_events": "events of its sync: a bank has its own journal",
    "memoria_persona": "entries of the persona, which repeat memories",
    "memoria_facts": "facts that it drew from memories by rules",
    "memoria_timelines": "dates that it drew from memories by rules",
    "memoria_instructions": "instructions that it drew from memories by rules",
    "memoria_preferences": "preferences that it drew from memories by rules",
    "memoria_kg": "triples that it drew from memories by rules",
    "gists": "gists that it drew from memories by rules",
}
Row = Mapping[str, Any]


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the store in the folder of MNEMOSYNE_DATA_DIR, of HERMES_HOME, or of the home, if it is there."""
    hermes = Path(environment.get("HERMES_HOME") or home / ".hermes")
    path = Path(environment.get("MNEMOSYNE_DATA_DIR") or hermes / "mnemosyne" / "data") / FILE
    return path if path.is_file() else None


def read(source: Source) -> Iterator[Item]:
    path = source.path / FILE if source.path.is_dir() else source.path
    if not path.is_file():
        raise TransferError(path, "there is no such file", hint=f"Expected {EXPECTS}.")
    reading = _Reading()
    if database.is_database(path):
        yield from _stored(source, path, reading)
    else:
        yield from _exported(source, path, reading)
    yield from reading.links


def _stored(source: Source, path: Path, reading: _Reading) -> Iterator[Item]:
    with database.opened(path) as base:
        there = base.tables()
        if "working_memory" not in there:
            raise TransferError(path, "it has no table working_memory", hint=f"Expected {EXPECTS}.")
        tables = [(table, section) for table, section in TABLES if table in there]
        source.total = sum(base.count(table) for table, _ in tables)
        done = 0
        for table, section in tables:
            for row in base.rows(table):
                yield from reading.items(section, row, f"{path.name}, {table} {row.get('id')}")
                done += 1
                source.heard(done)
        for table in sorted(there & LEFT.keys()):
            if number := base.count(table):
                yield Left(LEFT[table], number)


def _exported(source: Source, path: Path, reading: _Reading) -> Iterator[Item]:
    known = {section for _, section in TABLES}
    for found in json_values(source, path):
        if isinstance(found, Problem | Left):
            yield found
        elif found.key in known:
            if isinstance(found.value, Mapping):
                yield from reading.items(found.key, found.value, found.where)
            else:
                yield Problem(found.where, "expected an object", excerpt(found.value))
        elif found.key in LEFT:
            yield Left(LEFT[found.key])


class _Reading:
    """Reads rows in their order, and knows the memories that came before."""

    def __init__(self) -> None:
        self._private: dict[str, str | None] = {}
        """The session of each memory that only its session sees; None for the others."""
        self.links: list[NewLink] = []

    def items(self, section: str, row: Row, where: str) -> Iterator[Item]:
        if section in ("working_memory", "episodic_memory", "legacy_memories"):
            yield from self._memory(section, row, where)
        elif section == "scratchpad":
            yield _entry(row, where)
        else:
            yield self._fact(section, row, where)

    def _memory(self, section: str, row: Row, where: str) -> Iterator[Item]:
        origin, text = name_of(row.get("id")), text_of(row.get("content"))
        if origin is None or text is None:
            yield Problem(where, "expected an id and content", excerpt(dict(row)))
            return
        if origin in self._private:
            # The old table repeats rows of the new ones.
            return
        sources = _names(row.get("summary_of")) if section == "episodic_memory" else []
        session = _private_session(row)
        sessions = {one for each in sources if (one := self._private.get(each)) is not None}
        if session is not None:
            sessions.add(session)
        if len(sessions) > 1:
            yield Left("summaries of what several sessions said, each to itself; the memories themselves are here")
            return
        private = next(iter(sessions), None)
        self._private[origin] = private
        for each in sources:
            if each in self._private and each != origin:
                self.links.append(NewLink(f"{origin} {each}", End("memory", origin), DRAWN_FROM, End("memory", each)))
        is_summary = section == "episodic_memory"
        tier = "kept" if is_summary or row.get("consolidated_at") else "working"
        yield MemoryItem(origin, _new(row, text, private, is_summary=is_summary), tier=tier)

    def _fact(self, section: str, row: Row, where: str) -> Item:
        if section == "annotations":
            origin = name_of(row.get("memory_id"))
            is_here = origin is not None and origin in self._private
            subject = memory_id(NAME, origin) if is_here and origin is not None else origin
            named = (subject, name_of(row.get("kind")), name_of(row.get("value")))
            return _fact_item(row, named, where, memory=origin if is_here else None)
        if section == "canonical_facts":
            slot = "_".join(part for part in (name_of(row.get("category")), name_of(row.get("name"))) if part)
            owner = name_of(row.get("owner_id") or row.get("owner")) or "user"
            return _fact_item(row, (owner, slot or None, name_of(row.get("body") or row.get("value"))), where)
        return _fact_item(row, tuple(name_of(row.get(name)) for name in ("subject", "predicate", "object")), where)


def _new(row: Row, text: str, private: str | None, *, is_summary: bool) -> NewMemory:
    author_type = row.get("author_type")
    until = moment_of(row.get("valid_until"))
    if until is None and row.get("superseded_by"):
        until = moment_of(row.get("updated_at") or row.get("timestamp") or row.get("created_at"))
    named = row.get("metadata_json") if row.get("metadata_json") is not None else row.get("metadata")
    rest = without_nothing({name: value for name, value in row.items() if name not in HOMES})
    marks = without_nothing({name: row.get(name) for name in ("veracity", "superseded_by")})
    return NewMemory(
        text,
        kind="summary" if is_summary else "note",
        body={"type": "summary", "level": _level(row)} if is_summary else {},
        importance=number_of(row.get("importance"), 0.5),
        scope="bank" if private is None else "session",
        source=name_of(row.get("source")),
        author=name_of(row.get("author_id")),
        author_type=author_type if author_type in AUTHOR_TYPES else None,
        channel=name_of(row.get("channel_id")),
        session=private or _session(row),
        at=moment_of(row.get("timestamp")) or moment_of(row.get("created_at")),
        valid_until=until,
        pinned=bool(row.get("pinned")),
        meta=object_of(named) | marks | {NAME: rest},
    )


def _entry(row: Row, where: str) -> Item:
    origin, text = name_of(row.get("id")), text_of(row.get("content"))
    if origin is None or text is None:
        return Problem(where, "expected an id and content", excerpt(dict(row)))
    at = moment_of(row.get("created_at"))
    return NewEntry(origin, text, _session(row), at, moment_of(row.get("updated_at")) or at)


def _fact_item(row: Row, named: Iterable[str | None], where: str, memory: str | None = None) -> Item:
    subject, predicate, object = named
    if subject is None or predicate is None or object is None:
        return Problem(where, "expected a subject, a predicate and an object", excerpt(dict(row)))
    begin, end = moment_of(row.get("valid_from")), moment_of(row.get("valid_until"))
    if begin is not None and begin == end:
        # Closed on its first day: it held on that day.
        end = instant(begin.date().isoformat(), "valid_until", end_of_day=True)
    if begin is not None and end is not None and end <= begin:
        return Problem(where, "expected an end behind the beginning: it never held", excerpt(dict(row)))
    confidence = row.get("confidence")
    return NewFact(
        digest_of(subject, predicate, object, row.get("valid_from"), memory),
        subject,
        predicate,
        object,
        begin,
        end,
        number_of(confidence, 1.0) if confidence is not None else None,
        memory,
        name_of(row.get("source")),
        moment_of(row.get("created_at")),
    )


def _session(row: Row) -> str | None:
    """Return the row's session, unless all clients share it."""
    session = name_of(row.get("session_id"))
    return None if session is None or session == UNNAMED or session.startswith(SHARED) else session


def _private_session(row: Row) -> str | None:
    return None if row.get("scope") == "global" else _session(row)


def _level(row: Row) -> int:
    tier = row.get("tier")
    return tier - 1 if tier in (1, 2, 3) else 0


def _names(value: object) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(name for part in parts if (name := name_of(part)) is not None))


IMPORTER = Importer(NAME, "Mnemosyne", EXPECTS, read, find)
