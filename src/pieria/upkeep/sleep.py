"""What a sleep writes for a group: one summary linked to its sources, and the tier of the sources.

Nothing else of the sources changes. Dates, audience, importance and lineage are computed here; a mind only words the
summary.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Any

from pieria.models.mind import Mind, Said
from pieria.record.changeset import Changeset, Stored, Write
from pieria.record.draft import Draft, NewMemory
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, LinkRow
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.store.protocol import Reader
from pieria.store.rows import first_write

SUMMARY = "summary"
BY = "sleep"
WORDS = (80, 40, 20)
"""Words of a new summary, after a month, and after half a year."""
LABELS = 8


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
