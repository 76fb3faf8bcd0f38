"""Scores of hits: each policy's arithmetic, the reasons, the confidence of an answer, and the order of hits."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit import recall_candidates as making
from tests.unit.recall_candidates import ASKED, Evidence, Held, arranged, made, one, pool_of, spread

from pieria.errors import InputError
from pieria.language.expected import expected
from pieria.recall import scores
from pieria.recall.features import Columns
from pieria.recall.scores import FEATURES, KEPT_FROM, POLICIES, WEIGHTS, Arranged, Policy, Why, confidence, relevance

HYBRID, VALUE, DECAY, WEIGHTED, SIMILARITY = (
    POLICIES[name] for name in ("hybrid", "value", "decay", "weighted", "similarity")
)
SEEDS = st.integers(0, 2**32)


def score(policy: Policy, why: Why) -> float:
    return policy.score(policy.worth(why))


FACTORS = {"relevance": 0.8, "recency": 0.5, "frequency": 0.3, "reward": 1.0, "dense": 0.2}


def test_each_policy_scores_by_weights_of_its_own() -> None:
    for policy, why, value in (
        (HYBRID, {"lexical": 1.0, "dense": 0.5, "thin": 0.2}, 1 - math.exp(-(0.25 + 0.4 * 0.5 - 0.5 * 0.2))),
        (WEIGHTED, {"dense": 0.4, "lexical": 1.0, "importance": 0.5}, 0.2 + 0.3 + 0.1),
        (SIMILARITY, {"dense": 0.7, "lexical": 1.0}, 0.7),
        (VALUE, FACTORS, 0.8 * 0.5 * 0.3),
        (VALUE.weighing({"recency": 2.0, "frequency": 0.0}), FACTORS, 0.8 * 0.25),
        (DECAY, {"relevance": 0.8, "retention": 0.5}, 0.8 * 0.5**0.125),
    ):
        assert score(policy, why) == pytest.approx(value)


def test_no_score_leaves_the_range_from_0_to_1() -> None:
    """Bad judgements and opposite vectors make a factor negative; two such factors still give 0."""
    assert 0.999 < score(HYBRID, dict.fromkeys(FEATURES, 5.0)) <= 1.0
    assert score(WEIGHTED.weighing({"dense": 3.0}), {"dense": 0.5}) == 1.0
    assert score(HYBRID, {}) == 0.0
    bad, worse = {"thin": 0.5}, {"thin": 1.0}
    for policy in (HYBRID, WEIGHTED.weighing({"thin": -0.5}), SIMILARITY.weighing({"thin": -0.5})):
        assert score(policy, bad) == score(policy, worse) == 0.0
        assert policy.worth(worse) < policy.worth(bad) < 0
    assert score(VALUE, {**FACTORS, "recency": 0.0}) == score(VALUE, {"relevance": 0.8}) == 0.0
    negative = {"relevance": 0.8, "recency": 1.0, "frequency": 1.0, "reward": 1.0, "usage": -0.3, "dense": -0.1}
    for weight in (0.5, 1.0, 2.0):
        assert score(VALUE.weighing({"usage": weight}), negative) == 0.0
        assert score(VALUE.weighing({"usage": weight, "dense": weight}), negative) == 0.0


def test_a_callable_gives_a_number_from_0_to_1() -> None:
    def by_heart(why: Why) -> float:
        return why["dense"] / 2 + why["retention"]

    policy = scores.custom(by_heart)
    assert score(policy, {"dense": 0.6, "retention": 0.1}) == 0.4
    assert (policy.name, policy.scoring, dict(policy.weights)) == ("by_heart", "callable", {})
    assert all(policy.counts(name) for name in FEATURES)
    assert scores.custom(functools.partial(by_heart)).name == "partial"

    def always(value: Any) -> Policy:
        return scores.custom(lambda _: value)

    for number in (0, 1, 0.0, 0.25, 1.0):
        assert score(always(number), {}) == number
    for wrong in (-0.001, 1.001, math.nan, math.inf, True, False, None, "0.5", 0.5j, [0.5]):
        with pytest.raises(InputError, match="a callable that gives a number from 0 to 1"):
            always(wrong).worth({})


def test_each_policy_counts_its_features_and_no_others() -> None:
    counted = [
        (HYBRID, scores.SATURATING, set(WEIGHTS)),
        (VALUE, scores.PRODUCT, {"relevance", "recency", "frequency", "reward"}),
        (DECAY, scores.PRODUCT, {"relevance", "retention"}),
        (WEIGHTED, scores.SUM, {"dense", "lexical", "importance", "echo"}),
        (SIMILARITY, scores.SUM, {"dense", "echo"}),
        (scores.custom(lambda _: 0.0), scores.JUDGED, set(FEATURES)),
    ]
    for policy, scoring, names in counted:
        assert (policy.scoring, {name for name in FEATURES if policy.counts(name)}) == (scoring, names)
        assert not policy.needs(())
        for name in FEATURES:
            assert policy.needs((name,)) == (name in names or ("relevance" in names and name in scores.CONTENT))
    assert {name: policy.name for name, policy in POLICIES.items()} == {name: name for name in POLICIES}
    assert set(POLICIES) == {"hybrid", "value", "decay", "weighted", "similarity"}
    assert WEIGHTED.needs(("fact", "lexical"))
    assert not WEIGHTED.needs(("fact", "link"))
    assert not WEIGHTED.weighing({"lexical": 0.0}).needs(("fact", "lexical"))
    assert not VALUE.weighing({"relevance": 0.0}).needs(("lexical",))
    assert VALUE.needs(scores.OF_USE)
    assert not HYBRID.needs(scores.OF_USE)


def test_weights_are_replaced_by_a_caller_or_without_vectors() -> None:
    mine = HYBRID.weighing({"dense": 0.0, "retention": 2.0})
    assert mine.weights == {**WEIGHTS, "dense": 0.0, "retention": 2.0}
    assert (mine.name, mine.scoring) == (HYBRID.name, HYBRID.scoring)
    assert mine.counts("retention")
    assert not mine.counts("dense")
    assert HYBRID.weights == WEIGHTS
    assert SIMILARITY.by_words().weights == {"lexical": 1.0, "echo": scores.ECHO}
    assert score(SIMILARITY.by_words(), {"lexical": 0.4}) == 0.4
    for policy in (HYBRID, VALUE, DECAY, WEIGHTED, SIMILARITY.weighing({"dense": 2.0})):
        assert policy.by_words() is policy


def total(why: Why, weights: Mapping[str, float]) -> float:
    return sum(weights[name] * value for name, value in why.items())


RECOMPUTED: Mapping[str, Callable[[Why, Mapping[str, float]], float]] = {
    "1 - exp(-sum(weight * feature))": lambda why, weights: 1 - math.exp(-max(0.0, total(why, weights))),
    "sum(weight * feature)": lambda why, weights: min(1.0, max(0.0, total(why, weights))),
    "product(feature ** weight)": lambda why, weights: min(
        1.0, math.prod(max(0.0, why.get(name, 0.0)) ** weight for name, weight in weights.items())
    ),
}
"""The score as a reader of the plan computes it: for each `scoring`, a function of `why` and the weights."""


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw one of our policies, with some of a caller's weights."""
    policy = draw(st.sampled_from([POLICIES[name] for name in sorted(POLICIES)]))
    least = 0.0 if policy.scoring == scores.PRODUCT else -scores.MOST
    weights = st.one_of(st.just(0.0), st.floats(max(least, -1.0), 1.0), st.floats(least, scores.MOST))
    return policy.weighing(draw(st.dictionaries(st.sampled_from(sorted(FEATURES)), weights, max_size=6)))


