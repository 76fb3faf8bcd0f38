"""How far a measured share can be trusted: intervals by drawing anew, and how well a number tells two groups apart."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import fmean

DRAWS = 1_000
TAIL = 0.025


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Between which bounds the mean lies in 95 of 100 samples drawn from these: always the same for the same values."""
    if not values:
        return 0.0, 0.0
    chance = random.Random(len(values))
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(DRAWS))
    return means[int(DRAWS * TAIL)], means[int(DRAWS * (1 - TAIL)) - 1]


def told_apart(high: Sequence[float], low: Sequence[float]) -> float | None:
    """How often a number of the first group is above one of the second: the area under the ROC curve."""
    if not high or not low:
        return None
    ordered = sorted(low)
    below = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in high)
    return below / 2 / len(high) / len(low)
