"""An import plan as lines of Pieria's export format, so that the bank imports all of it or nothing.

Only an empty bank keeps the times of knowing, and only those that Pieria wrote. Otherwise times only decide which of
two revisions is later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pieria.bank import Bank
from pieria.bank.read.revisions import REVISES
from pieria.bank.transfer.incoming import export_of
from pieria.errors import InputError, PieriaError, TransferError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.record.ids import derived_id
from pieria.record.link import DRAWN_FROM
from pieria.record.time import instant, iso, micros, moment
from pieria.record.trust import HEARSAY, TRUST
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.import_plan import Plan
from pieria.toolsets.open_mem.payload import observation
from pieria.toolsets.open_mem.payload_reader import CONTENT_ALSO, STATE_ALSO, Record, refused, told
from pieria.toolsets.open_mem.words import BOTH, READ, SUMMARY, own_scope, share_of

if TYPE_CHECKING:
    from pieria.bank.results.transfer import ImportReport

Values = dict[str, Any]
IMPORTED = "open-mem"
DEFAULT = 3
OF_HERE = -1
"""The index of a record that is not in the payload."""
AHEAD = 60 * 60 * 1_000_000
AT_ONCE = 500
"""Records per change, if the records have no times of their own."""
SPOKEN = {"text": "narrative", "tags": "concepts", "source": "toolName", "session": "sessionId", "at": "createdAt"}


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
            wrong = InputError(SPOKEN.get(each["parameter"], each["parameter"]), each["expected"], None)
            wrong.received = each["received"]
            found.append(told(record.section, record.index, record.id, wrong))
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
                if source in self._ids or self.bank.get(source) is not None:
                    self._link(record, target, DRAWN_FROM, source, known, None)

    def _known(self, record: Record) -> int:
        values = record.values
        if self.from_now:
            self._taken += 1
            return self._now + self._taken // AT_ONCE
        name = "knownFrom" if self.keeps_times and values.get("knownFrom") else "createdAt"
        return self._by_now(values[name], name)

    def _by_now(self, value: str, name: str) -> int:
        """Return the time, capped at now plus `AHEAD`: another machine's clock may run ahead."""
        return min(micros(instant(value, name)), self._now + AHEAD)

    def _history(self, history: list[Record], stands: str | None) -> None:
        """Add each revision, known until the next one. The bank's memory with the id `stands` precedes the rest."""
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
