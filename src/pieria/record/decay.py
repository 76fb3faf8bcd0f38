"""How use and age rate a memory: recency, frequency, reward and retention. Pure arithmetic.

Recall and upkeep share these functions, so that both rate a memory in the same way.
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
"""The half-life of recency in days."""
LEAST_FREQUENCY, USUAL_USES = 0.3, 5
IMPORTANT = 0.8
"""A memory of this importance or more never fades."""
FADING_TIERS = ("working", "kept")
MODELS = ("power_law", "exponential", "two_component")
LONGEST = 10_000 * 365 * DAY
"""No date exists beyond this age, so a later event counts as never."""
SPACING = 3 * DAY
"""A gap of this length makes a use count half as spaced."""
HALVINGS = 64
"""Bisection steps: enough to reach a precision below a microsecond."""
REVIEWS = 3.0
"""This many reviews count half as much as very many."""


def recency(age: int, half_life_days: float = RECENCY_DAYS) -> float:
    """Return 1 for the present, and half after each half-life. The age is in microseconds; future counts as present."""
    return math.exp(-math.log(2) * max(0, age) / DAY / half_life_days)


def frequency(accesses: int) -> float:
    """Return a value from `LEAST_FREQUENCY` for hardly used memories towards 1."""
    return max(LEAST_FREQUENCY, accesses / (accesses + USUAL_USES))


def reward(usage: Usage) -> float:
    """Return 1 for a memory without judgements, up to 1.5 for good ones, down to 0.5 for bad ones."""
    average = usage.average_reward
    return 1.0 if average is None else 2 * _logistic(average)


def spaced(gap: int) -> float:
    """Return how much a use after this gap makes a memory last, from 0 up to 1 for one use."""
    return max(0, gap) / (max(0, gap) + SPACING)


def proven(usage: Usage) -> float:
    """Return how far reviews and rewards support a memory, from −0.5 to 1. 0 without any; searches do not count."""
    reviewed = usage.reviews / (usage.reviews + REVIEWS)
    average = usage.average_reward
    judged = 0.0 if average is None else 2 * _logistic(average) - 1
    return (reviewed + judged) / 2


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


def may_go(memory: Memory, kinds: Collection[str]) -> bool:
    """Return whether upkeep may forget the memory, judged by its own fields. `kinds` are the kinds that fade."""
    fades = memory.kind in kinds and memory.tier in FADING_TIERS and not memory.pinned
    return fades and memory.status != "promoted" and memory.importance < IMPORTANT


class Wear(NamedTuple):
    """The inputs of a memory's fading. Instants are in microseconds.

    `written` is when this version was first known. `tags` are in folded form.
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
        """Return when the memory was last accessed, reviewed or reworded.

        A memory without use counts from the later of `at` and `written`. So an old text that is new to the bank has
        not faded yet.
        """
        moments = [micros(moment) for moment in (self.used.last_access, self.used.last_review) if moment is not None]
        return max(self.at, *moments, *([self.written] if self.version > 1 or not moments else []))


@dataclass(frozen=True, slots=True)
class Fading:
    """How memories fade, and the thresholds that follow. The defaults are Mnemex's; rates are per second.

    Ages are in microseconds. `lasting` multiplies a memory's lifetime; see the method `lasting`.
    """

    model: str = "power_law"
    halflife_days: float = 3.0
    alpha: float = 1.1
    rate: float = 2.673e-6
    rate_fast: float = 1.603e-5
    rate_slow: float = 1.147e-6
    weight_fast: float = 0.7
    beta: float = 0.6
    """How much each further use strengthens a memory."""
    halflives: Mapping[str, float] = field(default_factory=nothing)
    """Half-lives in days, by kind or tag."""
    forget: float = 0.05
    promote: float = 0.65
    promote_uses: int = 5
    promote_days: float = 14.0
    review_from: float = 0.15
    review_to: float = 0.35
    review_share: float = 0.3
    spacing: float = 0.0
    """How much spaced use prolongs a memory. 0 turns this off."""

    def left(self, age: float, lasting: float = 1.0) -> float:
        """Return what is left after this age without use, from 0 to 1, before use and strength count."""
        seconds = max(0.0, age) / SECOND / lasting
        if self.model == "exponential":
            return math.exp(-self.rate * seconds)
        if self.model == "two_component":
            slow = (1 - self.weight_fast) * math.exp(-self.rate_slow * seconds)
            return self.weight_fast * math.exp(-self.rate_fast * seconds) + slow
        return float((1 + seconds / self._scale) ** -self.alpha)

    def score(self, age: float, uses: int, strength: float, lasting: float = 1.0) -> float:
        """Return what is left times the gain by use and strength. Unbounded: a much used memory starts far above 1."""
        return self.left(age, lasting) * self.gain(uses, strength)

    def retention(self, age: float, uses: int, strength: float, lasting: float = 1.0) -> float:
        """Return the score, capped at 1."""
        return min(1.0, self.score(age, uses, strength, lasting))

    def of(self, wear: Wear, now: int) -> float:
        """Return the score of a memory at that moment."""
        return self.score(now - wear.last_used, wear.used.accesses, wear.strength, self.lasting_of(wear))

    def gain(self, uses: int, strength: float) -> float:
        """Return the score of a memory at age 0."""
        return float((uses + 1) ** self.beta * strength)

    def until(self, level: float, uses: int, strength: float, lasting: float = 1.0) -> int | None:
        """Return the age at which the score falls to this level: 0 if it starts below, None if it never does."""
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
        """Return how urgent a review is: 1 in the middle of the danger zone, 0 at its ends and outside."""
        if not self.review_from < score < self.review_to:
            return 0.0
        half = (self.review_to - self.review_from) / 2
        return 1 - ((score - self.review_from) / half - 1) ** 2

    def lasting_of(self, wear: Wear) -> float:
        """Return the lifetime factor of a memory, from its kind, tags and spaced uses."""
        return float(self.lasting(wear.kind, wear.tags) * (1 + wear.used.spaced) ** self.spacing)

    def lasting(self, kind: str, tags: Iterable[str] = ()) -> float:
        """Return the lifetime factor: from the longest half-life among the tags, or else from the kind's."""
        if not self.halflives:
            return 1.0
        days = max((self.halflives[tag] for tag in tags if tag in self.halflives), default=self.halflives.get(kind))
        return 1.0 if days is None else days * DAY / self.half

    @property
    def half(self) -> float:
        """Return the age in microseconds at which half is left."""
        return float(self.until(0.5, 0, 1.0) or LONGEST)

    @property
    def _scale(self) -> float:
        """Return the time scale of the power law in seconds."""
        return self.halflife_days * DAY / SECOND / (2 ** (1 / self.alpha) - 1)
