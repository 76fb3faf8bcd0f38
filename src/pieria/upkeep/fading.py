"""What has faded: what is hardly retained any more, of the kinds that may be forgotten at all.

Never what is pinned, settled or important, and never what others were drawn from: a summary must keep its sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pieria.record.changeset import Changeset, Write
from pieria.record.fading import retained
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED, Usage
from pieria.store.protocol import Reader
from pieria.upkeep.selecting import IMPORTANT, selected

FORGOTTEN, DIMMED = 0.05, 0.1
"""What is retained below which a memory is collected, and below which it is put away."""


@dataclass(frozen=True, slots=True)
class Faded:
    memory: Memory
    retained: float

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.memory.id, "retained": round(self.retained, 6), "text": self.memory.text}


def faded(reader: Reader, now: int, kinds: Sequence[str], threshold: float, statuses: Sequence[str]) -> list[Faded]:
    """The least retained first."""
    asked = Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=tuple(kinds),
        tiers=("working", "kept"),
        status=tuple(statuses),
        valid_at=ANY_TIME,
        pinned=False,
    )
    found = [one for part in selected(reader, asked) for one in _faded_of(reader, part, now, threshold)]
    return sorted(found, key=lambda one: (one.retained, one.memory.row))


def archived(reader: Reader, chosen: Sequence[Faded], verb: str) -> Changeset:
    return _changed(reader, chosen, verb, {"status": "archived"})


def removed(reader: Reader, chosen: Sequence[Faded], verb: str) -> Changeset:
    return _changed(reader, chosen, verb, {"ended": "removed", "reason": "it had faded"})


def _changed(reader: Reader, chosen: Sequence[Faded], verb: str, change: Mapping[str, Any]) -> Changeset:
    """Of those that are still as they were looked at."""
    held = reader.states([one.memory.id for one in chosen])
    writes = []
    for one in chosen:
        stored = held.get(one.memory.id)
        if stored is not None and micros(one.memory.known_from) == stored.known_from and not stored.state.ended:
            writes.append(Write(stored.state._replace(**change)))
    return Changeset(verb, writes=writes)


def _faded_of(reader: Reader, part: Sequence[Memory], now: int, threshold: float) -> Iterator[Faded]:
    used = reader.usage([memory.id for memory in part])
    maybe = [Faded(memory, left_of(memory, used.get(memory.id, UNUSED), now)) for memory in part]
    maybe = [one for one in maybe if one.retained < threshold and one.memory.importance < IMPORTANT]
    if not maybe:
        return
    links = reader.links([End("memory", one.memory.id) for one in maybe], DRAWN_FROM)
    sources = {link.target.name for link in links}
    yield from (one for one in maybe if one.memory.id not in sources)


def left_of(memory: Memory, used: Usage, now: int) -> float:
    """What is retained of it since it was written, or last used."""
    moments = [memory.known_from, memory.at, *filter(None, (used.last_access, used.last_review))]
    return retained(now - max(map(micros, moments)), used.accesses, memory.strength)
