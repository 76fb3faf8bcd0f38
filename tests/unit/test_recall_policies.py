"""The parts of a score: every policy's arithmetic, the features' reasons, and the confidence of an answer."""

import functools
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recall_making import columns_of, features_of, made, scored, told

from pieria.errors import InputError
from pieria.recall.features import Columns
from pieria.recall.scores import (
    CONTENT,
    FEATURES,
    JUDGED,
    MOST,
    OF_USE,
    POLICIES,
    PRODUCT,
    SATURATING,
    SUM,
    WEIGHTS,
    Policy,
    Why,
    custom,
    relevance,
)

HYBRID, VALUE, DECAY, WEIGHTED, SIMILARITY = (
    POLICIES[name] for name in ("hybrid", "value", "decay", "weighted", "similarity")
)
NAMES = sorted(FEATURES)


def score(policy: Policy, why: Why) -> float:
    return policy.score(policy.worth(why))


# --- from features to a score


def test_hybrid_comes_near_to_1_the_more_speaks_for_it_and_never_beyond() -> None:
    assert score(HYBRID, {"lexical": 1.0, "dense": 0.5, "thin": 0.2}) == pytest.approx(
        1 - math.exp(-(0.25 + 0.4 * 0.5 - 0.5 * 0.2))
    )
    assert 0.999 < score(HYBRID, dict.fromkeys(FEATURES, 5.0)) <= 1.0
    assert score(HYBRID, {}) == 0.0


def test_what_is_worth_less_than_nothing_scores_nothing_and_is_told_apart_by_its_worth() -> None:
    bad, worse = {"thin": 0.5}, {"thin": 1.0}
    for policy in (HYBRID, WEIGHTED.weighing({"thin": -0.5}), SIMILARITY.weighing({"thin": -0.5})):
        assert score(policy, bad) == score(policy, worse) == 0.0
        assert policy.worth(worse) < policy.worth(bad) < 0


def test_a_sum_above_1_scores_1() -> None:
    assert score(WEIGHTED, {"dense": 0.4, "lexical": 1.0, "importance": 0.5}) == pytest.approx(0.2 + 0.3 + 0.1)
    assert score(WEIGHTED.weighing({"dense": 3.0}), {"dense": 0.5}) == 1.0
    assert score(SIMILARITY, {"dense": 0.7, "lexical": 1.0}) == pytest.approx(0.7)


def test_a_product_is_as_good_as_its_factors_and_nothing_where_one_is_missing() -> None:
    factors = {"relevance": 0.8, "recency": 0.5, "frequency": 0.3, "reward": 1.0, "dense": 0.2}
    assert score(VALUE, factors) == pytest.approx(0.8 * 0.5 * 0.3)
    assert score(VALUE.weighing({"recency": 2.0, "frequency": 0.0}), factors) == pytest.approx(0.8 * 0.25)
    assert score(VALUE, {**factors, "recency": 0.0}) == score(VALUE, {"relevance": 0.8}) == 0.0
    assert score(DECAY, {"relevance": 0.8, "retention": 0.5}) == pytest.approx(0.8 * 0.5**0.125)


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_a_factor_below_nothing_counts_as_nothing(weight: float) -> None:
    """Bad judgements and opposite vectors make a factor negative; two such factors still give 0."""
    factors = {"relevance": 0.8, "recency": 1.0, "frequency": 1.0, "reward": 1.0, "usage": -0.3, "dense": -0.1}
    assert score(VALUE.weighing({"usage": weight}), factors) == 0.0
    assert score(VALUE.weighing({"usage": weight, "dense": weight}), factors) == 0.0


def test_a_callable_judges_from_all_that_is_told() -> None:
    seen: list[Why] = []

    def by_heart(why: Why) -> float:
        seen.append(why)
        return why["dense"] / 2

    policy = custom(by_heart)
    why = {"dense": 0.6, "retention": 0.1}
    assert score(policy, why) == 0.3
    assert seen == [why]
    assert (policy.name, policy.scoring, dict(policy.weights)) == ("by_heart", "callable", {})
    assert all(policy.counts(name) for name in FEATURES)
    assert custom(functools.partial(by_heart)).name == "partial"


