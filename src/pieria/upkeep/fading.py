"""What has faded: what is hardly retained any more, of the kinds that may be forgotten at all.

Never what is pinned, settled or important, and never what others were drawn from: a summary must keep its sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pieria.recall.reviewing import drawn_on
from pieria.record.changeset import Changeset, Write
from pieria.record.fading import FADING_TIERS, IMPORTANT, Fading, Wear
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED
from pieria.store.protocol import Reader
from pieria.upkeep.selecting import selected

DIMMED = 2.0
"""A memory is put away below so many times what it is collected below."""


class Worn(NamedTuple):
    """A memory with what its fading goes by."""

    memory: Memory
    wear: Wear

    def score(self, fading: Fading, now: int) -> float:
        return fading.of(self.wear, now)


@dataclass(frozen=True, slots=True)
class Faded:
    memory: Memory
    retained: float

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.memory.id, "retained": round(self.retained, 6), "text": self.memory.text}


def worn(reader: Reader, memories: Sequence[Memory]) -> list[Worn]:
    used = reader.usage([memory.id for memory in memories])
    written = reader.written([memory.row for memory in memories])
    return [
        Worn(
            memory,
            Wear(micros(memory.at), memory.kind, memory.strength, used.get(memory.id, UNUSED), *written[memory.row]),
        )
        for memory in memories
    ]


def forgettable(now: int, kinds: Sequence[str], statuses: Sequence[str]) -> Filter:
    return Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=tuple(kinds),
        tiers=FADING_TIERS,
        status=tuple(statuses),
        valid_at=ANY_TIME,
        pinned=False,
    )


def faded(
    reader: Reader, fading: Fading, now: int, kinds: Sequence[str], threshold: float, statuses: Sequence[str]
) -> list[Faded]:
    """The least retained first."""
    asked = forgettable(now, kinds, statuses)
    found = [one for part in selected(reader, asked) for one in _faded_of(reader, fading, part, now, threshold)]
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


def _faded_of(reader: Reader, fading: Fading, part: Sequence[Memory], now: int, threshold: float) -> Iterator[Faded]:
    fades = [memory for memory in part if memory.importance < IMPORTANT]
    maybe = [Faded(one.memory, one.score(fading, now)) for one in worn(reader, fades)]
    maybe = [one for one in maybe if one.retained < threshold]
    if not maybe:
        return
    kept = drawn_on(reader, [one.memory.id for one in maybe])
    yield from (one for one in maybe if one.memory.id not in kept)
