"""What becomes of each record: it comes in as it is, goes into what is here already, or is left out.

A record is what is here when it has its id or, where the id is unknown, its content. A history is one thing: where part
of it is here, the rest follows that part, so that nothing ever has two heads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from pieria.bank import Bank
from pieria.record.memory import Memory
from pieria.toolsets.open_mem.incoming import Incoming, Record
from pieria.toolsets.open_mem.payload import memories
from pieria.toolsets.open_mem.words import OBSERVED, SESSION, SUMMARY, type_of

EVERYTHING = ("removed", "revised", "invalid", "archived")


@dataclass(slots=True)
class Here:
    """What the bank holds by id, by content, and of summaries by session."""

    is_empty: bool
    standing: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    leads_to: dict[str, str] = field(default_factory=dict)
    by_content: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: Bank) -> Here:
        here = cls(is_empty=not bank.changes(limit=1))
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
    merged: list[tuple[str, Record]] = field(default_factory=list)
    """A single record that goes into what is here, under that id."""
    summaries: list[tuple[str, Record]] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)


def planned(incoming: Incoming, here: Here, mode: str) -> Plan:
    plan = Plan()
    for history in _histories(incoming):
        _place(plan, history, here, mode)
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
    head = history[-1]
    known = [found for id in ids if (found := here.head(id)) is not None]
    if not known:
        twin = here.by_content.get(_digest_of(head))
        known = [found] if twin is not None and (found := here.head(twin)) is not None else []
    if not known:
        plan.histories.append(history)
        plan.targets.update({record.id: record.base[0] for record in history})
    elif mode == "skip" or known[-1] in here.removed:
        # What was removed here stays so, whatever the payload calls it.
        return
    elif known[-1] in ids:
        plan.histories.append(history)
        plan.targets.update({record.id: record.base[0] for record in history})
    else:
        plan.merged.append((known[-1], head))
        plan.targets[head.id] = known[-1]


def _histories(incoming: Incoming) -> Iterator[list[Record]]:
    """Each observation with the revisions that led to it, oldest first; and those that led to a tombstone."""
    by_id = {record.id: record for record in [*incoming.observations, *incoming.revisions]}
    taken: set[str] = set()
    heads = [*incoming.observations, *(one for one in incoming.revisions if one.values.get("deletedAt"))]
    for head in heads:
        if head.id in taken:
            continue
        chain = [head]
        taken.add(head.id)
        before = head.values.get("revisionOf")
        while before in by_id and before not in taken:
            taken.add(before)
            chain.append(by_id[before])
            before = by_id[before].values.get("revisionOf")
        if not _is_loose(head):
            yield chain[::-1]


def _is_loose(head: Record) -> bool:
    """Something that is not in the payload came in its place: it is not to stand here as if nothing had."""
    superseded = head.values.get("supersededAt") and not head.values.get("deletedAt")
    return bool(superseded) and "valid_until" not in (head.values.get("also") or {})


def _digest_of(record: Record) -> str:
    untitled = (record.values.get("also") or {}).get("untitled")
    return _digest(record.values["type"], "" if untitled else record.values["title"], record.text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