@given(policies(), SEEDS, st.integers(1, 25))
def test_a_score_can_be_computed_again_from_its_reasons(policy: Policy, seed: int, size: int) -> None:
    why, worth = making.scored(*made(seed, size), policy)
    for reasons, value in zip(why, worth, strict=True):
        assert 0 not in reasons.values()
        assert all(policy.weights[name] for name in reasons)
        assert 0.0 <= policy.score(value) <= 1.0
        assert policy.score(value) == pytest.approx(RECOMPUTED[policy.scoring](reasons, policy.weights), abs=1e-6)
    rising = [policy.score(value) for value in sorted(worth)]
    assert rising == sorted(rising)


@given(SEEDS, st.integers(1, 25))
def test_relevance_and_confidence_stay_within_0_and_1(seed: int, size: int) -> None:
    asked, pool = made(seed, size)
    columns = making.features_of(asked, pool)
    summed = [sum(WEIGHTS[name] * columns[name][number] for name in scores.CONTENT) for number in range(size)]
    assert relevance(columns) == pytest.approx([1 - math.exp(-max(0.0, value)) for value in summed])
    assert relevance({"dense": np.array([0.5])}) == pytest.approx([1 - math.exp(-0.4 * 0.5)])
    assert 0.0 <= confidence(asked, columns, pool_of(pool, asked), unread) <= 1.0


