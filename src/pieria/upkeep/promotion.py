"""Memories that have proven themselves: important from the start, used often, or repeated on other days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.language.analyser import terms
from pieria.language.particulars import are_apart, particulars
from pieria.record.changeset import Changeset, Write
from pieria.record.decay import DAY, IMPORTANT, Fading
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.store.protocol import Reader
from pieria.upkeep.faded import Worn, worn
from pieria.upkeep.groups import Audience, audience_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

REPEATED, DAYS = 3, 2
"""A statement repeated this often, on this many days, is stable."""
SAME = 0.92
"""Least similarity of two texts that say the same."""
BLOCK, EARLIER = 1_024, 3_072
"""Statements that are compared at a time, and the latest ones before them that they are compared with."""
FRESH_DAYS = 1.0
"""A younger memory scores high only because it is new."""


@dataclass(frozen=True, slots=True)
class Promotion:
    memory: Memory
    why: str
    score: float = 0.0
    uses: int = 0

    @property
    def retained(self) -> float:
        return min(1.0, self.score)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.memory.id,
            "why": self.why,
            "score": round(self.score, 6),
            "retained": round(self.retained, 6),
            "uses": self.uses,
            "text": self.memory.text,
        }


def settled(
    memories: Sequence[Memory],
    before: Sequence[Memory],
    vectors: Mapping[int, Vector],
    again: Mapping[str, Sequence[str]] | None = None,
) -> list[Promotion]:
    """Return memories that should never fade. Of repeated statements it is the first one.

    `before` are memories of earlier sleeps: a statement may have been made there first. `again` has the days on which
    the text of a memory was said again and not stored.
    """
    again = again or {}
    found = [Promotion(memory, "important") for memory in memories if memory.importance >= IMPORTANT]
    known = {promotion.memory.id for promotion in found}
    rows = {memory.row for memory in memories}
    for alike in _same([*before, *memories], rows | {one.row for one in before if one.id in again}, vectors):
        times = len(alike) + sum(len(again.get(memory.id, ())) for memory in alike)
        if times < REPEATED:
            continue
        days = {f"{memory.at:%Y-%m-%d}" for memory in alike}.union(*(again.get(memory.id, ()) for memory in alike))
        first = min(alike, key=lambda memory: (micros(memory.at), memory.row))
        if len(days) >= DAYS and first.id not in known and first.tier != "settled":
            found.append(Promotion(first, f"said {times} times"))
    return found


def worth_promoting(reader: Reader, memories: Sequence[Memory], fading: Fading, now: int) -> list[Promotion]:
    found = [judged(one, fading, now) for one in worn(reader, memories)]
    return [promotion for promotion in found if promotion is not None]


def judged(one: Worn, fading: Fading, now: int) -> Promotion | None:
    """Return why the memory deserves promotion; None if it does not, or not yet.

    A high score alone does not count: new memories score high, and unused ones have proven nothing.
    """
    score, uses = one.score(fading, now), one.wear.used.accesses
    said = min(one.wear.at, one.wear.written)
    if uses and score >= fading.promote and now - said >= FRESH_DAYS * DAY:
        return Promotion(one.memory, "strong", score, uses)
    if uses >= fading.promote_uses and now - micros(one.memory.at) <= fading.promote_days * DAY:
        return Promotion(one.memory, "used", score, uses)
    return None


def changes(reader: Reader, chosen: Sequence[Promotion], verb: str, **change: Any) -> Changeset:
    """Return the changeset for `status="promoted"` or `tier="settled"`, without memories that have ended."""
    held = reader.states([promotion.memory.id for promotion in chosen])
    states = [stored.state for promotion in chosen if (stored := held.get(promotion.memory.id)) is not None]
    writes = [Write(changed) for state in states if not state.ended and (changed := state._replace(**change)) != state]
    return Changeset(verb, writes=writes)


def _same(memories: Sequence[Memory], new: Set[int], vectors: Mapping[int, Vector]) -> Iterator[list[Memory]]:
    """Yield groups with the same meaning, audience and trust, with at least one of the new rows."""
    by_words: dict[tuple[Audience, float, tuple[str, ...]], list[Memory]] = {}
    for memory in memories:
        by_words.setdefault((audience_of(memory), memory.trust, tuple(terms(memory.text))), []).append(memory)
    alike: dict[tuple[Audience, float], list[list[Memory]]] = {}
    for (audience, trust, _), group in by_words.items():
        alike.setdefault((audience, trust), []).append(group)
    for groups in alike.values():
        yield from (group for group in _joined(groups, new, vectors) if any(memory.row in new for memory in group))


def _joined(groups: Sequence[list[Memory]], new: Set[int], vectors: Mapping[int, Vector]) -> list[list[Memory]]:
    """Join groups of equal terms whose first members say the same, each with the first such group.

    Groups without a new row were compared by an earlier sleep. What differs in a name, a number or a negation is
    never the same.
    """
    known = sorted((group for group in groups if group[0].row in vectors), key=lambda group: micros(group[-1].at))
    joined = [list(group) for group in groups if group[0].row not in vectors]
    alike = _alike([vectors[group[0].row] for group in known])
    first: dict[int, list[Memory]] = {}
    for number, group in enumerate(known):
        near = alike.get(number, ()) if any(memory.row in new for memory in group) else ()
        found = next((first[place] for place in near if place in first and _agree(first[place], group)), None)
        if found is None:
            first[number] = list(group)
        else:
            found += group
    return [*joined, *first.values()]


def _alike(vectors: Sequence[Vector]) -> dict[int, list[int]]:
    """Return for each vector the numbers of the earlier ones that say the same."""
    import numpy as np

    found: dict[int, list[int]] = {}
    held = np.stack(vectors) if vectors else np.zeros((0, 1), np.float32)
    for begin in range(0, len(held), BLOCK):
        first = max(0, begin - EARLIER)
        near = held[begin : begin + BLOCK] @ held[first : begin + BLOCK].T >= SAME
        # A flat search is several times faster than one by rows and columns.
        for row, column in (divmod(cell, near.shape[1]) for cell in np.flatnonzero(near).tolist()):
            if first + column < begin + row:
                found.setdefault(begin + row, []).append(first + column)
    return found


def _agree(one: Sequence[Memory], other: Sequence[Memory]) -> bool:
    return not are_apart(particulars(one[0].text), particulars(other[0].text))
