"""The arms on real banks: what each alone brings, what switching it off changes, and the sources of a score."""

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.bank.recall_pages import NOW, embed, embedding, fill, ids, numbered, session, walk
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import InputError
from pieria.recall.answer import Recall
from pieria.recall.arms import ARMS, QUOTA
from pieria.recall.candidates import OFF
from pieria.recall.scores import ECHO, FEATURES, POLICIES, WEIGHTS

__all__ = ["embedding"]

BANKS = tomllib.loads(Path(__file__).with_name("recall_arms.toml").read_text())
ASKED = BANKS["asked"]
RELATIVE = {"dense": ("rule_fit", "wish_fit", "matter")}
"""Features computed relative to the best of another arm. They vanish with that arm."""


def off(*arms: str) -> dict[str, float]:
    return {feature: 0.0 for arm in arms for feature in ARMS[arm].features}


def alone(*arms: str) -> dict[str, float]:
    return off(*(arm for arm in ARMS if arm not in arms))


def filled(bank: Bank, case: Mapping[str, Any]) -> Bank:
    fill(bank, *case.get("items", ()), *session("s", *case.get("turns", ())))
    if "decoys" in case:
        numbered(bank, 2 * QUOTA, f"{case['decoys']} {{}}", "decoy")
    for source, target in case.get("links", ()):
        bank.link(source, target)
    for subject, predicate, object, memory in case.get("facts", ()):
        bank.facts.add(subject, predicate, object, memory=memory)
    return bank


def test_every_arm_brings_what_no_other_arm_does(embedding: Callable[..., Bank], clock: HandClock) -> None:
    assert list(BANKS["only"]) == list(ARMS)
    clock.now = NOW
    for arm, case in BANKS["only"].items():
        bank = filled(embedding(name=arm), case)
        weights = off(*case.get("besides", ()))
        # Raise the weights, so that the target is among the hits whenever it is a candidate.
        raised = {name: 20.0 for name in ARMS[arm].features if WEIGHTS[name] > 0}
        found = bank.recall(case["question"], k=QUOTA, weights=weights | raised)
        assert case["target"] in ids(found), arm
        assert found.plan["arms"][arm]["candidates"] >= 1
        without = bank.recall(case["question"], k=QUOTA, weights=weights | off(arm))
        assert case["target"] not in ids(without), arm
        # Arms that extend earlier candidates get the text arm to start with.
        few = {arm, "text"} if arm in ("context", "links", "openers") else {arm}
        found = bank.recall(case["question"], k=QUOTA, weights=alone(*few))
        assert case["target"] in ids(found), arm
        assert set(found.plan["arms"]) == few
        assert told([found]) <= set(WEIGHTS) - set(alone(*few))


# --- a bank that gives every reason there is


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """Yield a bank that gives every reason there is. Tests only read it."""
    folder = tmp_path_factory.mktemp("full")
    with pieria.Workspace(folder, embedder=embed, clock=HandClock(NOW)) as workspace:
        bank = filled(workspace.open("full"), BANKS["full"])
        bank.touch("good", accesses=4, reviews=2, reward=1.0)
        bank.touch("bad", reward=-1.0)
        yield bank


def answers(bank: Bank, **asked: Any) -> list[Recall]:
    return [bank.recall(question, k=50, **asked) for question in ASKED]


def told(found: Sequence[Recall]) -> set[str]:
    return {name for answer in found for hit in answer for name in hit.why}


def test_every_feature_of_hybrid_speaks_for_something(full: Bank) -> None:
    found = answers(full)
    assert told(found) == set(WEIGHTS)
    assert all("dense" in hit.why for answer in found for hit in answer), "each is compared, whichever arm found it"
    assert not any(value == 0 for answer in found for hit in answer for value in hit.why.values())


def test_each_arm_is_switched_off_by_its_weights_alone(full: Bank) -> None:
    before = answers(full)
    assert {name for answer in before for name in answer.plan["arms"]} == set(ARMS)
    for arm in ARMS:
        features = ARMS[arm].features
        after = answers(full, weights=off(arm))
        assert all(answer.plan["left_out"] == {arm: OFF} for answer in after)
        assert all(set(answer.plan["arms"]) == set(ARMS) - {arm} for answer in after)
        assert told(after) == told(before) - {*features, *RELATIVE.get(arm, ())}
        # One feature that counts is enough.
        for kept in features:
            found = full.recall(ASKED[0], weights=off(arm) | {kept: 1.0})
            assert arm in found.plan["arms"], kept


# --- the sources of a score


RECOMPUTED: Mapping[str, Callable[[Mapping[str, float], Mapping[str, float]], float]] = {
    "1 - exp(-sum(weight * feature))": lambda why, weights: 1 - math.exp(-max(0.0, total(why, weights))),
    "sum(weight * feature)": lambda why, weights: min(1.0, max(0.0, total(why, weights))),
    "product(feature ** weight)": lambda why, weights: min(
        1.0, math.prod(max(0.0, why.get(name, 0.0)) ** weight for name, weight in weights.items())
    ),
}


