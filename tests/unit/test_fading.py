"""How use and age speak for a memory: what falls with time, what rises with use, and between which bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.decay import (
    DAY,
    HOUR,
    LONGEST,
    MODELS,
    Fading,
    Wear,
    frequency,
    proven,
    recency,
    reward,
    spaced,
)
from pieria.record.time import moment
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


LEFT: dict[str, dict[float, float]] = {
    "power_law": {0: 1.0, 3: 0.5, 7: 0.293, 14: 0.167, 30: 0.081},
    "exponential": {0: 1.0, 3: 0.5, 7: 0.199, 14: 0.039, 30: 0.001},
    "two_component": {0: 1.0, 0.824: 0.5, 7: 0.150, 14: 0.075, 30: 0.015},
}
FALLS: dict[str, dict[float, float]] = {
    "power_law": {0.65: 1.64, 0.5: 3.0, 0.35: 5.46, 0.25: 8.63, 0.15: 15.8, 0.1: 24.3, 0.05: 48.6, 0.01: 221},
    "exponential": {0.65: 1.87, 0.5: 3.0, 0.35: 4.55, 0.25: 6.0, 0.15: 8.2, 0.1: 10.0, 0.05: 13.0, 0.01: 19.9},
    "two_component": {0.65: 0.47, 0.5: 0.82, 0.35: 1.47, 0.25: 2.62, 0.15: 7.0, 0.1: 11.1, 0.05: 18.1, 0.01: 34.3},
}
FADINGS = st.builds(
    Fading,
    model=st.sampled_from(MODELS),
    halflife_days=st.floats(0.01, 1_000),
    alpha=st.floats(0.1, 5),
    beta=st.floats(0, 2),
)
STRENGTHS = st.floats(0, 2)


@pytest.mark.parametrize(
    ("model", "days", "left"), [(m, d, left) for m, each in LEFT.items() for d, left in each.items()]
)
def test_what_is_never_used_again_fades_as_its_model_says(model: str, days: float, left: float) -> None:
    assert Fading(model).left(days * DAY) == pytest.approx(left, abs=0.001)


@pytest.mark.parametrize(
    ("model", "level", "days"), [(m, lv, d) for m, each in FALLS.items() for lv, d in each.items()]
)
def test_it_is_known_when_a_score_will_have_fallen_to_a_level(model: str, level: float, days: float) -> None:
    age = Fading(model).until(level, 0, 1.0)
    assert age is not None
    assert age / DAY == pytest.approx(days, rel=0.01, abs=0.005)


@pytest.mark.parametrize(
    ("model", "kept", "forgotten"),
    [("power_law", 10.0, 135), ("exponential", 6.5, 17.6), ("two_component", 3.36, 28.9)],
)
def test_what_was_used_five_times_is_kept_longer(model: str, kept: float, forgotten: float) -> None:
    fading = Fading(model)
    assert [(fading.until(level, 5, 1.0) or 0) / DAY for level in (0.65, 0.05)] == pytest.approx(
        [kept, forgotten], rel=0.01
    )


def test_use_and_strength_multiply_what_is_left() -> None:
    fading = Fading()
    left = fading.score(30 * DAY, 0, 1.0)
    assert fading.score(30 * DAY, 1, 1.0) == pytest.approx(left * 2**0.6)
    assert fading.score(30 * DAY, 3, 1.0) == pytest.approx(left * 4**0.6)
    assert fading.score(30 * DAY, 0, 1.5) == pytest.approx(left * 1.5)
    assert fading.score(30 * DAY, 9, 0.0) == 0.0
    assert fading.score(0, 24, 2.0) == pytest.approx(13.8, abs=0.01)
    assert fading.retention(0, 24, 2.0) == 1.0


@given(FADINGS, AGES, AGES, COUNTS, STRENGTHS)
def test_what_is_retained_is_never_more_than_all_and_only_falls_with_age(
    fading: Fading, one: int, other: int, uses: int, strength: float
) -> None:
    younger, older = sorted((one, other))
    assert 0.0 <= fading.retention(older, uses, strength) <= fading.retention(younger, uses, strength) <= 1.0
    assert fading.score(-abs(one), uses, strength) == fading.gain(uses, strength)


@given(FADINGS, st.floats(0, 3), st.integers(0, 1_000), STRENGTHS, st.floats(0.1, 100))
def test_a_score_is_above_a_level_until_then_and_not_after(
    fading: Fading, level: float, uses: int, strength: float, lasting: float
) -> None:
    age = fading.until(level, uses, strength, lasting)
    if age is None:
        assert fading.score(LONGEST, uses, strength, lasting) > level
    else:
        assert fading.score(age, uses, strength, lasting) <= level + 1e-9
        assert age == 0 or fading.score(age * 0.999 - 1, uses, strength, lasting) > level - 1e-9


def test_what_has_a_half_life_of_its_own_is_half_gone_then_whatever_the_model() -> None:
    for model in MODELS:
        fading = Fading(model, halflives={"note": 1.0, "decision": 7.0, "preference": 14.0})
        for kind, tags, days in (("note", (), 1), ("note", ("decision",), 7), ("turn", ("preference", "decision"), 14)):
            assert fading.left(days * DAY, fading.lasting(kind, tags)) == pytest.approx(0.5)
        assert fading.lasting("turn", ("other",)) == 1.0


def test_uses_far_apart_make_it_last_and_uses_at_once_do_not() -> None:
    assert [spaced(days * DAY) for days in (-1, 0, 3, 27)] == pytest.approx([0.0, 0.0, 0.5, 0.9])
    daily, at_once = 7 * spaced(DAY), 7 * spaced(0)
    for model in MODELS:
        fading = Fading(model, spacing=1.0)

        def age(tally: float, fading: Fading = fading) -> float:
            """When half is left, beside strength and use."""
            wear = Wear(0, "note", 1.0, Usage(spaced=tally))
            return (fading.until(0.5, 0, 1.0, fading.lasting_of(wear)) or 0) / DAY

        assert age(daily) == pytest.approx(2.75 * age(at_once), rel=0.001)
        assert Fading(model).lasting_of(Wear(0, "note", 1.0, Usage(spaced=daily))) == 1.0


def test_a_review_is_most_urgent_in_the_middle_of_the_danger_zone() -> None:
    urgency = Fading().urgency
    assert [urgency(score) for score in (0.1, 0.15, 0.35, 1.0)] == [0.0] * 4
    assert [urgency(score) for score in (0.2, 0.25, 0.3)] == pytest.approx([0.75, 1.0, 0.75])
    assert Fading(review_from=0.4, review_to=0.8).urgency(0.6) == pytest.approx(1.0)


def test_the_last_use_is_the_last_time_that_it_was_of_use_or_put_into_other_words() -> None:
    def last_used(at: int, written: int, version: int, used: Usage) -> int:
        return Wear(at, "note", 1.0, used, written, version).last_used

    said, written, read, reviewed = 10 * DAY, 20 * DAY, 15 * DAY, 17 * DAY
    assert last_used(said, written, 1, UNUSED) == written
    assert last_used(written, said, 1, UNUSED) == written
    assert last_used(said, written, 1, Usage(last_access=moment(read))) == read, (
        "it came with the uses it had elsewhere"
    )
    assert last_used(said, written, 1, Usage(last_access=moment(read), last_review=moment(reviewed))) == reviewed
    assert last_used(said, written, 2, Usage(last_access=moment(read))) == written


def test_frequency_rises_from_a_floor_towards_1() -> None:
    assert [frequency(uses) for uses in (0, 1, 2, 5, 15)] == pytest.approx([0.3, 0.3, 0.3, 0.5, 0.75])
    assert 0.99 < frequency(1_000) < 1.0


def test_what_was_never_judged_stands_between_what_served_well_and_what_did_harm() -> None:
    assert reward(UNUSED) == reward(rewarded(0.0, 0.0)) == 1.0
    assert reward(rewarded(1.0, 3.0)) == pytest.approx(2 / (1 + math.exp(-2)))
    assert reward(rewarded(2.0)) + reward(rewarded(-2.0)) == pytest.approx(2.0)
    assert reward(rewarded(-0.1)) < reward(UNUSED) < reward(rewarded(0.1))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=5))
def test_a_reward_is_within_0_and_2_whatever_was_given(values: list[float]) -> None:
    assert 0.0 <= reward(rewarded(*values)) <= 2.0


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
