"""Memories that have faded, of the kinds that may be forgotten.

Pinned, settled and important memories are never among them, nor sources of others: a summary must keep its sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pieria.recall.past import drawn_on
from pieria.record.changeset import Changeset, Write
from pieria.record.decay import FADING_TIERS, IMPORTANT, Fading, Wear
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED
from pieria.store.parts import Aged
from pieria.store.protocol import Reader

DIMMED = 2.0
"""A memory is archived below this multiple of the threshold for collection."""
AT_ONCE = 5_000


class Worn(NamedTuple):
    """A memory with the inputs of its retention score."""

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


def scored(reader: Reader, fading: Fading, asked: Filter) -> Iterator[tuple[float, Aged]]:
    """Yield the memories that may be forgotten, each with its retention score. No text is read."""
    after = 0
    while part := reader.aged(asked, after, AT_ONCE):
        fades = [one for one in part if one.importance < IMPORTANT]
        tags = reader.written([one.row for one in fades]) if fading.halflives else {}
        for one in fades:
            wear = one.wear._replace(tags=tags[one.row].tags) if tags else one.wear
            yield fading.of(wear, asked.now), one
        after = part[-1].row


def faded(
    reader: Reader,
    fading: Fading,
    now: int,
    kinds: Sequence[str],
    threshold: float,
    statuses: Sequence[str],
    limit: int | None,
) -> tuple[list[Faded], int]:
    """Return the faded memories, least retained first and at most `limit`, and the number beyond the limit."""
    asked = forgettable(now, kinds, statuses)
    maybe = sorted((score, one.row, one.id) for score, one in scored(reader, fading, asked) if score < threshold)
    parts = (maybe[start : start + AT_ONCE] for start in range(0, len(maybe), AT_ONCE))
    kept = {id for part in parts for id in drawn_on(reader, [id for _, _, id in part])}
    found = [(score, row) for score, row, id in maybe if id not in kept]
    chosen = found[:limit]
    memories = reader.memories([row for _, row in chosen], asked)
    return [Faded(memories[row], score) for score, row in chosen], len(found) - len(chosen)


def archived(reader: Reader, chosen: Sequence[Faded], verb: str) -> Changeset:
    return _changed(reader, chosen, verb, {"status": "archived"})


def removed(reader: Reader, chosen: Sequence[Faded], verb: str) -> Changeset:
    return _changed(reader, chosen, verb, {"ended": "removed", "reason": "it had faded"})


def _changed(reader: Reader, chosen: Sequence[Faded], verb: str, change: Mapping[str, Any]) -> Changeset:
    """Change the chosen memories, except those that were changed since they were read."""
    held = reader.states([one.memory.id for one in chosen])
    writes = []
    for one in chosen:
        stored = held.get(one.memory.id)
        if stored is not None and micros(one.memory.known_from) == stored.known_from and not stored.state.ended:
            writes.append(Write(stored.state._replace(**change)))
    return Changeset(verb, writes=writes)