@pytest.mark.parametrize("number", [0, 1, 0.0, 0.25, 1.0])
def test_a_callable_may_give_any_number_from_0_to_1(number: float) -> None:
    assert score(custom(lambda _: number), {}) == number


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf, True, False, None, "0.5", 0.5j, [0.5]])
def test_what_a_callable_gives_must_be_a_number_from_0_to_1(value: Any) -> None:
    with pytest.raises(InputError, match="a callable that gives a number from 0 to 1"):
        custom(lambda _: value).worth({})


# --- the features of a policy


@pytest.mark.parametrize(
    ("policy", "scoring", "counted"),
    [
        (HYBRID, SATURATING, set(WEIGHTS)),
        (VALUE, PRODUCT, {"relevance", "recency", "frequency", "reward"}),
        (DECAY, PRODUCT, {"relevance", "retention"}),
        (WEIGHTED, SUM, {"dense", "lexical", "importance"}),
        (SIMILARITY, SUM, {"dense"}),
        (custom(lambda _: 0.0), JUDGED, set(FEATURES)),
    ],
    ids=lambda value: value.name if isinstance(value, Policy) else None,
)
def test_each_policy_counts_its_features_and_no_others(policy: Policy, scoring: str, counted: set[str]) -> None:
    assert policy.scoring == scoring
    assert {name for name in FEATURES if policy.counts(name)} == counted
    assert not policy.needs(())
    for name in FEATURES:
        assert policy.needs((name,)) == (name in counted or ("relevance" in counted and name in CONTENT))


def test_policies_are_found_by_their_names() -> None:
    assert {name: policy.name for name, policy in POLICIES.items()} == {name: name for name in POLICIES}
    assert set(POLICIES) == {"hybrid", "value", "decay", "weighted", "similarity"}


def test_any_of_several_features_is_reason_enough_to_look() -> None:
    assert WEIGHTED.needs(("fact", "lexical"))
    assert not WEIGHTED.needs(("fact", "link"))
    assert not WEIGHTED.weighing({"lexical": 0.0}).needs(("fact", "lexical"))
    assert not VALUE.weighing({"relevance": 0.0}).needs(("lexical",))
    assert VALUE.needs(OF_USE)
    assert not HYBRID.needs(OF_USE)


def test_weights_of_the_caller_s_go_before_those_of_the_policy() -> None:
    mine = HYBRID.weighing({"dense": 0.0, "retention": 2.0})
    assert mine.weights == {**WEIGHTS, "dense": 0.0, "retention": 2.0}
    assert (mine.name, mine.scoring) == (HYBRID.name, HYBRID.scoring)
    assert mine.counts("retention")
    assert not mine.counts("dense")
    assert HYBRID.weights == WEIGHTS


def test_without_vectors_similarity_goes_by_words_unless_the_caller_weighs() -> None:
    assert SIMILARITY.by_words().weights == {"lexical": 1.0}
    assert score(SIMILARITY.by_words(), {"lexical": 0.4}) == 0.4
    for policy in (HYBRID, VALUE, DECAY, WEIGHTED, SIMILARITY.weighing({"dense": 2.0})):
        assert policy.by_words() is policy


# --- why


def test_a_feature_of_0_is_no_reason() -> None:
    columns = {"dense": np.array([0.0, 0.5, -0.1]), "lexical": np.array([1.0, 0.0, 0.0]), "date": np.ones(3)}
    assert told(columns, ("lexical", "dense", "fact")) == [{"lexical": 1.0}, {"dense": 0.5}, {"dense": -0.1}]
    assert told({}, FEATURES) == told(features_of(made(1, 0)[0], []), FEATURES) == []