ANSWERS, BESIDE = {"dense": 0.65, "cover": 1.0}, {"dense": 0.05}


def unread(numbers: Sequence[int]) -> list[str | None]:
    return [None for _ in numbers]


def notes(columns: Columns, **values: Sequence[Any]) -> list[Evidence]:
    """Return a memory for each row of the columns."""
    return [
        Evidence((0, row), f"m{row}", Held(), dense=float(near), **{name: each[row] for name, each in values.items()})
        for row, near in enumerate(columns["dense"])
    ]


def sure(*found: Why, named: tuple[bool, ...] = (), turns: bool = True) -> float:
    columns = {name: np.array([why.get(name, 0.0) for why in found]) for name in WEIGHTS}
    pool = notes(columns, is_turn=[turns] * len(found), by_named=named or [False] * len(found))
    return confidence(ASKED, columns, pool_of(pool), unread)


def test_more_and_better_evidence_is_more_certain() -> None:
    assert sure() == 0.0
    weak, strong = {"dense": 0.2, "lexical": 0.2}, {"dense": 0.7, "lexical": 1.0, "cover": 1.0}
    for turns in (True, False):
        assert 0 < sure(*[weak] * 50, turns=turns) < sure(*[strong] * 50, turns=turns) < 1
    strong = {"dense": 0.7, "lexical": 1.0}
    body = 4.5 * (0.4 * 0.7 + 0.25) - 3.5
    assert sure(*[{}] * 40, *[strong] * 10) == pytest.approx(1 / (1 + math.exp(-body)))
    assert sure(*[{}] * 90, *[strong] * 10) == sure(*[{}] * 40, *[strong] * 10)
    few, more, many = (sure(*[BESIDE] * number, ANSWERS) for number in (5, 25, 60))
    assert few > 0.8 > more > many
    assert sure(*[BESIDE] * 5) < 0.1
    assert sure(*[BESIDE] * 9, ANSWERS, turns=False) > sure(ANSWERS, turns=False) > 0.8
    assert sure(*[BESIDE] * 9, turns=False) < 0.1
    lead, field = {"dense": 0.6}, {"dense": 0.55}
    assert sure(lead, *[field] * 3, turns=False) < sure(lead, turns=False)
    assert sure({"dense": 0.9}, {"dense": 0.9}, turns=False) < sure({"dense": 0.9}, {"dense": 0.2}, turns=False)


