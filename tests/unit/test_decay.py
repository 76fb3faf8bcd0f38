"""The effect of use and age on a score: what falls with time, what rises with use, and the bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.record.decay import DAY, HOUR, LONGEST, MODELS, Fading, Wear, frequency, proven, recency, reward, spaced
from pieria.record.time import moment
from pieria.record.usage import UNUSED, Usage

AGES = st.integers(-(2**62), 2**62)
COUNTS = st.integers(0, 10**9)
STRENGTHS = st.floats(0, 2)
FADINGS = st.builds(
    Fading,
    model=st.sampled_from(MODELS),
    halflife_days=st.floats(0.01, 1_000),
    alpha=st.floats(0.1, 5),
    beta=st.floats(0, 2),
)
SAMPLES = samples("fading")


def rewarded(*values: float) -> Usage:
    return Usage(rewards=math.fsum(values), rewarded=len(values))


def test_recency_and_what_is_left_fall_as_the_models_say() -> None:
    assert DAY == 24 * HOUR
    for half_life in (1.0, 90.0, 365.0):
        found = [recency(round(lives * half_life * DAY), half_life) for lives in (0, 1, 2, 3)]
        assert found == pytest.approx([1.0, 0.5, 0.25, 0.125])
    assert recency(90 * DAY) == pytest.approx(0.5)
    for model, table in SAMPLES["left"].items():
        assert {days: Fading(model).left(days * DAY) for days, _ in table} == pytest.approx(dict(table), abs=1e-3)
    for model, table in SAMPLES["until"].items():
        found = [(Fading(model).until(level, uses, 1.0) or 0) / DAY for uses, level, _ in table]
        assert found == pytest.approx([days for *_, days in table], rel=0.01, abs=0.005)


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
def test_recency_and_retention_only_fall_with_age(
    fading: Fading, one: int, other: int, uses: int, strength: float
) -> None:
    younger, older = sorted((one, other))
    assert 0.0 <= fading.retention(older, uses, strength) <= fading.retention(younger, uses, strength) <= 1.0
    assert fading.score(-abs(one), uses, strength) == fading.gain(uses, strength)
    assert 0.0 <= recency(older) <= recency(younger) <= 1.0
    assert recency(-abs(one)) == recency(0) == 1.0


@given(FADINGS, st.floats(0, 3), st.integers(0, 1_000), STRENGTHS, st.floats(0.1, 100))
def test_a_score_is_above_a_level_until_the_known_time(
    fading: Fading, level: float, uses: int, strength: float, lasting: float
) -> None:
    age = fading.until(level, uses, strength, lasting)
    if age is None:
        assert fading.score(LONGEST, uses, strength, lasting) > level
    else:
        assert fading.score(age, uses, strength, lasting) <= level + 1e-9
        assert age == 0 or fading.score(age * 0.999 - 1, uses, strength, lasting) > level - 1e-9


def test_a_half_life_or_spaced_uses_make_a_memory_last() -> None:
    for model in MODELS:
        fading = Fading(model, halflives={"note": 1.0, "decision": 7.0, "preference": 14.0})
        for kind, tags, days in (("note", (), 1), ("note", ("decision",), 7), ("turn", ("preference", "decision"), 14)):
            assert fading.left(days * DAY, fading.lasting(kind, tags)) == pytest.approx(0.5)
        assert fading.lasting("turn", ("other",)) == 1.0
    assert [spaced(days * DAY) for days in (-1, 0, 3, 27)] == pytest.approx([0.0, 0.0, 0.5, 0.9])
    daily, at_once = (Wear(0, "note", 1.0, Usage(spaced=7 * spaced(gap))) for gap in (DAY, 0))
    for model in MODELS:
        fading = Fading(model, spacing=1.0)
        ages = [fading.until(0.5, 0, 1.0, fading.lasting_of(wear)) or 0 for wear in (daily, at_once)]
        assert ages[0] == pytest.approx(2.75 * ages[1], rel=0.001)
        assert Fading(model).lasting_of(daily) == 1.0


def test_a_review_is_most_urgent_within_the_danger_zone() -> None:
    urgency = Fading().urgency
    assert [urgency(score) for score in (0.1, 0.15, 0.35, 1.0)] == [0.0] * 4
    assert [urgency(score) for score in (0.2, 0.25, 0.3)] == pytest.approx([0.75, 1.0, 0.75])
    assert Fading(review_from=0.4, review_to=0.8).urgency(0.6) == pytest.approx(1.0)


def test_the_last_use_is_the_last_access_review_or_wording() -> None:
    """An access before the first writing came with the uses it had elsewhere."""

    def last_used(at: int, written: int, version: int, used: Usage) -> int:
        return Wear(at, "note", 1.0, used, written, version).last_used

    said, written, read, reviewed = 10 * DAY, 20 * DAY, 15 * DAY, 17 * DAY
    assert last_used(said, written, 1, UNUSED) == written
    assert last_used(written, said, 1, UNUSED) == written
    assert last_used(said, written, 1, Usage(last_access=moment(read))) == read
    assert last_used(said, written, 1, Usage(last_access=moment(read), last_review=moment(reviewed))) == reviewed
    assert last_used(said, written, 2, Usage(last_access=moment(read))) == written
    wear = Wear(said, "note", 0.5, Usage(accesses=2, last_access=moment(reviewed), spaced=1.0), written, 2)
    fading = Fading(spacing=0.5)
    assert fading.of(wear, 30 * DAY) == fading.score(10 * DAY, 2, 0.5, fading.lasting_of(wear))


def test_frequency_rewards_and_proofs_lie_around_the_unused() -> None:
    assert [frequency(uses) for uses in (0, 1, 2, 5, 15)] == pytest.approx([0.3, 0.3, 0.3, 0.5, 0.75])
    assert 0.99 < frequency(1_000) < 1.0
    assert reward(UNUSED) == reward(rewarded(0.0, 0.0)) == 1.0
    assert reward(rewarded(1.0, 3.0)) == pytest.approx(2 / (1 + math.exp(-2)))
    assert reward(rewarded(2.0)) + reward(rewarded(-2.0)) == pytest.approx(2.0)
    assert reward(rewarded(-0.1)) < reward(UNUSED) < reward(rewarded(0.1))
    assert proven(UNUSED) == proven(Usage(accesses=1_000, crossings=9)) == proven(rewarded(0.0)) == 0.0
    assert proven(Usage(reviews=3)) == pytest.approx(0.25)
    assert proven(rewarded(800.0)) == pytest.approx(0.5)
    assert proven(rewarded(-800.0)) == pytest.approx(-0.5)
    assert proven(Usage(reviews=3, rewards=800.0, rewarded=1)) == pytest.approx(0.75)


@given(COUNTS, st.lists(st.floats(-1e300, 1e300), max_size=5))
def test_rewards_and_proofs_stay_within_their_bounds(reviews: int, values: list[float]) -> None:
    assert 0.0 <= reward(rewarded(*values)) <= 2.0
    used = Usage(reviews=reviews, rewards=math.fsum(values), rewarded=len(values))
    assert -0.5 <= proven(used) <= 1.0
    more = Usage(reviews=reviews + 1, rewards=used.rewards, rewarded=used.rewarded)
    assert proven(more) >= proven(used)
