"""The time of the memories behind facts.

A fact is stored as written, and limited to its memory's time when it is shown. A rewrite starts from the stored fact,
because the memory may later hold for longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pieria.facts.intervals import EVER, Span, span_of, spanned
from pieria.record.fact import Fact
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.time import micros, moment
from pieria.store.protocol import Reader

Times = Mapping[str | None, Span]


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
