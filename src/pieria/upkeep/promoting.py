"""What has proven itself: important from the start, used again and again, or said again on other days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.record.analyser import terms
from pieria.record.changeset import Changeset, Write
from pieria.record.fading import retained
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED, Usage
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

IMPORTANT = 0.8
REPEATED, DAYS = 3, 2
"""So often said, on so many days, a thing is stable."""
SAME = 0.92
"""How near two texts are that say the same."""
STRONG, USES, RECENT_DAYS = 0.65, 5, 14
"""What is retained of a memory that is promoted, or how often it was used within so many days of being made."""


@dataclass(frozen=True, slots=True)
class Promotion:
    memory: Memory
    why: str
    retained: float = 0.0
    uses: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.memory.id,
            "why": self.why,
            "retained": round(self.retained, 6),
            "uses": self.uses,
            "text": self.memory.text,
        }


def settled(memories: Sequence[Memory], vectors: Mapping[int, Vector]) -> list[Promotion]:
    """Of what a sleep goes over: what should never fade. Of what was said repeatedly the latest wording."""
    found = [Promotion(memory, "important") for memory in memories if memory.importance >= IMPORTANT]
    known = {promotion.memory.id for promotion in found}
    for alike in _repeated(memories, vectors):
        latest = max(alike, key=lambda memory: (micros(memory.at), memory.row))
        if latest.id not in known:
            found.append(Promotion(latest, f"said {len(alike)} times"))
    return found


def worth_promoting(reader: Reader, memories: Sequence[Memory], now: int) -> list[Promotion]:
    used = reader.usage([memory.id for memory in memories])
    return [
        promotion for memory in memories if (promotion := _judged(memory, used.get(memory.id, UNUSED), now)) is not None
    ]


def changes(reader: Reader, chosen: Sequence[Promotion], verb: str, **change: Any) -> Changeset:
    """`status="promoted"`, or `tier="settled"`; of those that still stand."""
    held = reader.states([promotion.memory.id for promotion in chosen])
    states = [stored.state for promotion in chosen if (stored := held.get(promotion.memory.id)) is not None]
    writes = [Write(changed) for state in states if not state.ended and (changed := state._replace(**change)) != state]
    return Changeset(verb, writes=writes)


def _judged(memory: Memory, used: Usage, now: int) -> Promotion | None:
    last = max(map(micros, [memory.at, *filter(None, (used.last_access, used.last_review))]))
    left = retained(now - last, used.accesses, memory.strength)
    age_days = (now - micros(memory.known_from)) / 86_400_000_000
    if left >= STRONG and used.accesses:
        return Promotion(memory, "strong", left, used.accesses)
    if used.accesses >= USES and age_days <= RECENT_DAYS:
        return Promotion(memory, "used", left, used.accesses)
    return None


def _repeated(memories: Sequence[Memory], vectors: Mapping[int, Vector]) -> Iterator[list[Memory]]:
    """Texts that say the same, where that was on several days and by the same readers' leave."""
    groups: list[list[Memory]] = []
    for memory in memories:
        for group in groups:
            if _audience(memory) == _audience(group[0]) and _says_the_same(memory, group[0], vectors):
                group.append(memory)
                break
        else:
            groups.append([memory])
    for group in groups:
        if len(group) >= REPEATED and len({memory.at.date() for memory in group}) >= DAYS:
            yield group


def _audience(memory: Memory) -> tuple[str, str | None, str | None]:
    private = memory.scope == "session"
    return memory.scope, memory.session if private else None, memory.channel if private else None


def _says_the_same(one: Memory, other: Memory, vectors: Mapping[int, Vector]) -> bool:
    first, second = vectors.get(one.row), vectors.get(other.row)
    if first is not None and second is not None:
        return float(first @ second) >= SAME
    return sorted(terms(one.text)) == sorted(terms(other.text))