RECOMPUTED: Mapping[str, Callable[[Why, Mapping[str, float]], float]] = {
    "1 - exp(-sum(weight * feature))": lambda why, weights: 1 - math.exp(-max(0.0, total(why, weights))),
    "sum(weight * feature)": lambda why, weights: min(1.0, max(0.0, total(why, weights))),
    "product(feature ** weight)": lambda why, weights: min(
        1.0, math.prod(max(0.0, why.get(name, 0.0)) ** weight for name, weight in weights.items())
    ),
}
"""The score as a reader of the plan computes it: for each `scoring`, a function of `why` and the weights."""


def total(why: Why, weights: Mapping[str, float]) -> float:
    return sum(weights[name] * value for name, value in why.items())


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw one of our policies, with some of a caller's weights."""
    policy = draw(st.sampled_from([POLICIES[name] for name in sorted(POLICIES)]))
    least = 0.0 if policy.scoring == PRODUCT else -MOST
    weights = st.one_of(st.just(0.0), st.floats(max(least, -1.0), 1.0), st.floats(least, MOST))
    return policy.weighing(draw(st.dictionaries(st.sampled_from(NAMES), weights, max_size=6)))


@given(policies(), st.integers(0, 2**32), st.integers(1, 25))
def test_a_score_can_be_computed_again_from_what_a_hit_and_the_plan_tell(policy: Policy, seed: int, size: int) -> None:
    recomputed = RECOMPUTED[policy.scoring]
    asked, pool = made(seed, size)
    why, worth = scored(asked, pool, policy)
    for reasons, value in zip(why, worth, strict=True):
        assert 0 not in reasons.values()
        assert all(policy.weights[name] for name in reasons)
        assert 0.0 <= policy.score(value) <= 1.0
        assert policy.score(value) == pytest.approx(recomputed(reasons, policy.weights), abs=1e-6)


@given(policies(), st.integers(0, 2**32), st.integers(1, 25))
def test_what_scores_more_is_worth_more(policy: Policy, seed: int, size: int) -> None:
    _, worth = scored(*made(seed, size), policy)
    rising = [policy.score(value) for value in sorted(worth)]
    assert rising == sorted(rising)


@given(policies(), st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(1, 25))
def test_a_weight_of_0_takes_its_feature_away_and_changes_nothing_else(
    policy: Policy, name: str, seed: int, size: int
) -> None:
    asked, pool = made(seed, size)
    columns, drawn = columns_of(asked, pool), random.Random(seed)
    columns.setdefault("spread", np.array([float(drawn.randrange(11)) for _ in pool]))
    whole, less = policy.weighing({name: 1.0}), policy.weighing({name: 0.0})
    with_it = told(columns, [feature for feature in FEATURES if whole.counts(feature)])
    without = told(columns, [feature for feature in FEATURES if less.counts(feature)])
    assert without == [{feature: value for feature, value in reasons.items() if feature != name} for reasons in with_it]
    assert [less.worth(why) for why in without] == [less.worth(why) for why in with_it]
    columns[name] = np.array([drawn.uniform(-1, 1) for _ in pool])
    assert told(columns, [feature for feature in FEATURES if less.counts(feature)]) == without


# --- relevance


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_relevance_is_what_the_content_says_within_0_and_1(seed: int, size: int) -> None:
    columns = features_of(*made(seed, size))
    summed = [sum(WEIGHTS[name] * columns[name][number] for name in CONTENT) for number in range(size)]
    assert relevance(columns) == pytest.approx([1 - math.exp(-max(0.0, value)) for value in summed])


def test_who_said_it_and_when_does_not_make_it_relevant() -> None:
    content: Columns = {
        "dense": np.array([0.5, 0.0, 1.0]),
        "window": np.array([0.0, 0.0, 2.0]),
        "thin": np.array([0.0, 1.0, 0.0]),
    }
    beside: Columns = {name: np.ones(3) for name in WEIGHTS if name not in CONTENT}
    assert relevance(content | beside) == pytest.approx([1 - math.exp(-0.4 * 0.5), 0.0, 1 - math.exp(-1.2)])
