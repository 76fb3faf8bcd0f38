"""What an export says of a memory: an observation or a summary, and beside it whatever these words do not tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from pieria.bank import Bank
from pieria.bank.results.general import Neighbor
from pieria.errors import ConflictError, NotFoundError
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.open_mem.lineage import Lineage, Revision
from pieria.toolsets.open_mem.words import (
    BOTH,
    OBSERVED,
    READ,
    SUMMARY,
    TYPES,
    importance_of,
    own_scope,
    share_of,
    stamp,
    tokens_of,
    told,
)


class Before(NamedTuple):
    """Of a head: what it came in the place of, why, and since when it is known."""

    revision_of: str | None
    reason: str | None
    known_from: str


VERSION = 1
WRITER = "pieria"
AT_ONCE = 1_000
MOST_SOURCES = 10_000
SAID_IN_BODY = ("type", "subtitle", "facts", "discovery_tokens", READ, BOTH)
FRESH: dict[str, Any] = {
    "channel": None, "author": None, "author_type": None, "sequence": None, "status": "active", "tier": "working",
    "confidence": None, "strength": 1.0, "pinned": False, "context": None,
}  # fmt: skip
"""What a memory is of which nothing else is said."""


def memories(bank: Bank, **asked: Any) -> Iterator[Memory]:
    """Of what everybody sees, oldest first."""
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
    """One that another took the place of, or that was removed; with when it was known first, and why it went."""
    return {
        **lineage.told(one),
        "knownFrom": iso(one.first.known_from),
        "endedAt": stamp(one.last.known_from if one.last.ended else one.last.known_until),
        "reason": one.first.reason,
        "endReason": one.last.reason if one.last.ended else None,
        "also": also(bank, one.last),
    }


def summary(bank: Bank, memory: Memory) -> dict[str, Any]:
    drawn: Iterable[Neighbor] = ()
    # It may have gone after the moment that the export is of, and its ties with it.
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
    """By the names of the export format, so that nothing is lost on the way back."""
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


def lineages(bank: Bank, known_at: datetime | None) -> tuple[list[dict[str, Any]], dict[str, Before]]:
    """The revisions and tombstones of the bank, and for each head what it came in the place of."""
    found: list[tuple[Lineage, Revision]] = []
    before: dict[str, Before] = {}
    seen: set[str] = set()
    everything = ("removed", "revised", "invalid", "archived")
    for memory in memories(bank, kinds=OBSERVED, include=everything, known_at=known_at):
        if memory.id in seen or (not memory.ended and memory.version == 1):
            continue
        try:
            lineage = Lineage(bank, memory.id, known_at)
        except NotFoundError:
            # It was purged since the page was read: no history of it is left to tell.
            continue
        seen |= lineage.ids
        for one in lineage.revisions:
            if one.last is lineage.head and not one.last.removed:
                first = one.first
                before[one.last.id] = Before(lineage.revision_of(one), first.reason, iso(first.known_from))
            else:
                found.append((lineage, one))
    # Not by their rows: those of one moment are numbered otherwise in every bank.
    found.sort(key=lambda each: (each[1].first.known_from, each[1].key))
    return [revision(bank, *each) for each in found], before
