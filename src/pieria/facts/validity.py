"""Decides when a fact holds: from when until when, and how other values of a predicate make room for it.

Open ends are sentinel values, so that all bounds compare alike. A fact is stored as written, and limited to its
memory's time when it is shown. A rewrite starts from the stored fact, because the memory may later hold for longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from pieria.facts.predicates import Declaration
from pieria.record.changeset import FOREVER
from pieria.record.fact import Fact, FactRow, row_of
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.ids import new_id
from pieria.record.time import micros, moment
from pieria.store.protocol import Reader

BEGINNING = -FOREVER


class Span(NamedTuple):
    """From `begin` to just before `end`; never empty."""

    begin: int
    end: int

    def holds(self, moment: int) -> bool:
        return self.begin <= moment < self.end

    def overlaps(self, other: Span) -> bool:
        return self.begin < other.end and other.begin < self.end

    def meets(self, other: Span) -> bool:
        """Return whether the two overlap or touch, so that they form one interval."""
        return self.begin <= other.end and other.begin <= self.end

    def covers(self, other: Span) -> bool:
        return self.begin <= other.begin and other.end <= self.end

    def within(self, other: Span) -> Span | None:
        """Return the intersection; None if it is empty."""
        begin, end = max(self.begin, other.begin), min(self.end, other.end)
        return Span(begin, end) if begin < end else None

    def without(self, other: Span) -> list[Span]:
        """Return the rest: no, one or two pieces."""
        pieces = (Span(self.begin, min(self.end, other.begin)), Span(max(self.begin, other.end), self.end))
        return [piece for piece in pieces if piece.begin < piece.end]

    def bounds(self) -> tuple[int | None, int | None]:
        """Return the bounds for a row, None where open."""
        return (None if self.begin == BEGINNING else self.begin, None if self.end == FOREVER else self.end)


EVER = Span(BEGINNING, FOREVER)
Times = Mapping[str | None, Span]


def span_of(fact: Fact) -> Span:
    return spanned(
        None if fact.valid_from is None else micros(fact.valid_from),
        None if fact.valid_until is None else micros(fact.valid_until),
    )


def spanned(begin: int | None, end: int | None) -> Span:
    return Span(BEGINNING if begin is None else begin, FOREVER if end is None else end)


def joined(spans: Iterable[Span]) -> Span:
    """Return one interval for spans that meet."""
    begins, ends = zip(*spans, strict=True)
    return Span(min(begins), max(ends))


def as_written(filter: Filter) -> Filter:
    """Return a filter of the same reader that yields facts as written."""
    return filter.having(valid_at=ANY_TIME)


def times_of(reader: Reader, memories: Iterable[str | None], filter: Filter) -> Times:
    """Return when each visible memory holds; facts without a memory may hold at any time."""
    found: dict[str | None, Span] = {None: EVER}
    named = sorted({memory for memory in memories if memory is not None})
    if named:
        held = reader.states(named, filter.having(valid_at=ANY_TIME, status=None))
        found.update((id, spanned(stored.state.valid_from, stored.state.valid_until)) for id, stored in held.items())
    return found


def shown(fact: Fact, times: Times) -> Fact:
    """Return the fact limited to its memory's time; unchanged if the two do not overlap."""
    span = span_of(fact).within(times[fact.source_memory])
    if span is None:
        return fact
    begin, end = span.bounds()
    return replace(
        fact,
        valid_from=None if begin is None else moment(begin),
        valid_until=None if end is None else moment(end),
    )


def was_seen(reader: Reader, fact: Fact, filter: Filter) -> bool:
    """Return whether this reader could see a version while it was known: its memory may have belonged to another
    session."""
    if fact.source_memory is None or fact.known_until is None:
        return True
    stretch = (micros(fact.known_from), micros(fact.known_until) - 1)
    return any(fact.memory in times_of(reader, [fact.memory], filter.having(known_at=at)) for at in stretch)


DISPLACED = "another value was stated for the whole time"


class Held(NamedTuple):
    """A fact as written, and the time it holds: never longer than its memory does."""

    fact: Fact
    span: Span
    learnt: int
    """When it was first stated, as far as known."""

    def written(self) -> Span:
        return span_of(self.fact)


class Slot(NamedTuple):
    """The facts on a subject and predicate: those with the stated object, and others that may have to make room."""

    same: list[Held]
    others: list[Held]
    declared: Declaration | None
    """Set if the predicate is single-valued."""


def cut(held: Held, taken: Span, own: Span | None = None) -> list[FactRow]:
    """Return the rows of a fact without the time `taken`: moved, split in two, or removed if nothing is left.

    `own` is the time that it keeps, if that is not all of it.
    """
    row, written = row_of(held.fact), held.written()
    if own is not None and own.begin != held.span.begin:
        written = Span(own.begin, written.end)
    left = written.without(taken)
    if not left:
        return [row._replace(ended="removed", reason=DISPLACED)]
    source = row.source_memory
    return [over(row, left[0]), *(over(row, span)._replace(id=new_id(), memory=source) for span in left[1:])]


def stated_span(begin: int | None, end: int | None, slot: Slot, now: int) -> Span:
    """Return the time of a statement with open bounds.

    A missing bound claims nothing: where the fact is known to hold, the known bound applies.
    """
    if begin is None:
        begin = _begin_before(end, slot) if end is not None and end <= now else _begin_now(slot, now)
    if end is not None:
        return Span(begin, end)
    starts = (own_time(other, slot.declared, begin, now).begin for other in slot.others)
    following = min((start for start in starts if start > begin), default=FOREVER)
    still = max(begin, now)
    return Span(begin, min(following, *(held.span.end for held in slot.same if held.span.holds(still)), FOREVER))


def _begin_now(slot: Slot, now: int) -> int:
    for held in slot.same:
        if held.span.holds(now):
            return held.span.begin
    held_before = any(held.span.begin <= now for held in slot.same)
    return now if slot.declared or held_before else BEGINNING


def _begin_before(end: int, slot: Slot) -> int:
    """Return the start of a fact that has ended: the latest known bound before its end."""
    for held in slot.same:
        if held.span.holds(end - 1):
            return held.span.begin
    bounds = (bound for held in (*slot.same, *slot.others) for bound in held.span if bound < end)
    return max(bounds, default=BEGINNING)


def own_time(other: Held, declared: Declaration | None, begin: int, now: int) -> Span:
    """Return the time that another value keeps.

    A value stated without a start, before the predicate became single-valued, claims no time before it was learnt. So
    it does not give way to a value that is now stated for an earlier time.
    """
    learnt = other.learnt
    undated = other.span.begin == BEGINNING and other.span.holds(learnt)
    if declared is None or not undated or learnt > declared.known or begin >= min(learnt, now):
        return other.span
    return Span(min(learnt, now), other.span.end)


def over(row: FactRow, span: Span) -> FactRow:
    """Return the row valid over the span."""
    begin, end = span.bounds()
    return row._replace(valid_from=begin, valid_until=end)
