"""What becomes of each record: it comes in as it is, goes into what is here already, or is left out.

A record is what is here when it has its id or, where the id is unknown, its content. A history is one thing: where part
of it is here, or what it came in the place of is, the rest follows that part. Two that go on from one revision become
one history, in which the later stands. So nothing ever has two heads.
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
    """What the bank holds by id, by content, and of summaries by session."""

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
            # What stands comes before what does not.
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
        """What an id has become; None where it is unknown."""
        seen = set()
        while id in self.leads_to and id not in seen:
            seen.add(id)
            id = self.leads_to[id]
        return id if id in self.standing or id in self.removed else None


@dataclass(slots=True)
class Plan:
    """`histories` come in as they are, oldest content first. `targets` are the ids that records come in under."""

    histories: list[list[Record]] = field(default_factory=list)
    goes_on: dict[str, str] = field(default_factory=dict)
    """By the id of a history's oldest content: what stands here, in it or before it, that the rest goes on from."""
    merged: list[tuple[str, Record]] = field(default_factory=list)
    """A single record that goes into what is here, under that id."""
    summaries: list[tuple[str, Record]] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)
    parted: list[str] = field(default_factory=list)
    """Heads of the payload that another one, revised from the same, came in the place of."""
    purged: int = 0
    """Histories of which a part was purged here."""
    loose: int = 0
    """Revisions that lead to nothing in the payload."""


def planned(incoming: Incoming, here: Here, mode: str) -> Plan:
    plan = Plan()
    sorted_out = _SortedOut(incoming)
    for history in sorted_out.histories:
        _place(plan, history, here, mode)
    plan.parted, plan.loose = sorted_out.parted, sorted_out.loose
    for record in incoming.summaries:
        # A session has one; of others there may be many.
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
        # What was removed here stays so, whatever the payload calls it.
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
    """Each observation with the revisions that led to it, oldest first; and those that led to a tombstone."""

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
        """Those that nothing came in the place of first: the others are heads only where they went round in a circle.
        Of two that went on from one revision the later stands, but what was removed stays so.
        """
        heads = [*incoming.observations, *(one for one in incoming.revisions if one.values.get("deletedAt"))]
        revised = {before for one in self._by_id.values() if (before := one.values.get("revisionOf")) != one.id}

        def order(one: Record) -> tuple[bool, bool, datetime]:
            said = instant(one.values["createdAt"], "createdAt")
            return one.id in revised, bool(one.values.get("deletedAt")), said

        return sorted(heads, key=order)

    def _taken(self, head: Record) -> Iterator[list[Record]]:
        """The head's history, unless it goes on from one that is known already and becomes part of that."""
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
    """Something that is not in the payload came in its place: it is not to stand here as if nothing had."""
    superseded = head.values.get("supersededAt") and not head.values.get("deletedAt")
    return bool(superseded) and "valid_until" not in (head.values.get("also") or {})


def _digest_of(record: Record) -> str:
    untitled = (record.values.get("also") or {}).get("untitled")
    return _digest(record.values["type"], "" if untitled else record.values["title"], record.text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