def total(why: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return math.fsum(weights[name] * value for name, value in why.items())


def check_scores(*answers: Recall) -> None:
    for found in answers:
        assert len(found) > 2
        scoring, weights = RECOMPUTED[found.plan["scoring"]], found.plan["weights"]
        for hit in found:
            assert 0 <= hit.score <= 1
            assert hit.score == pytest.approx(scoring(hit.why, weights), abs=1e-6)


def test_every_score_can_be_computed_again(full: Bank, opened: Callable[..., Bank]) -> None:
    wordy = opened()
    fill(wordy, *BANKS["full"]["items"][:6])
    for policy in POLICIES:
        for weights in (None, {"dense": 0.7, "lexical": 0.0, "importance": 0.1}):
            found = answers(full, policy=policy, weights=weights)
            check_scores(*found)
            assert {answer.plan["policy"] for answer in found} == {policy}
        pages = walk(full, ASKED[0], 3, policy=policy)
        check_scores(*pages[:-1])
        assert len(pages) > 3
        check_scores(wordy.recall("the heron and the doctor", policy=policy))
    assert wordy.recall("heron", policy="similarity").plan["weights"] == {"lexical": 1.0, "echo": ECHO}


def test_callable_policy_is_given_what_the_hit_tells(full: Bank) -> None:
    seen: list[Mapping[str, float]] = []

    def judge(why: dict[str, float]) -> float:
        """Judge, and then take the features away: that must change no reason."""
        seen.append({name: value for name, value in why.items() if value})
        assert {"retention", "frequency", "reward", "relevance"} <= why.keys() <= set(FEATURES)
        value = (why.get("dense", 0.0) + why.get("retention", 0.0)) / 2
        why.clear()
        return value

    found = full.recall(ASKED[0], k=50, policy=judge)
    assert len(found) > 5 and found.plan["scoring"] == "callable"
    for hit in found:
        assert hit.why in seen
        assert hit.score == pytest.approx((hit.why.get("dense", 0.0) + hit.why.get("retention", 0.0)) / 2, abs=1e-6)


def test_filter_that_hides_neighbours_lets_windows_be_found(embedding: Callable[..., Bank]) -> None:
    bank = embedding()
    question, answer = session("s", "Which doctor?", "Pereira.")
    fill(bank, question | {"author": "Omar"}, answer | {"author": "Maya"})
    numbered(bank, 2 * QUOTA, "Loaf {}", author="Maya")
    assert bank.recall("doctor", author="Maya")[0].memory.id == "s1"
    assert "s1" in ids(bank.recall("doctor"))


def test_by_value_good_records_stand_before_bad_ones(bank: Bank) -> None:
    for id, reward in (("evil", -0.1), ("none", 0.0), ("good", 0.1)):
        bank.remember(f"The heron nests by the mill, {id}.", id=id)
        bank.touch(id, accesses=0, reward=reward)
    rewards = {hit.memory.id: hit.why["reward"] for hit in bank.recall("heron", policy="value")}
    assert list(rewards) == ["good", "none", "evil"]
    assert rewards["good"] > rewards["none"] == 1.0 > rewards["evil"]


def test_name_before_a_text_of_a_stranger_silences_no_rule(embedding: Callable[..., Bank]) -> None:
    bank = embedding()
    bank.remember("Always answer in metric units.", id="rule", via="person")
    fill(bank, *({"text": f"Notes on a zeppelin, number {number}.", "author": "Ada"} for number in range(3)))
    for text in ("The harbour is open.", "Zeppelin: the harbour is closed."):
        fill(bank, {"text": text, "via": "outside"})
        assert "rule" in {hit.memory.id: hit.why for hit in bank.recall("Write about a zeppelin.")}["rule"], text


# --- weights and policies of the caller

BAD_WEIGHTS: list[tuple[Any, str]] = [
    ({"densse": 1}, "Did you mean dense?"), ({"lexicla": 1}, "Did you mean lexical?"),
    ({"zzzzzz": 1}, "features: lexical"), ({3: 1}, "weights"),
    *(({"dense": bad}, "weights.dense") for bad in ("much", None, True, math.nan, math.inf, -100.5, 101)),
    *((bad, "a mapping") for bad in ([("dense", 1)], "dense", 3)),
]  # fmt: skip
BAD_POLICIES: dict[Any, str | None] = {
    "hybrod": "Did you mean hybrid?", "similarty": "Did you mean similarity?", "xyz": None, 3: None,
}  # fmt: skip


def test_bad_weights_and_policies_are_refused(full: Bank) -> None:
    for weights, said in BAD_WEIGHTS:
        with pytest.raises(InputError) as caught:
            full.recall("heron", weights=weights)
        assert said in f"{caught.value} {caught.value.hint}"
    for policy, hint in BAD_POLICIES.items():
        with pytest.raises(InputError) as caught:
            full.recall("heron", policy=policy)
        assert (caught.value.parameter, caught.value.hint) == ("policy", hint)
        assert all(name in str(caught.value) for name in POLICIES)
    with pytest.raises(InputError, match="none, where the policy is a callable"):
        full.recall("heron", policy=lambda why: 1.0, weights={"dense": 1})
    for value in (2, "1"):
        with pytest.raises(InputError, match="a number from 0 to 1"):
            full.recall("heron", policy=lambda why, value=value: value)
    with pytest.raises(ZeroDivisionError):
        full.recall("heron", policy=lambda why: 1 / 0)
    assert len(full.recall("heron")) == 10


def test_extreme_weights_are_weighed(full: Bank) -> None:
    for policy in POLICIES:
        is_product = "product" in POLICIES[policy].scoring
        for weight in (0.0 if is_product else -100.0, 100.0):
            found = full.recall("heron", policy=policy, weights=dict.fromkeys(WEIGHTS, weight))
            assert all(0 <= hit.score <= 1 for hit in found)
        if is_product:
            with pytest.raises(InputError, match=r"weights\.relevance"):
                full.recall("heron", policy=policy, weights={"relevance": -0.1})
    found = full.recall("heron", weights=dict.fromkeys(WEIGHTS, 0))
    assert (found.plan["arms"], set(found.plan["left_out"])) == ({}, set(ARMS))
    assert not any(hit.why or hit.score for hit in found)
