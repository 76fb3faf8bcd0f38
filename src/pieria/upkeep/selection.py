"""The memories that a sleep goes over: those not gone over yet, once they are old enough or too many."""

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
"""Kinds that a sleep goes over: what was said or noticed. Drawers and diaries stay as filed."""
RESTS_HOURS = 24
"""Memories younger than this are still in use."""
PRESSURE = 500
"""Above this number the oldest are due regardless of age."""
REMEMBERED_DAYS, REMEMBERED = 60, 5_000
"""Days and number of earlier memories to search for repeated statements."""
AT_ONCE = 500


Place = tuple[int, int]
"""A position in time order: (time, row)."""


class Due(NamedTuple):
    """The memories to go over, oldest first. `left` are also due, but over the limit. The next sleep starts at
    `place`."""

    memories: list[Memory]
    left: int
    place: Place | None


def fresh(now: int) -> Filter:
    """Return the filter for memories that no sleep has gone over, for any reader."""
    return Filter(now=now, viewer=Viewer(everything=True), kinds=SAID, tiers=("working",), status=("active",))


def said_before(reader: Reader, now: int) -> list[Memory]:
    """Return memories that sleeps of recent weeks went over and did not settle."""
    asked = fresh(now).having(tiers=("kept",), since=now - REMEMBERED_DAYS * DAY)
    return list(islice(chain.from_iterable(selected(reader, asked)), REMEMBERED))


def due(reader: Reader, now: int, *, force: bool, limit: int, after: Place | None) -> Due:
    """Return the memories that hold now and are old enough; with `force` all that hold now.

    A memory without a group stays due. It must not block the rest, so each sleep continues where the last one stopped,
    and starts over at the end.
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
    """Yield all memories of the filter after that place, in parts and in the given order."""
    while part := reader.select(asked, order, AT_ONCE, after):
        yield part
        after = (micros(part[-1].at), part[-1].row)
