"""Convert an export of the original Mnemosyne, versions 1.0 to 1.3, into lines of Pieria's format.

Knows no bank and writes nothing. Invalid values of a row become problems; a row is skipped only if nothing of it is
usable. Vectors are not imported: the bank makes its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pieria.errors import InputError
from pieria.record.fact import checked_name, checked_predicate
from pieria.record.ids import derived_id
from pieria.record.json_text import parsed
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import AUTHOR_TYPES
from pieria.record.time import instant, iso
from pieria.record.trust import HEARSAY, TRUST
from pieria.toolsets.mnemosyne.words import VERACITIES

HEADER = "mnemosyne_export"
VERSIONS = ("1.0", "1.1", "1.2", "1.3")
MEMORIES = ("working_memory", "episodic_memory", "legacy_memories")
FACTS = ("triples", "annotations", "canonical_facts")
LEFT = ("consolidation_log", "sync_events", "episodic_embeddings", "legacy_embeddings")
"""Sections that are not imported: the bank derives this data or has its own journal."""
SHARED = "mcp_"
"""Prefix of the session that all clients of one server shared. Its memories are open to the whole bank."""
UNNAMED = "default"
"""The session of the command line and of unnamed programs. It is shared, too."""
IMPORTED = "mnemosyne"
Row = Mapping[str, Any]


class Line(NamedTuple):
    """One export line, and the original record it comes from."""

    section: str
    id: str
    values: dict[str, Any]


@dataclass
class Problem:
    """A problem with a record. `taken` says whether the record was imported anyway."""

    section: str
    record: str
    reason: str
    taken: bool

    def as_dict(self) -> dict[str, Any]:
        return {"section": self.section, "record": self.record, "problem": self.reason, "taken": self.taken}


@dataclass
class Original:
    """The converted document. `memories` holds a pair of lines, content and state, for each memory."""

    memories: list[tuple[Line, Line]] = field(default_factory=list)
    links: list[Line] = field(default_factory=list)
    facts: list[Line] = field(default_factory=list)
    scratchpad: list[tuple[str | None, Line]] = field(default_factory=list)
    """Entries with their session; None for the shared one."""
    problems: list[Problem] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    private: dict[str, int] = field(default_factory=dict)
    """Number of private memories, by session."""


def is_original(document: object) -> bool:
    return isinstance(document, Mapping) and isinstance(document.get(HEADER), Mapping)


def version_of(document: Mapping[str, Any]) -> str:
    return str(document[HEADER].get("version"))


class Reading:
    """Converter for a whole document. `place` is the bank's name, used for places; `now` is the default time."""

    def __init__(self, document: Mapping[str, Any], place: str, now: datetime) -> None:
        self._document = document
        self._place = place
        self._now = iso(now)
        self.read = Original()
        self._ids: dict[str, None] = {}
        self._said: set[str] = set()

    def whole(self) -> Original:
        for section in MEMORIES:
            for record, row in self._rows(section):
                self._memory(section, record, row)
        self._tie()
        for record, row in self._rows("scratchpad"):
            self._entry(record, row)
        for section, reader in zip(FACTS, (_triple, _annotation, _canonical), strict=True):
            for record, row in self._rows(section):
                self._fact(section, record, reader(row))
        for section in LEFT:
            self.read.counts[section] = len(self._listed(section))
        return self.read

    def _listed(self, section: str) -> list[Any]:
        found = self._document.get(section)
        if found is None:
            return []
        if not isinstance(found, list):
            self._problem(section, "-", "it is no list", taken=False)
            return []
        return found

    def _rows(self, section: str) -> Iterator[tuple[str, Row]]:
        rows = self._listed(section)
        self.read.counts[section] = len(rows)
        for number, row in enumerate(rows):
            if isinstance(row, Mapping):
                yield str(_first(row, "id") or f"[{number}]"), row
            else:
                self._problem(section, f"[{number}]", "it is no object", taken=False)

    def _problem(self, section: str, record: str, reason: str, *, taken: bool) -> None:
        self.read.problems.append(Problem(section, record, reason, taken))

    # --- memories

    def _memory(self, section: str, record: str, row: Row) -> None:
        id, text = _first(row, "id"), _first(row, "content")
        if not isinstance(id, str | int) or not str(id).strip() or not isinstance(text, str) or not text.strip():
            self._problem(section, record, "it has no id or no content", taken=False)
            return
        id = str(id)
        if id in self._ids:
            # The old table repeats rows of the new ones.
            return
        self._ids[id] = None
        problems: list[str] = []
        is_summary = section == "episodic_memory"
        scope, session = _audience(row)
        if scope == "session" and session:
            self.read.private[session] = self.read.private.get(session, 0) + 1
        author_type = _first(row, "author_type")
        if author_type is not None and author_type not in AUTHOR_TYPES:
            problems.append(f"author_type is none of {', '.join(AUTHOR_TYPES)}")
            author_type = None
        ended = self._now if _text(row, "superseded_by") else None
        state = {
            "id": id,
            "version": 1,
            "kind": "summary" if is_summary else "note",
            "type": "summary" if is_summary else None,
            "place": f"{self._place}/{'summary' if is_summary else 'note'}",
            "scope": scope,
            "session": session,
            "channel": _text(row, "channel_id"),
            "author": _text(row, "author_id"),
            "author_type": author_type,
            "source": _text(row, "source"),
            "at": _moment(row, ("timestamp", "created_at"), problems) or self._now,
            "valid_until": _moment(row, ("valid_until",), problems) or ended,
            "status": "active",
            "tier": "kept" if is_summary or _first(row, "consolidated_at") else "working",
            "importance": _share(row, problems),
            "strength": 1.0,
            "trust": TRUST[HEARSAY],
            "via": HEARSAY,
            "pinned": bool(_first(row, "pinned")),
            "ended": "",
            "superseded_by": _text(row, "superseded_by"),
        }
        meta = _meta(row, problems)
        body = {"type": "summary", "level": _level(row)} if is_summary else None
        content = {"line": "content", "id": id, "version": 1, "text": text, "body": body, "meta": meta}
        self.read.memories.append(
            (Line(section, id, _there(content)), Line(section, id, _there({"line": "state", **state})))
        )
        for reason in problems:
            self._problem(section, id, reason, taken=True)

    def _tie(self) -> None:
        """Link summaries to their sources. Drop `superseded_by` where the successor is missing."""
        states = {state.id: state for _, state in self.read.memories}
        for record, row in self._summaries():
            sources = [source for source in _sources(row) if source in self._ids and source != record]
            if not self._held_to(states[record], [states[source].values for source in sources]):
                del self._ids[record]
                continue
            for source in sources:
                id = derived_id("", record, DRAWN_FROM, source)
                values = {
                    "line": "link", "id": id, "source_is": "memory", "source": record, "relation": DRAWN_FROM,
                    "target_is": "memory", "target": source, "weight": 1.0, "ended": "",
                }  # fmt: skip
                self.read.links.append(Line("episodic_memory", id, values))
        self.read.memories = [each for each in self.read.memories if each[1].id in self._ids]
        for _, state in self.read.memories:
            leads_to = state.values.get("superseded_by")
            if leads_to is not None and (leads_to not in self._ids or leads_to == state.id):
                del state.values["superseded_by"]
                reason = f"it is superseded by {leads_to}, which is not there"
                self._problem(state.section, state.id, reason, taken=True)

    def _held_to(self, summary: Line, sources: list[dict[str, Any]]) -> bool:
        """Restrict a summary to its sources' session, end and trust, which the original did not do.

        Return False if no session may see the summary: its sources are private to several.
        """
        held = summary.values
        sessions = {source["session"] for source in sources if source["scope"] == "session"}
        if held["scope"] == "session":
            sessions.add(held["session"])
        if len(sessions) > 1:
            reason = "it sums up what several sessions said, each to itself; what it sums up is here"
            self._problem(summary.section, summary.id, reason, taken=False)
            return False
        if sessions and held["scope"] != "session":
            held["scope"], held["session"] = "session", min(sessions)
            reason = "it sums up what one session said to itself, and is seen by that one alone"
            self._problem(summary.section, summary.id, reason, taken=True)
        ends = [each["valid_until"] for each in (held, *sources) if "valid_until" in each]
        if ends:
            held["valid_until"] = min(ends, key=lambda end: instant(end, "valid_until"))
        held["trust"] = min(each["trust"] for each in (held, *sources))
        return True

    def _summaries(self) -> Iterator[tuple[str, Row]]:
        held = self._document.get("episodic_memory")
        for row in held if isinstance(held, list) else ():
            if isinstance(row, Mapping) and str(_first(row, "id")) in self._ids:
                yield str(_first(row, "id")), row

    # --- the scratchpad and facts

    def _entry(self, record: str, row: Row) -> None:
        text = _first(row, "content")
        if not isinstance(text, str) or not text.strip():
            self._problem("scratchpad", record, "it has no content", taken=False)
            return
        problems: list[str] = []
        made = _moment(row, ("created_at", "timestamp"), problems) or self._now
        changed = _moment(row, ("updated_at",), problems) or made
        session = _text(row, "session_id")
        id = str(_first(row, "id") or derived_id("", session or "", text))
        value = {"id": id, "content": text, "created_at": made, "updated_at": changed}
        self.read.scratchpad.append((None if _is_shared(session) else session, Line("scratchpad", id, value)))
        for reason in problems:
            self._problem("scratchpad", record, reason, taken=True)

    def _fact(self, section: str, record: str, stated: dict[str, Any]) -> None:
        problems: list[str] = []
        try:
            triple = (
                checked_name(stated["subject"], "subject"),
                checked_predicate(stated["predicate"]),
                checked_name(stated["object"], "object"),
            )
        except InputError as problem:
            self._problem(section, record, problem.message, taken=False)
            return
        begin = _moment(stated, ("valid_from",), problems)
        end = _moment(stated, ("valid_until",), problems)
        if end is not None and begin == end:
            # Equal start and end: extend the end to the end of that day, or the fact would never hold.
            end = iso(instant(begin[:10], "valid_until", end_of_day=True))
        if begin is not None and end is not None and end <= begin:
            self._problem(section, record, "it ends before it begins, so it never held", taken=False)
            return
        memory = stated.get("memory")
        id = derived_id("", *triple, begin or "", end or "", memory or "")
        if id in self._said:
            return
        self._said.add(id)
        confidence = stated.get("confidence")
        is_share = isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1
        values = {
            "line": "fact", "id": id, "subject": triple[0], "predicate": triple[1], "object": triple[2],
            "valid_from": begin, "valid_until": end, "confidence": confidence if is_share else None,
            "memory": memory, "source": stated.get("source"), "ended": "",
        }  # fmt: skip
        self.read.facts.append(Line(section, id, _there(values)))
        if confidence is not None and not is_share:
            problems.append("confidence is not from 0 to 1")
        for reason in problems:
            self._problem(section, record, reason, taken=True)


