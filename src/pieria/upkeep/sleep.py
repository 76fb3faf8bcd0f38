"""Which memories a sleep goes over, and what it writes for a group: one summary, and the tier of its sources.

Nothing else of the sources changes. Dates, audience, importance and lineage are computed here; a mind only words the
summary. Summaries get shorter with age; the longer text stays as an earlier version.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from statistics import median
from typing import Any, NamedTuple

from pieria.models.mind import Mind, Said
from pieria.record.changeset import Changeset, Stored, Write
from pieria.record.decay import DAY, HOUR
from pieria.record.draft import Draft, NewMemory
from pieria.record.filter import Filter, Viewer
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, LinkRow
from pieria.record.memory import Memory
from pieria.record.time import iso, micros
from pieria.store.protocol import Reader
from pieria.store.rows import first_write

SUMMARY = "summary"
BY = "sleep"
WORDS = (80, 40, 20)
"""Words of a new summary, after a month, and after half a year."""
LABELS = 8
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
AGES_DAYS = (0, 30, 180)
"""The age, in days, at which a summary gets the length of each level."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The planned summary of a group."""

    id: str
    text: str
    sources: tuple[Memory, ...]

    @property
    def last(self) -> Memory:
        return self.sources[-1]

    def as_dict(self) -> dict[str, Any]:
        first, last = self.sources[0], self.last
        return {
            "id": self.id,
            "text": self.text,
            "sources": [memory.id for memory in self.sources],
            "from": iso(first.at),
            "until": iso(last.at),
            "scope": last.scope,
        }


def free_id(reader: Reader, group: Sequence[Memory]) -> str | None:
    """Return the id of a group's summary; None if it has one. A removed summary leaves its id in use."""
    for number in count():
        id = _id_of(group, number)
        held = reader.states([id]).get(id)
        if held is None:
            return id
        if not held.state.ended:
            return None
    raise AssertionError("numbers end")


def summary_of(id: str, group: Sequence[Memory], mind: Mind) -> Summary:
    text = mind.summarize([said(memory) for memory in group], WORDS[0]).strip()
    return Summary(id, text, tuple(group))


def said(memory: Memory) -> Said:
    return Said(memory.text, memory.author, f"{memory.at:%Y-%m-%d}")


def changes(
    reader: Reader, summary: Summary, draft: Draft, settled: Collection[str], now: int, place: str
) -> Changeset | None:
    """Return the changeset; None if a source was changed, so that a later sleep retries. `settled` are ids of
    sources."""
    held = reader.states([memory.id for memory in summary.sources])
    if any(_changed(memory, held.get(memory.id)) for memory in summary.sources) or reader.states([summary.id]):
        return None
    write = first_write(draft, summary.id, now, place)
    changeset = Changeset("sleep", writes=[write._replace(state=write.state._replace(tier="kept"))])
    for id in (memory.id for memory in summary.sources):
        changeset.writes.append(Write(held[id].state._replace(tier="settled" if id in settled else "kept")))
    changeset.links = [
        LinkRow(new_id(), "memory", summary.id, DRAWN_FROM, "memory", memory.id, 1.0, None, None, "")
        for memory in summary.sources
    ]
    return changeset


def new_memory(summary: Summary) -> NewMemory:
    last = summary.last
    private = last.scope == "session"
    sessions = {memory.session for memory in summary.sources}
    labels = Counter(entity for memory in summary.sources for entity in memory.entities)
    tags = Counter(tag for memory in summary.sources for tag in memory.tags)
    return NewMemory(
        summary.text,
        kind=SUMMARY,
        body={"type": SUMMARY, "level": 0, "sources": len(summary.sources)},
        tags=[tag for tag, _ in tags.most_common(LABELS)],
        entities=[entity for entity, _ in labels.most_common(LABELS)],
        importance=median(memory.importance for memory in summary.sources),
        scope=last.scope,
        session=last.session if private or len(sessions) == 1 else None,
        channel=last.channel if private else None,
        source=BY,
        author_type="agent",
        at=last.at,
    )


def _changed(memory: Memory, held: Stored | None) -> bool:
    if held is None:
        return True
    state = held.state
    return (state.row, state.ended, state.status, state.tier) != (memory.row, "", memory.status, memory.tier)


def _id_of(group: Sequence[Memory], number: int) -> str:
    """Return an id derived from the source versions, so that all processes agree and a group is summarized once."""
    versions = "\n".join([*sorted(memory.reference for memory in group), *([str(number)] if number else [])])
    return f"sum-{hashlib.sha256(versions.encode()).hexdigest()[:20]}"


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


class Shortened(NamedTuple):
    memory: Memory
    level: int
    text: str


def due_levels(reader: Reader, now: int, limit: int) -> list[tuple[Memory, int]]:
    """Return summaries of sleeps that are too long for their age, with the next level."""
    asked = Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=(SUMMARY,),
        source=BY,
        status=("active", "archived"),
        pinned=False,
        until=now - AGES_DAYS[1] * DAY,
    )
    summaries = chain.from_iterable(selected(reader, asked))
    return list(islice(((memory, level) for memory in summaries if (level := _due_level(memory, now))), limit))


def _due_level(memory: Memory, now: int) -> int:
    """Return the next level, or 0 if it is not due. A late summary of old memories keeps its length for a while."""
    level = int(memory.body.get("level", 0)) + 1
    if level >= len(WORDS) or len(memory.text.split()) <= WORDS[level]:
        return 0
    waited = (now - max(micros(memory.at), micros(memory.known_from))) / DAY
    return level if waited >= AGES_DAYS[level] - AGES_DAYS[level - 1] else 0


def shortened(memory: Memory, level: int, mind: Mind) -> Shortened:
    return Shortened(memory, level, mind.summarize([said(memory)], WORDS[level]).strip())
