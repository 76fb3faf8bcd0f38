"""The import plan: each record is inserted, merged into an existing memory, or skipped.

A record matches a memory by id or, if the id is unknown, by content. A history moves as a unit: if the bank holds part
of it or its predecessor, the rest follows. Two revisions of one predecessor become one history, and the later revision
is current. No memory ever has two heads.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pieria.bank import Bank
from pieria.bank.read.lineage import REVISES
from pieria.bank.transfer.foreign_records import export_of
from pieria.errors import InputError, NotFoundError, PieriaError, TransferError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.record.ids import derived_id
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory
from pieria.record.time import instant, iso, micros, moment
from pieria.record.trust import HEARSAY, TRUST
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.payload import (
    CONTENT_ALSO,
    STATE_ALSO,
    Incoming,
    Record,
    memories,
    observation,
    problem_with,
    refused,
)
from pieria.toolsets.open_mem.words import (
    BOTH,
    OBSERVED,
    READ,
    SESSION,
    SUMMARY,
    is_of_purged,
    own_scope,
    share_of,
    type_of,
)

if TYPE_CHECKING:
    from pieria.bank.results.transfer import ImportReport


EVERYTHING = ("removed", "revised", "invalid", "archived")
Values = dict[str, Any]
IMPORTED = "open-mem"
DEFAULT = 3
OF_HERE = -1
"""The index of a record that is not in the payload."""
AHEAD = 60 * 60 * 1_000_000
AT_ONCE = 500
"""Records per change, if the records have no times of their own."""
STANDING_KEYS = (
    *("revisionOf", "deletedAt", "supersededBy", "supersededAt"),
    *("knownFrom", "endedAt", "reason", "endReason"),
)
"""Keys of a record that tell its standing and not its content."""
GIVEN_AS = {"text": "narrative", "tags": "concepts", "source": "toolName", "session": "sessionId", "at": "createdAt"}


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
    if not known and not head.is_withheld:
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


def taken_in(call: Call, bank: Bank, plan: Plan, mode: str, *, is_ours: bool, is_empty: bool) -> ImportReport:
    made = _Made(bank, keeps_times=is_ours, from_now=is_empty and not is_ours)
    made.add(plan)
    numbered: dict[int, Record | None] = {}

    def lines() -> Iterator[Values]:
        for number, (record, values) in enumerate(made.lines(), start=1):
            numbered[number] = record
            yield values

    try:
        return bank.import_(export_of(lines()), mode=mode, progress=call.host.progress)
    except TransferError as problem:
        raise _refused(problem, numbered) from problem


def _refused(problem: TransferError, numbered: dict[int, Record | None]) -> TransferError:
    """Return the error with payload records instead of line numbers."""
    found = []
    for each in (line.as_dict() for line in problem.problems if isinstance(line, PieriaError)):
        record = numbered.get(each["line"])
        if record is not None:
            wrong = InputError(GIVEN_AS.get(each["parameter"], each["parameter"]), each["expected"], None)
            wrong.received = each["received"]
            found.append(problem_with(record.section, record.index, record.id, wrong))
    return refused(found) if found else problem


@dataclass(slots=True)
class _Made:
    """Export lines, grouped by the time at which the bank learns of them."""

    bank: Bank
    keeps_times: bool
    from_now: bool
    _at: dict[int, list[tuple[Record, list[Values]]]] = field(default_factory=dict)
    _now: int = 0
    _taken: int = 0
    _ids: set[str] = field(default_factory=set)

    def add(self, plan: Plan) -> None:
        self._now = micros(self.bank.clock())
        for history in plan.histories:
            self._history(history, plan.goes_on.get(history[0].base[0]))
        for target, record in plan.merged:
            self._standing(target, record, self._known(record))
        for target, record in plan.summaries:
            known = self._known(record)
            self._standing(target, record, known)
            for source in record.values.get("sources") or ():
                held = self.bank.get(source)
                if source in self._ids or (held is not None and held.is_stored):
                    self._link(record, target, DRAWN_FROM, source, known, None)

    def _known(self, record: Record) -> int:
        values = record.values
        if self.from_now:
            self._taken += 1
            return self._now + self._taken // AT_ONCE
        if self.keeps_times and values.get("knownFrom"):
            return self._by_now(values["knownFrom"], "knownFrom")
        held = self.bank.get(record.id)
        if held is not None and held.at < instant(values["createdAt"], "createdAt") and self._is_as_imported(held):
            # Both texts were imported, so the later one is the one that was written later.
            return max(self._by_now(values["createdAt"], "createdAt"), micros(held.known_from) + 1)
        return self._by_now(values["createdAt"], "createdAt")

    def _is_as_imported(self, held: Memory) -> bool:
        """Return whether the text has not changed here. A change here keeps the time; an import brings its own."""
        if held.via != HEARSAY:
            return False
        others = [one for one in self.bank.history(held.id) if one.text != held.text]
        return not others or others[-1].at != held.at

    def _by_now(self, value: str, name: str) -> int:
        """Return the time, capped at now plus `AHEAD`: another machine's clock may run ahead."""
        return min(micros(instant(value, name)), self._now + AHEAD)

    def _text_here(self, record: Record) -> Record:
        """Return the record with its content from here, if the payload withholds it and the bank has it."""
        held = self.bank.get(record.base[0], include_removed=True) if record.is_withheld else None
        if held is None:
            return record
        content = observation(self.bank, held, None)
        content |= {name: value for name, value in record.values.items() if name in STANDING_KEYS}
        return replace(record, values=content)

    def _history(self, history: list[Record], stands: str | None) -> None:
        """Add each revision, known until the next one. The bank's memory with the id `stands` precedes the rest."""
        history = [self._text_here(record) for record in history]
        held = None if stands is None else self.bank.get(stands)
        if held is not None and all(record.base[0] != stands for record in history):
            history = [Record("revisions", OF_HERE, observation(self.bank, held, None)), *history]
        elif held is None and stands is not None:
            # It was removed meanwhile: no revision may continue it.
            return
        versions: Counter[str] = Counter()
        times: list[int] = []
        for number, record in enumerate(history):
            known = self._known(record)
            if held is not None and number and history[number - 1].base[0] == stands:
                known = max(known, micros(held.known_from) + 1)
            times.append(max(known, times[-1] + 1) if times else known)
        for number, record in enumerate(history):
            id = record.base[0]
            versions[id] += 1
            later = history[number + 1] if number + 1 < len(history) else None
            until = times[number + 1] if later is not None else self._removed(record, times[number])
            state = self._state(id, record, versions[id])
            opened: list[Values] = [self._content(id, record, versions[id]), _stretch(state, times[number], until)]
            self._put(times[number], record, opened)
            if later is not None and later.base[0] != id:
                ended = {
                    **state,
                    "ended": "revised",
                    "superseded_by": later.base[0],
                    "reason": later.values.get("reason"),
                }
                assert until is not None
                self._put(until, record, [_stretch(ended, until, None)])
                self._link(record, later.base[0], REVISES, id, until, later.values.get("reason"))
            elif later is None and until is not None:
                removed = {**state, "ended": "removed", "reason": record.values.get("endReason")}
                self._put(until, record, [_stretch(removed, until, None)])

    def _removed(self, record: Record, known: int) -> int | None:
        """Return when the record was removed; None if it was not."""
        if not record.values.get("deletedAt"):
            return None
        if self.from_now:
            return known + 1
        ended = record.values.get("endedAt") if self.keeps_times else None
        return max(self._by_now(ended or record.values["deletedAt"], "deletedAt"), known + 1)

    def _standing(self, id: str, record: Record, known: int) -> None:
        self._put(known, record, [self._content(id, record, 1), _stretch(self._state(id, record, 1), known, None)])

    def _put(self, known: int, record: Record, lines: list[Values]) -> None:
        self._at.setdefault(known, []).append((record, lines))
        self._ids |= {line["id"] for line in lines}

    def _link(self, record: Record, source: str, relation: str, target: str, known: int, label: str | None) -> None:
        values = {
            "line": "link", "id": derived_id("", source, relation, target), "source_is": "memory", "source": source,
            "relation": relation, "target_is": "memory", "target": target, "weight": 1.0, "label": label, "ended": "",
            "known_from": iso(moment(known)),
        }  # fmt: skip
        self._at.setdefault(known, []).append((record, [_there(values)]))

    def _content(self, id: str, record: Record, version: int) -> Values:
        values, also = record.values, record.values.get("also") or {}
        files = [*(values.get("filesModified") or ()), *(values.get("filesRead") or ())]
        body = _there({**_body(record), **(also.get("body") or {}), "type": record.type})
        return _there({
            "line": "content", "id": id, "version": version, "text": record.text,
            "title": None if also.get("untitled") else values.get("title") or None,
            "tags": values.get("concepts") or None, "files": list(dict.fromkeys(files)) or None, "body": body or None,
            **{name: also.get(name) for name in CONTENT_ALSO},
        })  # fmt: skip

    def _state(self, id: str, record: Record, version: int) -> Values:
        values, also = record.values, record.values.get("also") or {}
        return {
            "line": "state", "id": id, "version": version, "kind": record.kind, "type": record.type,
            "place": f"{self.bank.name}/{record.kind}", "scope": own_scope(self.bank),
            "session": (values.get("sessionId") or "").strip() or None, "source": values.get("toolName") or None,
            "at": values["createdAt"], "status": "active", "tier": "working",
            "importance": share_of(values.get("importance") or DEFAULT), "strength": 1.0,
            "trust": TRUST[HEARSAY], "via": HEARSAY, "pinned": False, "ended": "", "reason": values.get("reason"),
            "superseded_by": values.get("supersededBy") if "valid_until" in also else None,
            **{name: also[name] for name in STATE_ALSO if name in also},
        }  # fmt: skip

    def lines(self) -> Iterator[tuple[Record | None, Values]]:
        contents = sum(line["line"] == "content" for put in self._at.values() for _, lines in put for line in lines)
        yield None, {
            "pieria": "export", "format": 1, "bank": self.bank.name, "exported_at": iso(self.bank.clock()),
            "seq": len(self._at), "contents": contents, "analyser": ANALYSER_VERSION,
        }  # fmt: skip
        for seq, known in enumerate(sorted(self._at), start=1):
            put = self._at[known]
            ids = list(dict.fromkeys(line["id"] for _, lines in put for line in lines))
            at = iso(moment(known))
            yield None, {"line": "change", "seq": seq, "at": at, "who": IMPORTED, "what": "import", "ids": ids}
            # Write links last: both of their memories must exist.
            for is_link in (False, True):
                for record, lines in put:
                    if (lines[0]["line"] == "link") is is_link:
                        yield from ((record, line) for line in lines)


def _body(record: Record) -> Values:
    values = record.values
    if record.kind == SUMMARY:
        told = {
            "key_decisions": values.get("keyDecisions"), "request": values.get("request"),
            "investigated": values.get("investigated"), "learned": values.get("learned"),
            "completed": values.get("completed"), "next_steps": values.get("nextSteps"),
        }  # fmt: skip
        return {name: value for name, value in told.items() if value}
    read = values.get("filesRead") or []
    both = [file for file in values.get("filesModified") or () if file in read]
    found = {
        "subtitle": values.get("subtitle"), "facts": values.get("facts"),
        "discovery_tokens": values.get("discoveryTokens"), READ: read, BOTH: both,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}


def _stretch(state: Values, known: int, until: int | None) -> Values:
    ends = None if until is None else iso(moment(until))
    return _there({**state, "known_from": iso(moment(known)), "known_until": ends})


def _there(values: Values) -> Values:
    return {name: value for name, value in values.items() if value is not None}
