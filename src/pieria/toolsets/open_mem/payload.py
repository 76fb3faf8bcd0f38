"""The JSON payload of an export: how memories are written into it, and how it is read and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pieria.bank import Bank
from pieria.bank.results.general import Neighbor
from pieria.errors import ConflictError, InputError, NotFoundError, TransferError
from pieria.record.ids import parse_reference
from pieria.record.json_text import parsed
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory
from pieria.record.time import instant, iso
from pieria.toolsets.open_mem.history import Lineage, Revision
from pieria.toolsets.open_mem.words import (
    BOTH,
    KIND,
    OBSERVED,
    READ,
    SESSION,
    SPOKEN,
    SUMMARY,
    TYPES,
    importance_of,
    own_scope,
    share_of,
    stamp,
    tokens_of,
    told,
)
from pieria.toolsets.registry import Access, Tool
from pieria.toolsets.validation import validated

VERSION = 1
WRITER = "pieria"
AT_ONCE = 1_000
MOST_SOURCES = 10_000
SAID_IN_BODY = ("type", "subtitle", "facts", "discovery_tokens", READ, BOTH)
FRESH: dict[str, Any] = {
    "channel": None, "author": None, "author_type": None, "sequence": None, "status": "active", "tier": "working",
    "confidence": None, "strength": 1.0, "pinned": False, "context": None,
}  # fmt: skip
"""Default values of a memory's fields; `also` leaves them out."""
MOST_TOLD = 100
CONTENT_ALSO = ("entities", "context", "meta")
STATE_ALSO = (
    *(
        "channel",
        "author",
        "author_type",
        "sequence",
        "status",
        "tier",
        "confidence",
        "strength",
        "pinned",
    ),
    *("valid_from", "valid_until", "place", "source", "importance"),
)
WITHHELD = "withheld"
"""Marks a record without its text, since the observation was removed."""
ALSO = frozenset((*CONTENT_ALSO, *STATE_ALSO, "body", "untyped", "untitled", WITHHELD))
"""Allowed names in a record's `also`."""
_TEXT, _NAME = {"type": "string"}, {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_TIMES = ("createdAt", "deletedAt", "supersededAt", "knownFrom", "endedAt")
_ALSO = {
    "type": "object",
    "properties": {
        "body": {"type": "object"},
        **{name: {"type": "boolean"} for name in ("untyped", "untitled", WITHHELD)},
    },
}
_OBSERVATION = {
    "id": _NAME, "sessionId": _TEXT, "scope": _TEXT, "type": {"type": "string", "enum": list(TYPES)}, "title": _TEXT,
    "subtitle": _TEXT, "facts": _TEXTS, "narrative": _NAME, "concepts": _TEXTS, "filesRead": _TEXTS,
    "filesModified": _TEXTS, "toolName": _TEXT, "createdAt": _NAME, "tokenCount": {"type": "number"},
    "discoveryTokens": {"type": "integer"}, "importance": {"type": "integer", "minimum": 1, "maximum": 5},
    "revisionOf": _TEXT, "deletedAt": _TEXT, "supersededBy": _TEXT, "supersededAt": _TEXT,
    "kind": {"type": "string", "enum": list(OBSERVED)}, "knownFrom": _NAME, "endedAt": _TEXT, "reason": _TEXT,
    "endReason": _TEXT,
    "also": _ALSO,
}  # fmt: skip
_SUMMARY = {
    "id": _NAME, "sessionId": _TEXT, "summary": _NAME, "keyDecisions": _TEXTS, "filesModified": _TEXTS,
    "concepts": _TEXTS, "createdAt": _NAME, "tokenCount": {"type": "number"}, "request": _TEXT,
    "investigated": _TEXT, "learned": _TEXT, "completed": _TEXT, "nextSteps": _TEXT, "sources": _TEXTS,
    "knownFrom": _NAME, "also": _ALSO,
}  # fmt: skip


_UNTOLD: dict[str, Any] = {
    "title": "Removed", "subtitle": "", "facts": [], "narrative": "This text was removed before the export.",
    "concepts": [], "filesRead": [], "filesModified": [], "toolName": "", "tokenCount": 0, "discoveryTokens": 0,
    "also": {WITHHELD: True},
}  # fmt: skip
"""What an export says of a removed observation instead of its content."""


class Before(NamedTuple):
    """The predecessor of a head, the reason for the revision, and the time it was known from."""

    revision_of: str | None
    reason: str | None
    known_from: str


def memories(bank: Bank, **asked: Any) -> Iterator[Memory]:
    """Yield shared memories, oldest first."""
    cursor = None
    while True:
        page = bank.list(order="oldest", scope=own_scope(bank), limit=AT_ONCE, cursor=cursor, **asked)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def observation(bank: Bank, memory: Memory, before: Before | None) -> dict[str, Any]:
    revision_of, reason, known = before or Before(None, memory.reason, iso(memory.known_from))
    return {**told(memory, revision_of), "knownFrom": known, "reason": reason, "also": also(bank, memory)}


def revision(bank: Bank, lineage: Lineage, one: Revision) -> dict[str, Any]:
    """Return a superseded or removed revision, with the time it was known from and the reason it ended.

    Of a removed observation no revision shows its content.
    """
    content = _UNTOLD if lineage.head.removed else {"also": also(bank, one.last)}
    return {
        **lineage.told(one),
        **content,
        "knownFrom": iso(one.first.known_from),
        "endedAt": stamp(one.last.known_from if one.last.ended else one.last.known_until),
        "reason": one.first.reason,
        "endReason": one.last.reason if one.last.ended else None,
    }


def summary(bank: Bank, memory: Memory) -> dict[str, Any]:
    drawn: Iterable[Neighbor] = ()
    # The memory may have been removed, with its links, after the moment of the export.
    with suppress(NotFoundError, ConflictError):
        drawn = bank.neighbors(memory.id, relation=DRAWN_FROM, direction="out", limit=MOST_SOURCES)
    return {
        "id": memory.id,
        "sessionId": memory.session or "",
        "summary": memory.text,
        "keyDecisions": list(memory.body.get("key_decisions") or []),
        "filesModified": list(memory.files),
        "concepts": list(memory.tags),
        "createdAt": iso(memory.at),
        "tokenCount": tokens_of(memory),
        "sources": [each.memory.id for each in drawn if each.memory is not None],
        "knownFrom": iso(memory.known_from),
        "also": {**also(bank, memory), "source": memory.source, "importance": memory.importance},
    }


def also(bank: Bank, memory: Memory) -> dict[str, Any]:
    """Return the remaining fields under the export format's names, so that an import loses nothing."""
    flat = memory.as_dict()
    found = {name: flat[name] for name, usual in FRESH.items() if flat[name] != usual}
    found |= {name: flat[name] for name in ("valid_from", "valid_until") if flat[name] is not None}
    found |= {name: flat[name] for name in ("entities", "meta") if flat[name]}
    if memory.place != f"{bank.name}/{memory.kind}":
        found["place"] = memory.place
    said = SAID_IN_BODY if memory.kind != SUMMARY else ()
    body = {name: value for name, value in memory.body.items() if name not in said}
    held = memory.body.get("type")
    if held is None:
        found["untyped"] = True
    elif held not in TYPES:
        body["type"] = held
    if body:
        found["body"] = body
    if memory.title is None:
        found["untitled"] = True
    if memory.importance != share_of(importance_of(memory)):
        found["importance"] = memory.importance
    return found


class Lineages(NamedTuple):
    """The superseded and removed revisions of a bank, the predecessor of each head, and the time of each session's
    last removal.
    """

    revisions: list[dict[str, Any]]
    before: dict[str, Before]
    removed_at: dict[str | None, datetime]


def lineages(bank: Bank, known_at: datetime | None) -> Lineages:
    found: list[tuple[Lineage, Revision]] = []
    before: dict[str, Before] = {}
    removed_at: dict[str | None, datetime] = {}
    seen: set[str] = set()
    everything = ("removed", "revised", "invalid", "archived")
    for memory in memories(bank, kinds=OBSERVED, include=everything, known_at=known_at):
        if memory.removed:
            latest = removed_at.get(memory.session, memory.known_from)
            removed_at[memory.session] = max(latest, memory.known_from)
        if memory.kind == SPOKEN or memory.id in seen or (not memory.ended and memory.version == 1):
            continue
        try:
            lineage = Lineage(bank, memory.id, known_at)
        except NotFoundError:
            # Purged since the page was read: its history is gone.
            continue
        seen |= lineage.ids
        for one in lineage.revisions:
            if one.last is lineage.head and not one.last.removed:
                first = one.first
                before[one.last.id] = Before(lineage.revision_of(one), first.reason, iso(first.known_from))
            else:
                found.append((lineage, one))
    # Do not sort by row: banks number the rows of one moment differently.
    found.sort(key=lambda each: (each[1].first.known_from, each[1].key))
    return Lineages([revision(bank, *each) for each in found], before, removed_at)


def _checker(name: str, properties: Mapping[str, Any], required: list[str]) -> Tool:
    schema = {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
    return Tool(name, name, schema, Access.read)


CHECKED = {
    "observations": _checker("an observation", _OBSERVATION, ["id", "type", "title", "narrative", "createdAt"]),
    "revisions": _checker("a revision", _OBSERVATION, ["id", "type", "title", "narrative", "createdAt"]),
    "summaries": _checker("a summary", _SUMMARY, ["id", "summary", "createdAt"]),
}


@dataclass(frozen=True, slots=True)
class Record:
    """One record, with its section and index in the payload."""

    section: str
    index: int
    values: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.values["id"])

    @property
    def base(self) -> tuple[str, int | None]:
        """The id and, for a revision spelt `id@version`, its version."""
        return parse_reference(self.id) if self.section == "revisions" else (self.id, None)

    @property
    def kind(self) -> str:
        return SUMMARY if self.section == "summaries" else str(self.values.get("kind") or KIND)

    @property
    def type(self) -> str | None:
        """The type as the body stores it. A summary without one is a session's."""
        also = self.values.get("also") or {}
        if also.get("untyped"):
            return None
        said = SESSION if self.kind == SUMMARY else self.values["type"]
        held: str | None = (also.get("body") or {}).get("type", said)
        return held

    @property
    def is_withheld(self) -> bool:
        return bool((self.values.get("also") or {}).get(WITHHELD))

    @property
    def text(self) -> str:
        return str(self.values["summary" if self.section == "summaries" else "narrative"])


@dataclass(slots=True)
class Incoming:
    """A checked payload. `is_ours` means that Pieria wrote it, so its times of knowing can be kept."""

    project: str | None
    is_ours: bool
    observations: list[Record] = field(default_factory=list)
    revisions: list[Record] = field(default_factory=list)
    summaries: list[Record] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)
    """Unknown field names, which the import ignores."""
    untold: int = 0
    """Number of records with a title but no narrative."""

    @property
    def records(self) -> list[Record]:
        return [*self.observations, *self.revisions, *self.summaries]

    def texts(self, wanted: Callable[[Record], bool]) -> Iterator[str]:
        for record in filter(wanted, self.records):
            yield from _texts_in(record.values)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(each)


