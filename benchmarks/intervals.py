"""Confidence of a measured share: bootstrap intervals, and how well a number separates two groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

DRAWS = 1_000
TAIL = 0.025
FIGURES = 4

Array = np.ndarray[Any, Any]


class Estimate(NamedTuple):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        named = {"mean": self.value, "from": self.low, "to": self.high}
        return {name: round(value, FIGURES) for name, value in named.items()}


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean, the same for the same values. Apply it to paired differences to test for an effect."""
    held = np.asarray(values, dtype=np.float64)
    return _estimate(float(held.mean()), _drawn(len(held), 0) @ held)


def mean_of_groups(groups: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean of all values. Whole groups are resampled, because values of one group may be more alike."""
    sums = np.array([float(np.sum(group)) for group in groups])
    counts = np.array([float(len(group)) for group in groups])
    drawn = _drawn(len(groups), 0)
    return _estimate(float(sums.sum() / counts.sum()), (drawn @ sums) / (drawn @ counts))


def told_apart(high: Sequence[float], low: Sequence[float]) -> Estimate | None:
    """Return how often a number of the first group exceeds one of the second: the area under the ROC curve."""
    return None if not high or not low else _area(_above(high, low))


def told_apart_better(
    high: Sequence[float], low: Sequence[float], other_high: Sequence[float], other_low: Sequence[float]
) -> Estimate | None:
    """Return how much better the first two groups are separated than the others, for the same questions."""
    return None if not high or not low else _area(_above(high, low) - _above(other_high, other_low))


def _above(high: Sequence[float], low: Sequence[float]) -> Array:
    """Return 1 for each pair where the first number is larger, a half where both are equal."""
    ours, theirs = np.asarray(high)[:, None], np.asarray(low)[None, :]
    above: Array = (ours > theirs) + 0.5 * (ours == theirs)
    return above


def _area(above: Array) -> Estimate:
    """Resample each group independently."""
    first, second = (_drawn(count, group) for group, count in enumerate(above.shape))
    return _estimate(float(above.mean()), ((first @ above) * second).sum(axis=1))


@lru_cache(maxsize=2)
def _drawn(count: int, group: int) -> Array:
    """Return resampled shares of each value, a row a sample."""
    shares = np.full(count, 1 / count)
    drawn: Array = np.random.default_rng((count, group)).multinomial(count, shares, size=DRAWS) / count
    return drawn


def _estimate(value: float, drawn: Array) -> Estimate:
    low, high = np.quantile(drawn, (TAIL, 1 - TAIL))
    return Estimate(value, float(low), float(high))
