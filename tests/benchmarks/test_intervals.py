"""Intervals of measurements, and how well a number separates two groups."""

import random
from statistics import fmean, stdev

import pytest

from benchmarks import intervals as sampling


def test_the_interval_is_that_of_the_mean() -> None:
    chance = random.Random(5)
    values = [float(chance.random() < 0.8) for _ in range(400)]
    found = sampling.mean(values)
    reach = 1.96 * stdev(values) / 400**0.5
    assert found.value == pytest.approx(fmean(values))
    assert found.low == pytest.approx(found.value - reach, abs=0.006)
    assert found.high == pytest.approx(found.value + reach, abs=0.006)
    assert sampling.mean(values) == found
    assert sampling.mean([0.25] * 50) == pytest.approx((0.25, 0.25, 0.25))
    assert sampling.mean([0.5]) == (0.5, 0.5, 0.5)


def test_similar_members_widen_the_interval_of_groups() -> None:
    groups = [[0.0] * 40, [1.0] * 60, [0.0] * 40, [1.0] * 60]
    found = sampling.mean_of_groups(groups)
    alone = sampling.mean([value for group in groups for value in group])
    assert found.value == alone.value == pytest.approx(0.6)
    assert found.low < alone.low < alone.high < found.high
    assert sampling.mean_of_groups([[0.0, 1.0], [1.0, 0.0]]) == (0.5, 0.5, 0.5)


def test_the_area_counts_pairs_and_a_tie_as_half() -> None:
    found = sampling.told_apart([3.0, 2.0], [1.0, 2.0])
    assert found is not None
    assert found.value == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert found.low <= found.value <= found.high
    assert sampling.told_apart([], [1.0]) is sampling.told_apart([1.0], []) is None
    # Both groups are drawn apart. With paired draws, the shared part would cancel. The error of a half is 0.041.
    shared = [float(number) for number in range(100)]
    found = sampling.told_apart(shared, shared)
    assert found is not None
    assert found.high - found.low == pytest.approx(4 * 0.041, abs=0.02)


def test_a_difference_of_areas_goes_question_by_question() -> None:
    high, low = [3.0, 4.0, 5.0], [1.0, 2.0]
    same = sampling.told_apart_better(high, low, [30.0, 40.0, 50.0], [10.0, 20.0])
    assert same == (0.0, 0.0, 0.0)
    worse = sampling.told_apart_better([1.5, 4.0, 5.0], low, high, low)
    assert worse is not None
    assert worse.value == pytest.approx(-1 / 6)
    assert worse.low < worse.value < worse.high <= 0
    assert sampling.told_apart_better([], low, [], low) is None
