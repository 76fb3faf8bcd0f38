"""How use and age speak for a memory: what falls with time, what rises with use, and between which bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.fading import DAY, HOUR, frequency, proven, recency, retained, reward
from pieria.record.usage import UNUSED, Usage

AGES = st.integers(-(2**62), 2**62)
COUNTS = st.integers(0, 10**9)


def rewarded(*values: float) -> Usage:
    return Usage(rewards=math.fsum(values), rewarded=len(values))


def test_a_day_has_24_hours() -> None:
    assert DAY == 24 * HOUR


@pytest.mark.parametrize("half_life", [1.0, 90.0, 365.0])
def test_recency_halves_with_each_half_life(half_life: float) -> None:
    told = [recency(round(lives * half_life * DAY), half_life) for lives in (0, 1, 2, 3)]
    assert told == pytest.approx([1.0, 0.5, 0.25, 0.125])


def test_recency_halves_in_ninety_days_unless_told_otherwise() -> None:
    assert recency(90 * DAY) == pytest.approx(0.5)


@given(AGES, AGES)
def test_recency_only_falls_with_age_and_what_is_to_come_has_none(one: int, other: int) -> None:
    younger, older = sorted((one, other))
    assert 0.0 <= recency(older) <= recency(younger) <= 1.0
    assert recency(-abs(one)) == recency(0) == 1.0


@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (3, 0.5), (7, 0.293), (14, 0.167), (30, 0.081)])
def test_what_is_never_used_again_fades_soon_and_then_ever_more_slowly(days: int, left: float) -> None:
    assert retained(days * DAY, 0, 1.0) == pytest.approx(left, abs=0.0005)


def test_use_and_strength_keep_it_longer() -> None:
    left = retained(30 * DAY, 0, 1.0)
    assert retained(30 * DAY, 1, 1.0) == pytest.approx(left * 2**0.6)
    assert retained(30 * DAY, 3, 1.0) == pytest.approx(left * 4**0.6)
    assert retained(30 * DAY, 0, 1.5) == pytest.approx(left * 1.5)
    assert retained(30 * DAY, 9, 0.0) == 0.0


@given(AGES, AGES, COUNTS, st.floats(0, 2))
def test_what_is_retained_is_never_more_than_all_and_only_falls_with_age(
    one: int, other: int, uses: int, strength: float
) -> None:
    younger, older = sorted((one, other))
    assert 0.0 <= retained(older, uses, strength) <= retained(younger, uses, strength) <= 1.0
    assert retained(-abs(one), uses, 2.0) == retained(0, 0, 1.0) == 1.0


def test_frequency_rises_from_a_floor_towards_1() -> None:
    assert [frequency(uses) for uses in (0, 1, 2, 5, 15)] == pytest.approx([0.3, 0.3, 0.3, 0.5, 0.75])
    assert 0.99 < frequency(1_000) < 1.0


def test_what_was_never_judged_has_its_whole_reward() -> None:
    assert reward(UNUSED) == 1.0
    assert reward(rewarded(0.0, 0.0)) == 0.5
    assert reward(rewarded(1.0, 3.0)) == pytest.approx(1 / (1 + math.exp(-2)))
    assert reward(rewarded(2.0)) + reward(rewarded(-2.0)) == pytest.approx(1.0)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=5))
def test_a_reward_is_within_0_and_1_whatever_was_given(values: list[float]) -> None:
    assert 0.0 <= reward(rewarded(*values)) <= 1.0


def test_reviews_and_rewards_prove_half_each_and_use_alone_nothing() -> None:
    assert proven(UNUSED) == proven(Usage(accesses=1_000, crossings=9)) == 0.0
    assert proven(Usage(reviews=3)) == pytest.approx(0.25)
    assert proven(rewarded(0.0)) == 0.0
    assert proven(rewarded(800.0)) == pytest.approx(0.5)
    assert proven(rewarded(-800.0)) == pytest.approx(-0.5)
    assert proven(Usage(reviews=3, rewards=800.0, rewarded=1)) == pytest.approx(0.75)


@given(COUNTS, st.lists(st.floats(-1e300, 1e300), max_size=5))
def test_what_is_proven_lies_within_a_half_below_nothing_and_1(reviews: int, values: list[float]) -> None:
    used = Usage(reviews=reviews, rewards=math.fsum(values), rewarded=len(values))
    assert -0.5 <= proven(used) <= 1.0
    more = Usage(reviews=reviews + 1, rewards=used.rewards, rewarded=used.rewarded)
    assert proven(more) >= proven(used)
