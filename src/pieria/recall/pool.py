"""The candidates of a query as columns: one line each, with all evidence known before scoring.

Features are arithmetic over whole columns, so the same evidence gives the same scores on any store. Objects are made
only for lines that are shown.
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
"""The line of a missing neighbour: the last line of the term columns, which is all zeros."""


@dataclass(slots=True)
class Pool:
    """Similarities are cosines; NaN where a vector is missing or was not compared.

    The term columns have further lines after the candidates: neighbours that lend terms, and `NOBODY`.
    """

    keys: list[Key]
    ids: list[str]
    kinds: list[str]
    occasions: list[Hashable]
    """The session of each, and the channel within it; None outside of any session."""
    terms: list[str]
    """The terms of the query, one line of `counts` each."""
    counts: Floats
    lengths: Floats
    parts: Parts
    distinct: Floats
    pairs: Floats
    """Number of adjacent query terms that are adjacent in the text."""
    quoted: Floats
    """The share of the quoted passages that it holds."""
    beside: Mapping[int, Lines]
    """By distance, the line of the neighbour."""
    dense: Floats
    lead: Floats
    """Similarity of the beginning of a long text."""
    window: Floats
    nearer: Floats
    """How much more similar it is to the query without authors than to the whole query."""
    bare: Floats
    """Similarity to the query without all names; NaN if it names nothing."""
    rule: Floats
    wish: Floats
    near: list[int | None]
    """Where in the text the most similar passage begins."""
    by_named: Flags
    """Its author is named by the query, and the query does not name every author."""
    is_turn: Flags
    """Said in a conversation, so it has neighbours."""
    is_summary: Flags
    by_agent: Flags
    """A turn by an agent."""
    asks: Flags
    """It is a question itself."""
    replies: list[Key | None]
    """The next turn after a question, in the same session and channel, unless that is a question too."""
    tells_time: Flags
    place: Floats
    """Number of people's turns before it in its session; NaN where that does not matter."""
    at: NDArray[np.int64]
    importance: Floats
    strength: Floats
    says_when: Flags
    """It has a start of validity."""
    used: list[Usage]
    written: list[int]
    """When each was first known. `written`, `versions` and `tags` are filled only where fading counts."""
    versions: list[int]
    tags: list[Sequence[str]]
    fact: Floats
    """How far a fact drawn from it matches the query: 0.5 or 1."""
    tied: Mapping[int, Sequence[int]]
    """By line, the lines that a link ties to it."""
    copies: list[Hashable]
    """Equal for memories that say the same; None if it is unique."""
    overturned: list[Overturned | None]
    """What overturns it."""
    stated: list[Stated | None]
    """The time of the fact that it states."""
    overturns: Mapping[int, Sequence[int]]
    """By line, the lines that it overturns."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def is_compared(self) -> Flags:
        """Return for each whether its vector was compared with the query's."""
        return ~(np.isnan(self.dense) & np.isnan(self.lead))

    def candidate(self, number: int) -> Candidate:
        return Candidate(
            self,
            number,
            self.keys[number],
            self.ids[number],
            self.kinds[number],
            self.replies[number],
            self.copies[number],
            self.overturned[number],
        )


class Candidate(NamedTuple):
    """One line of the pool, for display."""

    pool: Pool
    number: int
    key: Key
    id: str
    kind: str
    reply: Key | None
    copy_of: Hashable
    overturned: Overturned | None

    @property
    def near(self) -> int | None:
        return self.pool.near[self.number]

    @property
    def is_summary(self) -> bool:
        return bool(self.pool.is_summary[self.number])

    @property
    def is_rule(self) -> bool:
        return bool(self.pool.rule[self.number] == self.pool.rule[self.number])

    @property
    def dense(self) -> float | None:
        """Return the similarity; None if it was not compared."""
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
