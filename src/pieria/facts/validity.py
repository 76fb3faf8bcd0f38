"""Decides when a fact holds: from when until when, and how other values of a predicate make room for it.

Open ends are sentinel values, so that all bounds compare alike. A fact is stored as written, and limited to its
memory's time when it is shown. A rewrite starts from the stored fact, because the memory may later hold for longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from pieria.record.changeset import FOREVER
from pieria.record.fact import Fact, FactRow, row_of
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.ids import new_id
from pieria.record.time import micros, moment
from pieria.store.protocol import Reader

BEGINNING = -FOREVER


class Span(NamedTuple):
    """From `begin` to just before `end`. It is empty only for a fact that ended the instant it began."""

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


def statement_times(reader: Reader, facts: Iterable[Fact]) -> dict[str, int]:
    """Return when each fact without a start was stated: the start, or else the time, of its memory."""
    undated = [fact for fact in facts if fact.valid_from is None]
    states = reader.states(sorted({fact.memory for fact in undated if fact.memory is not None})) if undated else {}
    found = {}
    for fact in undated:
        memory = states.get(fact.memory or "")
        begin = None if memory is None else memory.state.valid_from
        said = micros(fact.known_from) if memory is None else memory.state.at
        found[fact.id] = said if begin is None else begin
    return found


def written_span(fact: Fact, stated: Mapping[str, int], memory: Span = EVER) -> Span:
    """Return the time that a fact holds as written.

    Without a start it holds from when it was stated. If it, or its memory, had ended by then, its start is unknown.
    """
    span = span_of(fact)
    begin = stated.get(fact.id)
    if begin is None or fact.valid_from is not None or begin > span.end or begin >= memory.end:
        return span
    return Span(begin, span.end)


def with_start(fact: Fact, stated: Mapping[str, int], memory: Span = EVER) -> Fact:
    """Return the fact with the start that it has without its own."""
    begin, _ = written_span(fact, stated, memory).bounds()
    return fact if begin is None or fact.valid_from is not None else replace(fact, valid_from=moment(begin))


def shown(fact: Fact, times: Times, stated: Mapping[str, int]) -> Fact:
    """Return the fact limited to its memory's time; as written if the two do not overlap."""
    memory = times[fact.source_memory]
    fact = with_start(fact, stated, memory)
    span = span_of(fact).within(memory)
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
    written: Span
    stated: int = FOREVER
    """When it was stated, if it has no start of its own."""

    @property
    def is_undated(self) -> bool:
        """Whether it was stated without a start."""
        return self.fact.valid_from is None

    def has_ended_within(self, day: Span) -> bool:
        """Return whether it was stated to begin and end on that day. A later value leaves it its day."""
        return self.fact.valid_until is not None and day.covers(self.written)

    def may_join(self, span: Span) -> bool:
        """Return whether a statement of that time makes one fact with this one.

        An unknown start cannot be kept in a fact that goes on after it was stated: the statement has to give another.
        """
        if not self.span.meets(span):
            return False
        goes_on = self.written.begin == BEGINNING and span.end > self.stated
        return not goes_on or span.begin < self.written.end

    def over(self, span: Span) -> FactRow:
        """Return the row valid over the span. A start that the fact never had is not written."""
        row = over(row_of(self.fact), span)
        return row._replace(valid_from=None) if self.is_undated and span.begin == self.written.begin else row

    def join(self, span: Span, *, is_dated: bool) -> Span:
        """Return the time of both. An unknown start becomes that of `span` if the fact goes on, or if that start was
        stated for all the rest of its time.
        """
        whole = joined((self.written, span))
        is_start_of_all = is_dated and span.end >= self.written.end
        is_kept = whole.begin > BEGINNING or (whole.end <= self.stated and not is_start_of_all)
        return whole if is_kept else Span(span.begin, whole.end)


class Slot(NamedTuple):
    """The facts on a subject and predicate: those with the stated object, and others that may have to make room."""

    same: list[Held]
    others: list[Held]
    is_single: bool
    """Whether the predicate has one value at a time."""


class Said(NamedTuple):
    """The bounds that a statement gives, and when it was said. None where it gives no bound."""

    begin: int | None
    end: int | None
    at: int
    last_start: int | None = None
    """The last moment of the day that was given as the start; None for an instant."""


def cut(held: Held, taken: Span) -> list[FactRow]:
    """Return the rows of a fact without the time `taken`: moved, split in two, or removed if nothing is left."""
    row = row_of(held.fact)
    left = held.written.without(taken)
    if not left:
        return [row._replace(ended="removed", reason=DISPLACED)]
    source = row.source_memory
    return [held.over(left[0]), *(over(row, span)._replace(id=new_id(), memory=source) for span in left[1:])]


def stated_span(said: Said, slot: Slot, now: int) -> Span:
    """Return the time of a statement with open bounds.

    A missing bound claims nothing: where the fact is known to hold, the known bound applies. Otherwise a fact holds
    from when it was said, until further notice.
    """
    begin, end = said.begin, said.end
    if begin is None and end is not None and end <= now:
        begin = _begin_before(said.at, end, slot)
    elif begin is None:
        begin = _begin_now(said.at if end is None or said.at < end else now, slot, now)
    if end is not None:
        return Span(begin, end)
    after = max(begin, said.last_start or begin)
    following = min((held.span.begin for held in slot.others if held.span.begin > after), default=FOREVER)
    return Span(begin, min(following, _known_end(said, begin, slot, now)))


def _known_end(said: Said, begin: int, slot: Slot, now: int) -> int:
    """Return the known end of a fact that begins then: that of the fact of now, or else of then, or else of the next
    one that is over.

    A fact that ended on the first day has begun again.
    """
    known = sorted(held.span for held in slot.same)
    begun = begin if said.last_start is None else said.last_start + 1
    of_now = [span for span in known if span.holds(max(begin, now))]
    of_then = [span for span in known if span.holds(begun)] if said.begin is not None else []
    later = [span for span in known if span.begin > begun and span.end <= now][:1] if said.begin is not None else []
    return min((span.end for span in of_now or of_then or later), default=FOREVER)


def _begin_now(at: int, slot: Slot, now: int) -> int:
    for held in slot.same:
        if held.span.holds(now):
            return held.span.begin
    return now if any(held.span.begin <= now for held in slot.same) else at


def _begin_before(at: int, end: int, slot: Slot) -> int:
    """Return the start of a fact that has ended: when it was said, or else the latest known bound before its end.

    Without either its start is unknown.
    """
    for held in slot.same:
        if held.span.holds(end - 1):
            return held.span.begin
    if at < end:
        return at
    bounds = (bound for held in (*slot.same, *slot.others) for bound in held.span if bound < end)
    return max(bounds, default=BEGINNING)


def begin_today(said: Said, slot: Slot, now: int) -> Said:
    """Return the bounds, with now as the start if another value began earlier on the same day, today.

    Both values then keep their part of the day.
    """
    if said.begin is None or said.last_start is None or said.end is not None:
        return said
    is_today = said.begin <= now <= said.last_start
    began = any(said.begin <= held.span.begin < now for held in slot.others)
    return said._replace(begin=now) if is_today and began else said


def over(row: FactRow, span: Span) -> FactRow:
    """Return the row valid over the span."""
    begin, end = span.bounds()
    return row._replace(valid_from=begin, valid_until=end)
