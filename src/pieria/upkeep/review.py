"""What is due for review, the forgetting curve of a memory, and its reinforcement. It plans changes and writes none."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from pieria.recall.past import drawn_on
from pieria.record.changeset import Stored, Write
from pieria.record.decay import DAY, Fading
from pieria.record.memory import Memory
from pieria.record.time import LATEST, iso, micros, moment
from pieria.record.usage import Usage
from pieria.store.protocol import Reader
from pieria.upkeep.faded import Worn, forgettable, scored, worn
from pieria.upkeep.promotion import judged
from pieria.upkeep.sleep import AT_ONCE

STRONGEST = 2.0
FOREIGN = 0.3
"""A context that shares less of the tags is another field."""
POINTS = 120
SHORTEST_DAYS = 7
"""A curve covers at least this many days."""


@dataclass(frozen=True, slots=True)
class Retained:
    """How much is retained of a memory, and why."""

    memory: Memory
    score: float
    urgency: float
    last_used: int
    used: Usage
    lasting: float
    """Factor on the usual half-life."""

    @property
    def retention(self) -> float:
        return min(1.0, self.score)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.memory.id,
            "score": round(self.score, 6),
            "retention": round(self.retention, 6),
            "urgency": round(self.urgency, 6),
            "last_used": iso(moment(self.last_used)),
            "uses": self.used.accesses,
            "reviews": self.used.reviews,
            "strength": self.memory.strength,
            "lasting": round(self.lasting, 6),
            "text": self.memory.text,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """How a memory fades from its last use, without further use. Instants are microseconds; None means never.

    `promotion` is the reason to promote it. `collected` is also None if upkeep may not forget the memory.
    """

    now: Retained
    at: int
    fading: Fading
    review_from: int | None
    review_to: int | None
    collected: int | None
    promotion: str | None
    points: tuple[tuple[int, float], ...]
    """(moment, score)"""

    def as_dict(self) -> dict[str, Any]:
        fading = self.fading
        return {
            **self.now.as_dict(),
            "at": iso(moment(self.at)),
            "model": fading.model,
            "review": {"from": _told(self.review_from), "to": _told(self.review_to)},
            "collected": _told(self.collected),
            "promotion": self.promotion,
            "thresholds": {
                "forget": fading.forget,
                "review_from": fading.review_from,
                "review_to": fading.review_to,
                "promote": fading.promote,
            },
            "points": [[_told(at), round(score, 6)] for at, score in self.points],
        }


def retained(one: Worn, fading: Fading, now: int) -> Retained:
    score = one.score(fading, now)
    return Retained(
        one.memory, score, fading.urgency(score), one.wear.last_used, one.wear.used, fading.lasting_of(one.wear)
    )


def due(reader: Reader, fading: Fading, now: int, kinds: Sequence[str], k: int) -> list[Retained]:
    """Return memories that will soon be forgotten: the most urgent first, and among equals the weakest."""
    asked = forgettable(now, kinds, ("active",))
    urgent = sorted(
        (-urgency, score, one.row, one.id)
        for score, one in scored(reader, fading, asked)
        if (urgency := fading.urgency(score)) > 0
    )
    chosen: list[int] = []
    for start in range(0, len(urgent), AT_ONCE):
        part = urgent[start : start + AT_ONCE]
        kept = drawn_on(reader, [id for *_, id in part])
        chosen += [row for *_, row, id in part if id not in kept]
        if len(chosen) >= k:
            break
    memories = reader.memories(chosen[:k], asked)
    return [retained(one, fading, now) for one in worn(reader, [memories[row] for row in chosen[:k]])]


def curve(one: Worn, fading: Fading, now: int, *, may_go: bool) -> Curve:
    uses, strength = one.wear.used.accesses, one.memory.strength
    lasting, last = fading.lasting_of(one.wear), one.wear.last_used

    def when(level: float) -> int | None:
        age = fading.until(level, uses, strength, lasting)
        return None if age is None or last + age >= micros(LATEST) else last + age

    collected = when(fading.forget)
    begins, ends = when(fading.review_to), when(fading.review_from)
    promotion = judged(one, fading, now)
    beyond = max(now, last + SHORTEST_DAYS * DAY, collected or ends or 0)
    step = (beyond - last) / POINTS
    moments = [round(last + number * step) for number in range(POINTS + 1)]
    return Curve(
        now=retained(one, fading, now),
        at=now,
        fading=fading,
        review_from=begins,
        review_to=ends,
        collected=collected if may_go else None,
        promotion=None if promotion is None else promotion.why,
        points=tuple((at, fading.of(one.wear, at)) for at in moments),
    )


def is_foreign(tags: Set[str], context: Set[str]) -> bool:
    """Return whether a memory was used in another field than its own. Without tags on either side it is unknown."""
    return bool(tags and context) and len(tags & context) / len(tags | context) < FOREIGN


def strengthened(held: Stored, by: float) -> Write | None:
    """Return the write; None if the memory has the greatest strength already."""
    strength = round(min(STRONGEST, held.state.strength + by), 6)
    return None if strength <= held.state.strength else Write(held.state._replace(strength=strength, reason=None))


def _told(at: int | None) -> str | None:
    return None if at is None else iso(moment(at))
