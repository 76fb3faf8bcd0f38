"""Half-open intervals of valid time, in microseconds. Open ends are sentinel values, so that all bounds compare
alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pieria.record.changeset import FOREVER
from pieria.record.fact import Fact
from pieria.record.time import micros

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