def read(payload: str) -> Incoming:
    """Return the checked payload. Raise `InputError` if it is not one, `TransferError` if records are wrong."""
    document = _unwrapped(payload)
    is_ours = document.get("writer") == WRITER
    project = document.get("project")
    incoming = Incoming(project if isinstance(project, str) else None, is_ours)
    problems: list[dict[str, Any]] = []
    for section in CHECKED:
        kept: list[Record] = getattr(incoming, section)
        for index, values in enumerate(_listed(document, section)):
            problems += _take(incoming, kept, section, index, values)
    problems += _doubled(incoming)
    if problems:
        raise refused(problems)
    return incoming


def refused(problems: list[dict[str, Any]]) -> TransferError:
    hint = "Nothing was imported: correct these records, or leave them out."
    if len(problems) > MOST_TOLD:
        hint = f"{hint} {len(problems) - MOST_TOLD:,} more are not listed."
    return TransferError("payload", "some records are invalid", problems[:MOST_TOLD], hint=hint)


def _unwrapped(payload: str) -> dict[str, Any]:
    try:
        document = parsed(payload)
    except ValueError as problem:
        hint = "Give the content of an export file, not its name."
        raise InputError("payload", "the JSON text of a payload", payload, hint=hint) from problem
    for name in ("data", "payload"):
        # Unwrap the whole reply of mem-export, or its data.
        if isinstance(document, dict) and "observations" not in document and name in document:
            document = document[name]
        if isinstance(document, str):
            return _unwrapped(document)
    if not isinstance(document, dict) or not isinstance(document.get("observations"), list):
        raise InputError("payload", "a payload with a list of observations", payload)
    if document.get("version") != VERSION or isinstance(document["version"], bool):
        hint = "Export it again with a version that writes this format."
        raise InputError("payload.version", str(VERSION), document.get("version"), hint=hint)
    return document


