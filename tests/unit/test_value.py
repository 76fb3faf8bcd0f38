"""The value of a node: each factor alone, and its limits."""

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria import DefaultValueFunction, ValueFunction
from pieria.record.value import BY_TYPE, PARAMETERS, alone

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FACTORS = {"lambda": 0.01, "k": 5, "base_floor": 0.3, "beta": 1.0}


@dataclass
class Seen:
    created_at: datetime = NOW
    access_count: int = 0
    last_accessed_at: datetime | None = None
    cumulative_reward: float = 0.0
    reward_count: int = 0


def worth(metadata: Seen | None, relevance: float = 1.0, **params: float) -> float:
    return DefaultValueFunction(lambda: NOW).score(relevance, object(), metadata, {**FACTORS, **params})


def test_it_is_the_product_of_its_factors() -> None:
    assert worth(None, 0.42) == 0.42
    used = Seen(NOW - timedelta(days=9), 20, NOW - timedelta(hours=24), 1.5, 2)
    expected = 0.5 * math.exp(-0.24) * 0.8 * 2 / (1 + math.exp(-0.5))
    assert worth(used, 0.5) == pytest.approx(expected)
    assert DefaultValueFunction(lambda: NOW).score(0.5, None, Seen(access_count=5), {}) == pytest.approx(0.25)
    assert isinstance(DefaultValueFunction(), ValueFunction)
    for name, params in BY_TYPE.items():
        assert worth(Seen(), 0.8) >= params["threshold"], name
        assert params.keys() == {"threshold", "top_k"} < PARAMETERS.keys()


def test_each_factor_counts_from_its_floor_to_its_limit() -> None:
    fresh = worth(Seen())
    for hours, share in ((0, 1.0), (24, 0.7866), (168, 0.1864), (-5, 1.0)):
        then = NOW - timedelta(hours=hours)
        assert worth(Seen(then)) / fresh == pytest.approx(share, abs=1e-4)
        assert worth(Seen(NOW - timedelta(days=99), 0, then)) / fresh == pytest.approx(share, abs=1e-4)
    shares = {0: 0.3, 1: 0.3, 2: 0.3, 3: 0.375, 5: 0.5, 20: 0.8}
    assert {uses: worth(Seen(access_count=uses)) for uses in shares} == pytest.approx(shares)
    assert [worth(Seen(access_count=uses), k=0) for uses in (0, 1, 20)] == [0.3, 1.0, 1.0]
    unjudged, neutral = Seen(), Seen(cumulative_reward=1.5, reward_count=3)
    good, bad = Seen(cumulative_reward=3.0, reward_count=3), Seen(reward_count=3)
    assert worth(bad) < worth(unjudged) == worth(neutral) < worth(good)
    assert worth(good) / worth(unjudged) == pytest.approx(2 / (1 + math.exp(-1)))
    assert worth(good, beta=3.0) > worth(good)
    assert worth(bad, beta=10_000) == pytest.approx(0.0)
    assert all(0 <= alone(alike, 0.0) < 1e-300 for alike in (-1e6, float("-inf"), float("nan")))


@given(st.floats(0.5, 1.0), st.integers(1, 1_000), st.integers(0, 10_000), st.floats(0, 10_000), st.floats(0, 100))
def test_a_good_record_never_counts_against_a_node(
    average: float, count: int, accesses: int, days: float, beta: float
) -> None:
    then = NOW - timedelta(days=days)
    judged = Seen(then, accesses, None, average * count, count)
    assert worth(judged, beta=beta) >= worth(Seen(then, accesses), beta=beta) * (1 - 1e-9)


@given(relevance=st.floats(0, 1), accesses=st.integers(0, 50), rewarded=st.integers(0, 5), threshold=st.floats(0, 1))
def test_of_many_each_is_judged_as_alone(relevance: float, accesses: int, rewarded: int, threshold: float) -> None:
    function = DefaultValueFunction(lambda: NOW)
    params = {**PARAMETERS, "threshold": threshold}
    used = Seen(NOW - timedelta(days=9), accesses, None, rewarded / 2, rewarded)
    as_new, judge = replace(used, last_accessed_at=NOW), function.judge(params)
    for metadata, now in ((used, as_new), (None, None), (used, as_new)):
        is_enough = function.score(relevance, None, now, params) >= threshold
        rank = function.rank(relevance, None, metadata, params)
        assert judge(relevance, metadata) == (rank if is_enough else None)
