"""How use and age speak for a memory: recency, frequency, reward, and what is retained. Pure arithmetic.

Exists so that recall and upkeep judge one memory alike.
"""

from __future__ import annotations

import math

from pieria.record.usage import Usage

HOUR, DAY = 3_600_000_000, 86_400_000_000
"""Microseconds."""
RECENCY_DAYS = 90.0
"""How long it takes until recency is half of what it was."""
LEAST_FREQUENCY, USUAL_USES = 0.3, 5
HALF_LIFE_DAYS, TAIL = 3.0, 1.1
"""When half is retained of what was never used again, and how fast the rest goes after that."""
PRACTICE = 0.6
"""How much each further use strengthens what is retained."""
REVIEWS = 3.0
"""Reviews that count half of what very many do."""


def recency(age: int, half_life_days: float = RECENCY_DAYS) -> float:
    """1 for what is of this moment, half after each half-life. The age is in microseconds; what is to come has none."""
    return math.exp(-math.log(2) * max(0, age) / DAY / half_life_days)


def frequency(accesses: int) -> float:
    """From a floor for what is hardly used towards 1."""
    return max(LEAST_FREQUENCY, accesses / (accesses + USUAL_USES))


def reward(usage: Usage) -> float:
    """1 for what was never judged, else by how it was judged on average: 0 to 1, a half for neither good nor bad."""
    average = usage.average_reward
    return 1.0 if average is None else _logistic(average)


def retained(age: int, uses: int, strength: float) -> float:
    """What is left of a memory that was last used so long ago, 0 to 1: soon half, then ever more slowly less."""
    scale = HALF_LIFE_DAYS / (2 ** (1 / TAIL) - 1)
    left = (1 + max(0, age) / DAY / scale) ** -TAIL
    return float(min(1.0, left * (uses + 1) ** PRACTICE * strength))


def proven(usage: Usage) -> float:
    """How far reviews and rewards speak for it, from −0.5 to 1; 0 where there are none. Being found proves nothing."""
    reviewed = usage.reviews / (usage.reviews + REVIEWS)
    average = usage.average_reward
    judged = 0.0 if average is None else 2 * _logistic(average) - 1
    return (reviewed + judged) / 2


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