def _listed(document: Mapping[str, Any], section: str) -> list[Any]:
    found = document.get(section) or []
    if not isinstance(found, list):
        raise InputError(f"payload.{section}", "a list", found)
    return found


def _take(incoming: Incoming, kept: list[Record], section: str, index: int, values: Any) -> Iterator[dict[str, Any]]:
    checker = CHECKED[section]
    known = values
    if isinstance(values, Mapping):
        unknown = values.keys() - checker.parameters.keys()
        incoming.ignored |= {str(name) for name in unknown}
        known = {name: value for name, value in values.items() if name not in unknown and value is not None}
        if section != "summaries" and known.get("narrative") == "" and known.get("title"):
            known["narrative"] = known["title"]
            incoming.untold += 1
        if isinstance(known.get("also"), Mapping):
            incoming.ignored |= {f"also.{name}" for name in known["also"] if name not in ALSO}
            known["also"] = {name: value for name, value in known["also"].items() if name in ALSO}
    id = values.get("id") if isinstance(values, Mapping) else None
    wrong: list[InputError] = []
    try:
        sound = validated(checker, known)
        wrong += (*_untimely(sound), *_garbled(sound))
        kept.append(Record(section, index, sound))
    except InputError as problem:
        wrong += [problem, *(each for each in problem.errors if isinstance(each, InputError))]
    for each in wrong:
        yield problem_with(section, index, id, each)


def problem_with(section: str, index: int, id: object, problem: InputError) -> dict[str, Any]:
    return {
        "section": section,
        "index": index,
        "id": id if isinstance(id, str) else None,
        "parameter": problem.parameter,
        "expected": problem.expected,
        "received": problem.received,
    }


def _untimely(values: Mapping[str, Any]) -> Iterator[InputError]:
    for name in _TIMES:
        if values.get(name) is not None:
            try:
                instant(values[name], name)
            except InputError as problem:
                yield problem


def _garbled(values: Mapping[str, Any]) -> Iterator[InputError]:
    """Yield an error for each value with lone surrogates, which JSON can spell."""
    for name, value in values.items():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            yield InputError(name, "valid Unicode", value)


def _doubled(incoming: Incoming) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for record in incoming.records:
        if record.id in seen:
            yield problem_with(record.section, record.index, record.id, InputError("id", "each id once", record.id))
        seen.add(record.id)