def test_texts_beside_the_question_are_no_answer() -> None:
    """A person's name brings all notes on that person near to any question about them."""
    columns = {name: np.zeros(2) for name in WEIGHTS} | {"dense": np.array([0.7, 0.3]), "entity": np.ones(2)}
    near, far = (
        pool_of([Evidence((0, row), f"m{row}", Held(), dense=0.7, bare=bare) for row, bare in enumerate(each)])
        for each in ((0.5, 0.2), (0.2, 0.1))
    )
    named = replace(ASKED, entities=[frozenset({"maya"})])
    assert confidence(named, columns, near, unread) > 0.6 > 0.4 > confidence(named, columns, far, unread)
    assert confidence(named, columns | {"entity": np.zeros(2)}, near, unread) < 0.4
    columns = {name: np.zeros(2) for name in WEIGHTS} | {"dense": np.array([0.6, 0.3]), "lexical": np.array([1.0, 0.2])}
    asked = replace(ASKED, expects=expected("How much does the scanner cost?"))

    def sure_of(*texts: str | None) -> float:
        pool = [Evidence((0, row), f"m{row}", Held(), dense=0.6) for row in range(len(texts))]
        return confidence(asked, columns, pool_of(pool), lambda numbers: [texts[number] for number in numbers])

    restart = "The scanner needs a restart."
    elsewhere, nowhere = (sure_of(restart, f"The kettle {rest}.") for rest in ("was 20", "whistles"))
    assert sure_of("The scanner was 340.", "It whistles.") == sure_of(None, None) > 0.5 > elsewhere > nowhere
    fits, fits_not = {"lexical": 1.0, "cover": 0.9, "author": 1.0}, {"lexical": 0.2, "cover": 0.1, "author": 0.0}
    about_the_named = sure(fits, fits_not, named=(True, False))
    about_another = sure(fits, fits_not, named=(False, True))
    about_anyone = sure(fits, fits_not, named=(False, False))
    assert about_another < about_anyone < about_the_named


def test_a_summary_counts_only_if_there_is_nothing_else() -> None:
    nothing = {name: np.zeros(2) for name in WEIGHTS}
    columns = nothing | {"dense": np.array([0.1, 0.8]), "cover": np.array([0.1, 1.0])}
    first = {name: values[:1] for name, values in columns.items()}
    for dense in (None, 0.1):
        told, summaries = one(0, dense=dense), [one(row, dense=dense, is_summary=True) for row in (0, 1)]
        both = pool_of([told, summaries[1]])
        assert confidence(ASKED, columns, both, unread) == confidence(ASKED, first, pool_of([told]), unread) < 0.2
        assert confidence(ASKED, columns, pool_of(summaries), unread) > 0.9


OVERVIEW = replace(ASKED, is_overview=True)
DOING = replace(ASKED, heeds_rules=True)


def falling(pool: Sequence[Evidence]) -> list[float]:
    return [1 - number / 100 for number in range(len(pool))]


@given(SEEDS, st.integers(1, 40))
def test_every_hit_is_listed_once_and_only_rules_move_forward(seed: int, size: int) -> None:
    asked, pool = made(seed, size)
    _, worth = making.scored(asked, pool, HYBRID)
    found = arranged(asked, pool, worth)
    folded = [copy for copies in found.copies.values() for copy in copies]
    assert sorted([*found.order, *folded]) == list(range(size))
    for shown, copies in found.copies.items():
        assert shown in found.order
        assert all(pool[copy].copy_of == pool[shown].copy_of is not None for copy in copies)
        values = [worth[number] for number in (shown, *copies)]
        assert values == sorted(values, reverse=True)
    by_score = [number for number in making.by_worth(pool, worth) if number in set(found.order)]
    forward = [number for place, number in enumerate(found.order) if by_score.index(number) > place]
    assert found.forward == forward
    assert all(pool[number].rule is not None for number in forward)
    assert len(forward) <= scores.KEPT
    assert asked.heeds_rules or found.order == by_score
    assert arranged(asked, pool, worth) == found


