"""Invalid weights and policies are refused, weights at their bounds count, and a cursor belongs to its weights."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from tests.bank.test_recall_limits import bank, many, opened

from pieria.bank import Bank
from pieria.errors import InputError
from pieria.recall.arms import ARMS
from pieria.recall.scores import POLICIES, WEIGHTS

__all__ = ["bank", "opened"]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"densse": 1}, "Did you mean dense?"),
        ({"lexicla": 1}, "Did you mean lexical?"),
        ({"zzzzzz": 1}, "features: lexical"),
        ({3: 1}, "weights"),
        ({"dense": "much"}, "weights.dense"),
        ({"dense": None}, "weights.dense"),
        ({"dense": True}, "weights.dense"),
        ({"dense": math.nan}, "weights.dense"),
        ({"dense": math.inf}, "weights.dense"),
        ({"dense": -100.5}, "weights.dense"),
        ({"dense": 101}, "weights.dense"),
        ([("dense", 1)], "a mapping"),
        ("dense", "a mapping"),
        (3, "a mapping"),
    ],
)
def test_weights_that_are_none_are_refused(bank: Bank, weights: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        bank.recall("heron", weights=weights)
    assert said in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("policy", ["decay", "value"])
def test_a_power_is_not_negative(bank: Bank, policy: str) -> None:
    with pytest.raises(InputError, match=r"weights\.relevance"):
        bank.recall("heron", policy=policy, weights={"relevance": -0.1})
    weights = dict.fromkeys(POLICIES[policy].weights, 0.0) | {"relevance": 1.0}
    found = bank.recall("heron", policy=policy, weights=weights)
    assert len(found) == 3
    assert all(hit.score == pytest.approx(hit.why.get("relevance", 0.0)) for hit in found)


def test_extreme_weights_are_weighed(bank: Bank) -> None:
    for policy in POLICIES:
        least = 0.0 if "product" in POLICIES[policy].scoring else -100.0
        for weight in (least, 100.0):
            found = bank.recall("heron", policy=policy, weights=dict.fromkeys(WEIGHTS, weight))
            assert all(0 <= hit.score <= 1 for hit in found)


def test_with_every_weight_0_nothing_is_looked_up(bank: Bank) -> None:
    found = bank.recall("heron", weights=dict.fromkeys(WEIGHTS, 0))
    assert found.plan["arms"] == {}
    assert set(found.plan["left_out"]) == set(ARMS)
    assert not any(hit.why or hit.score for hit in found)


def test_a_callable_weighs_by_itself(bank: Bank) -> None:
    with pytest.raises(InputError, match="none, where the policy is a callable"):
        bank.recall("heron", policy=lambda why: 1.0, weights={"dense": 1})


@pytest.mark.parametrize(
    ("policy", "hint"),
    [("hybrod", "Did you mean hybrid?"), ("similarty", "Did you mean similarity?"), ("xyz", None), (3, None)],
)
def test_an_unknown_policy_is_refused_with_the_nearest(bank: Bank, policy: Any, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        bank.recall("heron", policy=policy)
    assert caught.value.parameter == "policy"
    assert caught.value.hint == hint
    assert all(name in str(caught.value) for name in POLICIES)


@pytest.mark.parametrize("value", [2, -0.1, 1.0001, math.nan, math.inf, None, "1", True, [0.5]])
def test_what_a_callable_gives_must_be_a_score(bank: Bank, value: Any) -> None:
    with pytest.raises(InputError, match="a number from 0 to 1"):
        bank.recall("heron", policy=lambda why: value)
    assert len(bank.recall("heron")) == 3


def test_a_callable_that_raises_is_its_authors_to_mend(bank: Bank) -> None:
    def broken(why: Mapping[str, float]) -> float:
        raise ZeroDivisionError("of mine")

    with pytest.raises(ZeroDivisionError, match="of mine"):
        bank.recall("heron", policy=broken)
    assert len(bank.recall("heron")) == 3


def newest(why: Mapping[str, float]) -> float:
    return why.get("recency", 0.0)


@pytest.mark.parametrize(
    "asked",
    [
        {"weights": {"dense": 0.1}},
        {"policy": "decay"},
        {"policy": "similarity"},
        {"policy": newest},
        {"min_score": 0.1},
    ],
)
def test_a_cursor_goes_on_only_with_what_it_was_made_under(opened: Any, asked: dict[str, Any]) -> None:
    bank = many(opened())
    plain = bank.recall("heron", k=5).cursor
    other = bank.recall("heron", k=5, **asked).cursor
    assert plain is not None
    assert other is not None
    with pytest.raises(InputError, match="cursor"):
        bank.recall("heron", k=5, cursor=plain, **asked)
    with pytest.raises(InputError, match="cursor"):
        bank.recall("heron", k=5, cursor=other)
    assert len(bank.recall("heron", k=5, cursor=other, **asked)) == 5
