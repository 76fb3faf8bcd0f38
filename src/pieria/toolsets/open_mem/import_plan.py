"""The import plan: each record is inserted, merged into an existing memory, or skipped.

A record matches a memory by id or, if the id is unknown, by content. A history moves as a unit: if the bank holds part
of it or its predecessor, the rest follows. Two revisions of one predecessor become one history, and the later revision
is current. No memory ever has two heads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from pieria.bank import Bank
from pieria.errors import NotFoundError
from pieria.record.memory import Memory
from pieria.record.time import instant
from pieria.toolsets.open_mem.envelope import is_of_purged
from pieria.toolsets.open_mem.payload import memories
from pieria.toolsets.open_mem.payload_reader import Incoming, Record
from pieria.toolsets.open_mem.words import OBSERVED, SESSION, SUMMARY, type_of

EVERYTHING = ("removed", "revised", "invalid", "archived")


@dataclass(slots=True)
class Here:
    """The bank's memories by id and by content; its session summaries by session."""

    bank: Bank
    is_empty: bool
    standing: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    leads_to: dict[str, str] = field(default_factory=dict)
    by_content: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: Bank) -> Here:
        here = cls(bank, is_empty=not bank.changes(limit=1))
        for memory in memories(bank, kinds=(*OBSERVED, SUMMARY), include=EVERYTHING):
            here._add(memory)
        return here

    def _add(self, memory: Memory) -> None:
        if memory.ended == "revised" and memory.superseded_by is not None:
            self.leads_to[memory.id] = memory.superseded_by
        elif memory.removed:
            self.removed.add(memory.id)
        else:
            self.standing.add(memory.id)
        if memory.kind == SUMMARY:
            if memory.session is not None and memory.body.get("type") == SESSION and not memory.ended:
                self.summaries[memory.session] = memory.id
        else:
            # A current memory takes precedence over an ended one.
            key = _digest(type_of(memory), memory.title or "", memory.text)
            if memory.id in self.standing:
                self.by_content[key] = memory.id
            else:
                self.by_content.setdefault(key, memory.id)

    def was_purged(self, id: str) -> bool:
        try:
            self.bank.history(id)
        except NotFoundError as problem:
            return is_of_purged(problem)
        return False

    def head(self, id: str) -> str | None:
        """Return the id's current successor; None if the id is unknown."""
        seen = set()
        while id in self.leads_to and id not in seen:
            seen.add(id)
            id = self.leads_to[id]
        return id if id in self.standing or id in self.removed else None


@dataclass(slots=True)
class Plan:
    """Histories to insert, oldest revision first, and records to merge. `targets` maps record ids to the bank's ids."""

    histories: list[list[Record]] = field(default_factory=list)
    goes_on: dict[str, str] = field(default_factory=dict)
    """The memory in the bank that a history continues, by the id of the history's oldest revision."""
    merged: list[tuple[str, Record]] = field(default_factory=list)
    """Records to merge into an existing memory, with that memory's id."""
    summaries: list[tuple[str, Record]] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)
    parted: list[str] = field(default_factory=list)
    """Heads of the payload that lost to a later revision of the same predecessor."""
    purged: int = 0
    """Number of histories skipped because part of them was purged in this bank."""
    loose: int = 0
    """Number of revisions that lead to no record in the payload."""


def planned(incoming: Incoming, here: Here, mode: str) -> Plan:
    plan = Plan()
    sorted_out = _SortedOut(incoming)
    for history in sorted_out.histories:
        _place(plan, history, here, mode)
    plan.parted, plan.loose = sorted_out.parted, sorted_out.loose
    for record in incoming.summaries:
        # A session has one session summary; other kinds may have many.
        session = record.values.get("sessionId") or "" if record.type == SESSION else ""
        target = record.id if here.head(record.id) else here.summaries.get(session, record.id)
        if mode == "skip" and here.head(target) is not None:
            continue
        plan.summaries.append((target, record))
        plan.targets[record.id] = target
    return plan


def _place(plan: Plan, history: list[Record], here: Here, mode: str) -> None:
    ids = list(dict.fromkeys(record.base[0] for record in history))
    head, before = history[-1], history[0].values.get("revisionOf")
    known = [found for id in (before, *ids) if id is not None and (found := here.head(id)) is not None]
    if not known and (before or len(ids) > 1) and any(here.was_purged(id) for id in (before, *ids) if id):
        plan.purged += 1
        return
    if not known:
        twin = here.by_content.get(_digest_of(head))
        known = [found] if twin is not None and (found := here.head(twin)) is not None else []
    stands = known[-1] if known else None
    if stands is not None and (mode == "skip" or stands in here.removed):
        # What was removed here stays removed, even if the payload revises it.
        return
    if stands is not None and stands not in (before, *ids):
        plan.merged.append((stands, head))
        plan.targets[head.id] = stands
        return
    if stands is not None and stands != ids[-1]:
        plan.goes_on[ids[0]] = stands
    plan.histories.append(history)
    plan.targets.update({record.id: record.base[0] for record in history})


class _SortedOut:
    """The payload's histories, oldest revision first. Histories that end in a tombstone are included."""

    def __init__(self, incoming: Incoming) -> None:
        self._by_id = {record.id: record for record in [*incoming.observations, *incoming.revisions]}
        self._of: dict[str, list[Record]] = {}
        self.parted: list[str] = []
        found: list[list[Record]] = []
        for head in self._heads(incoming):
            if head.id not in self._of:
                found += self._taken(head)
        self.histories = [history for history in found if not _is_loose(history[-1])]
        told = {one.id for history in self.histories for one in history}
        self.loose = sum(one.id not in told for one in incoming.revisions)

    def _heads(self, incoming: Incoming) -> list[Record]:
        """Return the heads in processing order. Unrevised ones come first; revised ones matter only in cycles.

        Within each group, removed ones follow the others and newer ones the older: the last one becomes current.
        """
        heads = [*incoming.observations, *(one for one in incoming.revisions if one.values.get("deletedAt"))]
        revised = {before for one in self._by_id.values() if (before := one.values.get("revisionOf")) != one.id}

        def order(one: Record) -> tuple[bool, bool, datetime]:
            said = instant(one.values["createdAt"], "createdAt")
            return one.id in revised, bool(one.values.get("deletedAt")), said

        return sorted(heads, key=order)

    def _taken(self, head: Record) -> Iterator[list[Record]]:
        """Yield the head's history. If it continues a known history, extend that one and yield nothing."""
        chain = [head]
        seen = {head.id}
        before = head.values.get("revisionOf") or ""
        while before in self._by_id and before not in seen and before not in self._of:
            seen.add(before)
            chain.append(self._by_id[before])
            before = chain[-1].values.get("revisionOf") or ""
        history = self._of.get(before, []) if before not in seen else []
        if history:
            self.parted.append(history[-1].id)
        else:
            yield history
        history += reversed(chain)
        self._of |= dict.fromkeys((one.id for one in chain), history)


def _is_loose(head: Record) -> bool:
    """Return whether the record's successor is missing from the payload; then it must not become current."""
    superseded = head.values.get("supersededAt") and not head.values.get("deletedAt")
    return bool(superseded) and "valid_until" not in (head.values.get("also") or {})


def _digest_of(record: Record) -> str:
    untitled = (record.values.get("also") or {}).get("untitled")
    return _digest(record.values["type"], "" if untitled else record.values["title"], record.text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
