"""Which memories are due: what nobody has gone over yet, once it is old enough or there is too much of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from pieria.record.fading import HOUR
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
IMPORTANT = 0.8
"""From here on a memory never fades."""
AT_ONCE = 500


class Due(NamedTuple):
    """The oldest first; `left` are due as well, and were beyond the limit."""

    memories: list[Memory]
    left: int


def fresh(now: int) -> Filter:
    """What no sleep has gone over yet, whoever may see it."""
    return Filter(now=now, viewer=Viewer(everything=True), kinds=SAID, tiers=("working",), status=("active",))


def due(reader: Reader, now: int, *, force: bool, limit: int) -> Due:
    """Of what holds now: what is old enough; with `force` all of it."""
    asked = fresh(now)
    whole = sum(reader.count(asked).values())
    rested = asked if force else asked.having(until=now - RESTS_HOURS * HOUR)
    number = max(sum(reader.count(rested).values()), whole - PRESSURE)
    found = list(islice(chain.from_iterable(selected(reader, asked)), min(number, limit)))
    return Due(found, max(0, number - len(found)))


def selected(reader: Reader, asked: Filter) -> Iterator[list[Memory]]:
    """All that the filter lets through, oldest first, a part at a time."""
    after: tuple[float, int] | None = None
    while part := reader.select(asked, "oldest", AT_ONCE, after):
        yield part
        after = (micros(part[-1].at), part[-1].row)
