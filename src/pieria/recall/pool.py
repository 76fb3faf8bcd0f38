"""The candidates of a question as columns: a line each, with all that is known of them before anything is scored.

Exists so that features are arithmetic over whole columns: the same evidence gives the same scores on any store. An
object is made of a line only where one is shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pieria.recall.answer import Overturned
from pieria.recall.evidence import Key, Stated
from pieria.record.decay import Wear
from pieria.record.usage import Usage
from pieria.store.parts import Parts

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Lines = NDArray[np.intp]
NOBODY = -1
"""The line of nobody: the last one of the words, which holds none."""


@dataclass(slots=True)
class Pool:
    """Similarities are cosines; NaN where there is no such vector, or it was not compared.

    Of the words there are further lines behind those of the candidates: neighbours that lend theirs, and nobody.
    """

    keys: list[Key]
    ids: list[str]
    kinds: list[str]
    occasions: list[Hashable]
    """The session in which each was said and, within that, the channel; None outside of any."""
    terms: list[str]
    """What the question asks for: a line of the counts each."""
    counts: Floats
    lengths: Floats
    parts: Parts
    distinct: Floats
    pairs: Floats
    """How many terms that are neighbours in the question are neighbours in the text."""
    quoted: Floats
    """The share of the passages in quotes that it holds."""
    beside: Mapping[int, Lines]
    """By distance, the line of the neighbour."""
    dense: Floats
    lead: Floats
    """How near the beginning of a long text is."""
    window: Floats
    nearer: Floats
    """By how much it is more like the question without the names of those who speak than like the whole."""
    bare: Floats
    """How near it is to the question without all that this names; NaN where it names nothing."""
    rule: Floats
    wish: Floats
    near: list[int | None]
    """Where in the text the passage begins that is most alike."""
    by_named: Flags
    """Its author is one that the question names, and the question does not name every author."""
    is_turn: Flags
    """Said in a conversation, where much stands beside it."""
    is_summary: Flags
    by_agent: Flags
    """A turn that an agent spoke."""
    asks: Flags
    """It is itself a question."""
    replies: list[Key | None]
    """What follows it then, in the same session and channel, and is no question."""
    tells_time: Flags
    place: Floats
    """How many turns of people stand before it in its session; NaN where that does not matter."""
    at: NDArray[np.int64]
    importance: Floats
    strength: Floats
    says_when: Flags
    """It says from when it holds."""
    used: list[Usage]
    written: list[int]
    """When each was first known, where it matters how it fades; and so with what follows."""
    versions: list[int]
    tags: list[Sequence[str]]
    fact: Floats
    """How far a fact that was drawn from it speaks of what the question names: a half, or wholly."""
    tied: Mapping[int, Sequence[int]]
    """By line the lines of what a link ties it to."""
    copies: list[Hashable]
    """Two that have the same say the same. None: it is like no other."""
    overturned: list[Overturned | None]
    """What says that it holds no longer."""
    stated: list[Stated | None]
    """The time of the fact that it states."""
    overturns: Mapping[int, Sequence[int]]
    """By line the lines of what it says holds no longer."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def is_compared(self) -> Flags:
        """Whether anything of its meaning was compared with the question's."""
        return ~(np.isnan(self.dense) & np.isnan(self.lead))

    def candidate(self, number: int) -> Candidate:
        return Candidate(self, number)


class Candidate(NamedTuple):
    """One line, for whoever shows it."""

    pool: Pool
    number: int

    @property
    def key(self) -> Key:
        return self.pool.keys[self.number]

    @property
    def id(self) -> str:
        return self.pool.ids[self.number]

    @property
    def kind(self) -> str:
        return self.pool.kinds[self.number]

    @property
    def near(self) -> int | None:
        return self.pool.near[self.number]

    @property
    def reply(self) -> Key | None:
        return self.pool.replies[self.number]

    @property
    def copy_of(self) -> Hashable:
        return self.pool.copies[self.number]

    @property
    def overturned(self) -> Overturned | None:
        return self.pool.overturned[self.number]

    @property
    def is_summary(self) -> bool:
        return bool(self.pool.is_summary[self.number])

    @property
    def is_rule(self) -> bool:
        return bool(self.pool.rule[self.number] == self.pool.rule[self.number])

    @property
    def dense(self) -> float | None:
        """None where it was not compared."""
        value = float(self.pool.dense[self.number])
        return None if value != value else value

    @property
    def wear(self) -> Wear:
        pool, number = self.pool, self.number
        return Wear(
            int(pool.at[number]),
            pool.kinds[number],
            float(pool.strength[number]),
            pool.used[number],
            pool.written[number],
            pool.versions[number],
            pool.tags[number],
        )