def test_equals_have_an_order_and_copies_are_folded() -> None:
    assert arranged(ASKED, [one(1), one(3), one(2)], [0.5, 0.5, 0.5]) == Arranged([1, 2, 0], [], {})
    theirs = replace(one(9), key=(1, 9))
    assert making.by_worth([theirs, one(1)], [0.5, 0.5]) == [1, 0]
    assert arranged(ASKED, [one(3), one(2), one(1)], [-0.9, 0.0, -0.1]).order == [1, 2, 0]
    pool = [one(1, copy_of="x"), one(2, copy_of="y"), one(3, copy_of="x"), one(4), one(5), one(6, copy_of="x")]
    found = arranged(ASKED, pool, [0.1, 0.5, 0.9, 0.3, 0.3, 0.2])
    assert found == Arranged([2, 1, 4, 3], [], {2: [5, 0]})
    pool = [replace(one(1, copy_of="x"), key=(1, 1)), one(1, copy_of="x")]
    assert arranged(ASKED, pool, [0.5, 0.5]) == Arranged([1], [], {1: [0]})
    pool = [*(one(row) for row in range(10)), one(10, rule=0.9, copy_of="x"), one(11, rule=0.9, copy_of="x")]
    pool.append(one(12, rule=0.1))
    found = arranged(DOING, pool, falling(pool))
    assert found.order == [*range(KEPT_FROM), 10, 12, *range(KEPT_FROM, 10)]
    assert found.copies == {10: [11]}


def test_a_further_turn_of_a_session_costs_more_up_to_a_bound() -> None:
    by_agent, elsewhere = one(2, occasion="a", by_agent=True), replace(one(7, occasion="a"), key=(1, 7))
    pool = [one(1, occasion="a"), by_agent, one(3, occasion="a"), one(4, occasion="b"), one(5), one(6), elsewhere]
    pool.append(replace(by_agent, key=(0, 8)))
    assert spread(pool, falling(pool)) == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    assert spread(pool, falling(pool)[::-1]) == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    pool = [one(row, occasion="a") for row in range(scores.MOST_SPREAD + 5)]
    assert spread(pool, falling(pool)) == [*map(float, range(scores.MOST_SPREAD)), *[float(scores.MOST_SPREAD)] * 5]
    pool = [one(row, occasion="a" if row < 5 else "b") for row in range(8)]
    worth = [0.90 - row / 100 for row in range(8)]
    cost = spread(pool, worth)
    after = [value + WEIGHTS["spread"] * further for value, further in zip(worth, cost, strict=True)]
    assert arranged(OVERVIEW, pool, after).order[:3] == [0, 1, 5]


def test_the_nearest_rules_have_places_kept_and_are_named() -> None:
    pool = [one(row) for row in range(20)] + [one(20 + n, rule=n / 10) for n in range(5)]
    worth = falling(pool)
    found = arranged(DOING, pool, worth)
    assert found.order[:KEPT_FROM] == list(range(KEPT_FROM))
    assert found.order[KEPT_FROM : KEPT_FROM + scores.KEPT] == found.forward == [24, 23, 22]
    assert found.order[KEPT_FROM + scores.KEPT :] == [*range(KEPT_FROM, 20), 20, 21]
    assert arranged(ASKED, pool, worth) == Arranged(list(range(25)), [], {})
    few = [one(0), one(1), one(2, rule=0.9)]
    assert arranged(DOING, few, falling(few)) == Arranged([0, 1, 2], [], {})
    assert arranged(DOING, [], []) == Arranged([], [], {})
    pool = [one(0, rule=0.9), *(one(row) for row in range(1, 20)), one(20, rule=0.1)]
    found = arranged(DOING, pool, falling(pool))
    assert (found.order[0], found.order[KEPT_FROM], found.forward) == (0, 20, [20])
    pool = [*(one(row) for row in range(KEPT_FROM)), one(7, rule=0.1), one(8, rule=0.5), one(9)]
    found = arranged(DOING, pool, falling(pool))
    assert (found.order[KEPT_FROM:], found.forward) == ([8, 7, 9], [8])
    pool = [*(one(row) for row in range(10)), *(one(row, rule=0.0) for row in range(10, 15))]
    assert arranged(DOING, pool, falling(pool)).forward == [10, 11, 12]
