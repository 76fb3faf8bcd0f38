"""When a fact holds: half-open intervals in microseconds, and the time of the memory behind a fact.

Open ends are sentinel values, so that all bounds compare alike. A fact is stored as written, and limited to its
memory's time when it is shown. A rewrite starts from the stored fact, because the memory may later hold for longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from pieria.record.changeset import FOREVER
from pieria.record.fact import Fact
from pieria.record.filter import ANY_TIME, Filter
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
