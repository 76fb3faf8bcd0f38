"""Which memories are due: what nobody has gone over yet, once it is old enough or there is too much of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from pieria.record.decay import DAY, HOUR
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.store.protocol import Reader

SAID = ("note", "observation", "turn")
"""Kinds that a sleep goes over: what was said or noticed. Drawers and diaries are kept as they were filed."""
RESTS_HOURS = 24
"""What was written within so many hours is still being worked with."""
PRESSURE = 500
"""Of more than so many the oldest are due whatever their age."""
REMEMBERED_DAYS, REMEMBERED = 60, 5_000
"""What of earlier sleeps is looked at, to find what is said again."""
AT_ONCE = 500


Place = tuple[int, int]
"""Of a memory in the order of time: its time, and its row."""


class Due(NamedTuple):
    """The oldest first; `left` are due as well, and were beyond the limit. `place` is where the next sleep goes on."""

    memories: list[Memory]
    left: int
    place: Place | None


def fresh(now: int) -> Filter:
    """What no sleep has gone over yet, whoever may see it."""
    return Filter(now=now, viewer=Viewer(everything=True), kinds=SAID, tiers=("working",), status=("active",))


def said_before(reader: Reader, now: int) -> list[Memory]:
    """What sleeps have gone over in the last weeks, and did not settle."""
    asked = fresh(now).having(tiers=("kept",), since=now - REMEMBERED_DAYS * DAY)
    return list(islice(chain.from_iterable(selected(reader, asked)), REMEMBERED))


def due(reader: Reader, now: int, *, force: bool, limit: int, after: Place | None) -> Due:
    """Of what holds now: what is old enough; with `force` all of it.

    What finds no company is due for ever. So that it does not stand in the way of the rest, more than the limit is gone
    over in turns: each sleep goes on where the last one ended, and at the end begins again.
    """
    asked = fresh(now)
    whole = sum(reader.count(asked).values())
    rested = asked if force else asked.having(until=now - RESTS_HOURS * HOUR)
    number = max(sum(reader.count(rested).values()), whole - PRESSURE)
    if after is not None and number > limit:
        ahead = number - sum(reader.count(asked.having(until=after[0])).values())
    else:
        after, ahead = None, number
    if ahead <= 0:
        after, ahead = None, number
    found = list(islice(chain.from_iterable(selected(reader, asked, after)), min(ahead, limit)))
    goes_on = bool(found) and len(found) < ahead
    return Due(found, number - len(found), (micros(found[-1].at), found[-1].row) if goes_on else None)


def selected(
    reader: Reader, asked: Filter, after: Place | None = None, order: str = "oldest"
) -> Iterator[list[Memory]]:
    """All that the filter lets through behind that place, in the order of time or back, a part at a time."""
    while part := reader.select(asked, order, AT_ONCE, after):
        yield part
        after = (micros(part[-1].at), part[-1].row)