def _triple(row: Row) -> dict[str, Any]:
    names = ("subject", "predicate", "object", "valid_from", "valid_until", "confidence")
    return {**{name: _first(row, name) for name in names}, "source": _text(row, "source")}


def _annotation(row: Row) -> dict[str, Any]:
    memory = _text(row, "memory_id")
    return {
        "subject": memory,
        "predicate": _first(row, "kind"),
        "object": _first(row, "value"),
        "confidence": _first(row, "confidence"),
        "memory": memory,
        "source": _text(row, "source"),
    }


def _canonical(row: Row) -> dict[str, Any]:
    """Return a profile slot as a fact: owner, category and name, value."""
    named = [part for part in (_text(row, "category"), _text(row, "name")) if part]
    return {
        "subject": _first(row, "owner", "owner_id") or "user",
        "predicate": "_".join(named) or None,
        "object": _first(row, "value", "body", "content"),
        "valid_from": _first(row, "valid_from", "created_at"),
        "valid_until": _first(row, "valid_until", "superseded_at"),
        "confidence": _first(row, "confidence"),
        "source": _text(row, "source"),
    }


def _first(row: Row, *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _text(row: Row, name: str) -> str | None:
    value = row.get(name)
    return str(value).strip() or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _moment(row: Row, names: Iterable[str], problems: list[str]) -> str | None:
    """Return the first valid time. Without a zone it is UTC."""
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        try:
            return iso(instant(value, name, end_of_day=False))
        except InputError:
            problems.append(f"{name} is no time")
    return None


def _share(row: Row, problems: list[str]) -> float:
    value = _first(row, "importance")
    if isinstance(value, int | float) and not isinstance(value, bool):
        bounded = min(1.0, max(0.0, float(value))) if value == value else 0.5
        if bounded != value:
            problems.append("importance is not from 0 to 1, and was bounded")
        return bounded
    return 0.5


def _audience(row: Row) -> tuple[str, str | None]:
    session = _text(row, "session_id")
    shared = _is_shared(session)
    private = _first(row, "scope") != "global" and not shared
    return ("session" if private else "bank"), (None if shared else session)


def _is_shared(session: str | None) -> bool:
    return session is None or session == UNNAMED or session.startswith(SHARED)


def _meta(row: Row, problems: list[str]) -> dict[str, Any]:
    held = _first(row, "metadata_json", "metadata")
    meta: Any = held
    if isinstance(held, str):
        try:
            meta = parsed(held)
        except ValueError:
            problems.append("metadata is no JSON")
    kept = dict(meta) if isinstance(meta, Mapping) else {}
    veracity = _first(row, "veracity")
    if veracity in VERACITIES and veracity != "unknown":
        kept["veracity"] = veracity
    return {**kept, "imported_from": IMPORTED}


def _level(row: Row) -> int:
    tier = _first(row, "tier")
    return tier - 1 if isinstance(tier, int) and tier in (1, 2, 3) else 0


def _sources(row: Row) -> list[str]:
    held = _first(row, "summary_of")
    parts = held.split(",") if isinstance(held, str) else held if isinstance(held, list) else []
    return list(dict.fromkeys(str(part).strip() for part in parts if str(part).strip()))


def _there(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
