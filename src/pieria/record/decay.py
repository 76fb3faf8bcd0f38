"""How use and age speak for a memory: recency, frequency, reward, and what is retained. Pure arithmetic.

Exists so that recall and upkeep judge one memory alike.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pieria.record.memory import Memory, nothing
from pieria.record.time import micros
from pieria.record.usage import Usage

SECOND, HOUR, DAY = 1_000_000, 3_600_000_000, 86_400_000_000
"""Microseconds."""
RECENCY_DAYS = 90.0
"""How long it takes until recency is half of what it was."""
LEAST_FREQUENCY, USUAL_USES = 0.3, 5
IMPORTANT = 0.8
"""From here on a memory never fades."""
FADING_TIERS = ("working", "kept")
MODELS = ("power_law", "exponential", "two_component")
LONGEST = 10_000 * 365 * DAY
"""Beyond this a moment has no date: what would come later never does."""
SPACING = 3 * DAY
"""After so long a use counts half as spaced."""
HALVINGS = 64
"""Of that span, until less than a moment is left of it."""
REVIEWS = 3.0
"""Reviews that count half of what very many do."""


def recency(age: int, half_life_days: float = RECENCY_DAYS) -> float:
    """1 for what is of this moment, half after each half-life. The age is in microseconds; what is to come has none."""
    return math.exp(-math.log(2) * max(0, age) / DAY / half_life_days)


def frequency(accesses: int) -> float:
    """From a floor for what is hardly used towards 1."""
    return max(LEAST_FREQUENCY, accesses / (accesses + USUAL_USES))


def reward(usage: Usage) -> float:
    """1 for what was never judged or came out even; up to 1.5 for what served well, down to 0.5 for what did harm."""
    average = usage.average_reward
    return 1.0 if average is None else 2 * _logistic(average)


def spaced(gap: int) -> float:
    """How much a use after this time without one makes a memory last: nothing at once, and at most one whole use."""
    return max(0, gap) / (max(0, gap) + SPACING)


def proven(usage: Usage) -> float:
    """How far reviews and rewards speak for it, from −0.5 to 1; 0 where there are none. Being found proves nothing."""
    reviewed = usage.reviews / (usage.reviews + REVIEWS)
    average = usage.average_reward
    judged = 0.0 if average is None else 2 * _logistic(average) - 1
    return (reviewed + judged) / 2


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


def may_go(memory: Memory, kinds: Collection[str]) -> bool:
    """Whether upkeep may forget it, as far as it tells by itself; `kinds` are those that fade."""
    fades = memory.kind in kinds and memory.tier in FADING_TIERS and not memory.pinned
    return fades and memory.status != "promoted" and memory.importance < IMPORTANT


class Wear(NamedTuple):
    """What a memory's fading follows from. Instants are microseconds; `written` is when this version was first known.

    `tags` are as they are compared.
    """

    at: int
    kind: str
    strength: float
    used: Usage
    written: int = 0
    version: int = 1
    tags: Sequence[str] = ()

    @property
    def last_used(self) -> int:
        """When it was last accessed, reviewed, or put into other words. What never was counts from when it was said or
        written, whichever is later: of what was said long ago and is new to the bank, nothing has faded yet.
        """
        moments = [micros(moment) for moment in (self.used.last_access, self.used.last_review) if moment is not None]
        return max(self.at, *moments, *([self.written] if self.version > 1 or not moments else []))


@dataclass(frozen=True, slots=True)
class Fading:
    """How memories fade, and what follows from it. The defaults are Mnemex's; rates are per second.

    Ages are in microseconds. `lasting` is how many times as long as usual a memory lasts; see `lasting`.
    """

    model: str = "power_law"
    halflife_days: float = 3.0
    alpha: float = 1.1
    rate: float = 2.673e-6
    rate_fast: float = 1.603e-5
    rate_slow: float = 1.147e-6
    weight_fast: float = 0.7
    beta: float = 0.6
    """How much each further use strengthens what is left."""
    halflives: Mapping[str, float] = field(default_factory=nothing)
    """Days until half is left of what is of a kind or bears a tag."""
    forget: float = 0.05
    promote: float = 0.65
    promote_uses: int = 5
    promote_days: float = 14.0
    review_from: float = 0.15
    review_to: float = 0.35
    review_share: float = 0.3
    spacing: float = 0.0
    """How much longer spaced use makes a memory last; 0: no longer than any other."""

    def left(self, age: float, lasting: float = 1.0) -> float:
        """What is left of a memory that was last used so long ago, 0 to 1, whatever its use and strength."""
        seconds = max(0.0, age) / SECOND / lasting
        if self.model == "exponential":
            return math.exp(-self.rate * seconds)
        if self.model == "two_component":
            slow = (1 - self.weight_fast) * math.exp(-self.rate_slow * seconds)
            return self.weight_fast * math.exp(-self.rate_fast * seconds) + slow
        return float((1 + seconds / self._scale) ** -self.alpha)

    def score(self, age: float, uses: int, strength: float, lasting: float = 1.0) -> float:
        """What is left, times what use and strength add. Not bounded: much used, it begins far above 1."""
        return self.left(age, lasting) * self.gain(uses, strength)

    def retention(self, age: float, uses: int, strength: float, lasting: float = 1.0) -> float:
        """The same, 0 to 1."""
        return min(1.0, self.score(age, uses, strength, lasting))

    def of(self, wear: Wear, now: int) -> float:
        """The score of a memory at that moment."""
        return self.score(now - wear.last_used, wear.used.accesses, wear.strength, self.lasting_of(wear))

    def gain(self, uses: int, strength: float) -> float:
        """What the score of a memory begins with when it is used."""
        return float((uses + 1) ** self.beta * strength)

    def until(self, level: float, uses: int, strength: float, lasting: float = 1.0) -> int | None:
        """The age at which the score has fallen to this level; 0 where it begins below it. None: it never does."""
        if self.gain(uses, strength) <= level:
            return 0
        if self.score(LONGEST, uses, strength, lasting) > level:
            return None
        least, most = 0.0, float(LONGEST)
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            if self.score(middle, uses, strength, lasting) > level:
                least = middle
            else:
                most = middle
        return math.ceil(most)

    def urgency(self, score: float) -> float:
        """How much it is time for a review: 1 in the middle of the danger zone, 0 at its ends and beyond them."""
        if not self.review_from < score < self.review_to:
            return 0.0
        half = (self.review_to - self.review_from) / 2
        return 1 - ((score - self.review_from) / half - 1) ** 2

    def lasting_of(self, wear: Wear) -> float:
        """How many times as long as usual it lasts, for what it is and for its spaced uses."""
        return float(self.lasting(wear.kind, wear.tags) * (1 + wear.used.spaced) ** self.spacing)

    def lasting(self, kind: str, tags: Iterable[str] = ()) -> float:
        """How many times as long as usual this lasts: by the longest half-life of its tags, or else by its kind's."""
        if not self.halflives:
            return 1.0
        days = max((self.halflives[tag] for tag in tags if tag in self.halflives), default=self.halflives.get(kind))
        return 1.0 if days is None else days * DAY / self.half

    @property
    def half(self) -> float:
        """The age at which half is left, in microseconds."""
        return float(self.until(0.5, 0, 1.0) or LONGEST)

    @property
    def _scale(self) -> float:
        """The seconds from which on the power law bends."""
        return self.halflife_days * DAY / SECOND / (2 ** (1 / self.alpha) - 1)
