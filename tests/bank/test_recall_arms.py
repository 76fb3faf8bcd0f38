"""The arms on real banks: what each alone brings, what switching it off changes, and the sources of a score."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pieria
from pieria.bank import Bank
from pieria.recall.answer import Recall
from pieria.recall.arms import ARMS, QUOTA
from pieria.recall.candidates import OFF
from pieria.recall.scores import CONTENT, FEATURES, POLICIES, WEIGHTS

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
"""This is a Wednesday."""
MEANINGS = (("doctor", "physician"), ("car", "automobile"), ("bread", "loaf"), ("boat", "vessel"), ("rain", "drizzle"))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ONCE = "remembered once, and long enough that it would be a waste of room to show it twice"


def embed(texts: list[str]) -> list[list[float]]:
    """Return vectors that are alike for words of one meaning. Letters distinguish the rest a little."""
    return [_vector(text.lower()) for text in texts]


def _vector(text: str) -> list[float]:
    words = "".join(letter if letter.isalnum() else " " for letter in text).split()
    meant = [float(sum(word in meaning for word in words)) for meaning in MEANINGS]
    return [*meant, *(0.1 * text.count(letter) / (1 + len(text)) + 0.001 for letter in LETTERS)]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens banks with vectors."""
    settings = {"durability": "off"}
    with pieria.Workspace(data=tmp_path / "v", settings=settings, clock=lambda: NOW, embedder=embed) as workspace:
        yield workspace.open


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return opened("notes")


@pytest.fixture
def wordy(tmp_path: Path) -> Iterator[Bank]:
    """Yield a bank without vectors."""
    with pieria.open("notes", data=tmp_path / "w", settings={"durability": "off"}, clock=lambda: NOW) as bank:
        yield bank


def fill(bank: Bank, *items: Mapping[str, Any]) -> None:
    bank.remember_many([dict(item) for item in items])
    assert bank.sync(20)


def ids(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found]


def off(*arms: str) -> dict[str, float]:
    return {feature: 0.0 for arm in arms for feature in ARMS[arm].features}


def alone(*arms: str) -> dict[str, float]:
    return off(*(arm for arm in ARMS if arm not in arms))


def session(name: str, *texts: str, **values: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"{name}{n}", "text": text, "kind": "turn", "session": name, **values} for n, text in enumerate(texts)
    ]


# --- what only one arm brings


def decoys(text: str, number: int = 2 * QUOTA) -> list[dict[str, Any]]:
    return [{"id": f"decoy{n}", "text": f"{text} {n}"} for n in range(number)]


class Only(NamedTuple):
    """A bank and a question. Only this arm brings the target, once the arms in `besides` are off."""

    arm: str
    items: Sequence[Mapping[str, Any]]
    question: str
    target: str
    besides: tuple[str, ...] = ()
    links: Sequence[tuple[str, str]] = ()
    facts: Sequence[tuple[str, str, str, str]] = ()


ONLY = (
    Only(
        "text",
        [{"id": "a", "text": "The heron nests."}, {"id": "b", "text": "Quite other."}],
        "heron",
        "a",
        besides=("dense", "window"),
    ),
    Only("dense", [{"id": "a", "text": "A physician came."}, {"id": "b", "text": "Quite other."}], "doctor", "a"),
    Only(
        "window",
        # The turn itself matches nothing, but its neighbours talk of doctors.
        [*session("s", "Physician, a physician?", "Yes.", "A physician."), *decoys("A physician in the rain")],
        "doctor",
        "s1",
        besides=("context",),
    ),
    Only(
        "time",
        [{"id": "then", "text": f"Budget. {ONCE}", "at": "2026-03-10"}, *decoys("budget budget")],
        "what about the budget last week",
        "then",
        besides=("dense", "window"),
    ),
    Only(
        "entities",
        # Labels are indexed words, too, so the text arm also brings it.
        [{"id": "it", "text": ONCE, "entities": ["Zephyr Labs"]}, {"id": "other", "text": "Zephyr Labs."}],
        "what about Zephyr Labs",
        "it",
        besides=("text", "dense", "window"),
    ),
    Only(
        "facts",
        [{"id": "move", "text": "They packed everything."}, {"id": "other", "text": "Quite other."}],
        "what about Maya",
        "move",
        besides=("dense", "window"),
        facts=[("Maya", "lives in", "Lisbon", "move")],
    ),
    Only(
        "context",
        session("s", "Where does the heron nest?", "By the mill.", "A pity.", "Far away.", "Farther still."),
        "heron",
        "s2",
        besides=("dense", "window"),
    ),
    Only(
        "links",
        [{"id": "a", "text": "The heron nests."}, {"id": "b", "text": "By the mill."}],
        "heron",
        "b",
        besides=("dense", "window"),
        links=[("a", "b")],
    ),
    Only(
        "rules",
        [{"id": "rule", "text": "Always answer in metric units."}, {"id": "other", "text": "Quite other."}],
        "Write a letter for me.",
        "rule",
        besides=("dense", "window"),
    ),
    Only(
        "openers",
        session("s", "Good morning.", "Hello.", "Well.", "Then.", "The heron nests.", "Good night."),
        "Give me a summary of what I said of the heron",
        "s0",
        besides=("dense", "window"),
    ),
)


def filled(bank: Bank, case: Only) -> Bank:
    fill(bank, *case.items)
    for source, target in case.links:
        bank.link(source, target)
    for subject, predicate, object, memory in case.facts:
        bank.facts.add(subject, predicate, object, memory=memory)
    return bank


def test_every_arm_has_its_case() -> None:
    assert [case.arm for case in ONLY] == list(ARMS)


@pytest.mark.parametrize("case", ONLY, ids=lambda case: case.arm)
def test_what_only_one_arm_brings_is_missing_without_it(bank: Bank, case: Only) -> None:
    filled(bank, case)
    weights = off(*case.besides)
    # Raise the weights, so that the target is among the hits whenever it is a candidate.
    raised = {name: 20.0 for name in ARMS[case.arm].features if WEIGHTS[name] > 0}
    found = bank.recall(case.question, k=QUOTA, weights=weights | raised)
    without = bank.recall(case.question, k=QUOTA, weights=weights | off(case.arm))
    assert case.target in ids(found)
    assert case.target not in ids(without)
    assert found.plan["arms"][case.arm]["candidates"] >= 1


@pytest.mark.parametrize("case", ONLY, ids=lambda case: case.arm)
def test_an_arm_brings_it_without_the_others(bank: Bank, case: Only) -> None:
    """Arms that extend earlier candidates get the text arm to start with."""
    filled(bank, case)
    first = ("text",) if case.arm in ("context", "links", "openers") else ()
    found = bank.recall(case.question, k=QUOTA, weights=alone(case.arm, *first))
    assert case.target in ids(found)
    assert set(found.plan["arms"]) == {case.arm, *first}
    told = {name for hit in found for name in hit.why}
    assert told <= set(WEIGHTS) - set(alone(case.arm, *first))


# --- a bank that gives every reason there is


SAID = (
    "Did the heron nest by the old mill in the end?",
    "Yes, on Tuesday, three eggs.",
    "And did the doctor look at it?",
    "The physician came last week.",
    "Good.",
    "The heron and the doctor, the doctor and the heron: here is a long reply that repeats all of it.",
)
ASKED = (
    "when did the doctor look at the heron nest last week",
    "what did Maya say about the heron",
    "Write me a letter about the heron and the doctor at Zephyr Labs.",
    "Give me a summary of everything about the heron",
    "what about the physician at Zephyr Labs",
    'who said "heron nests by the mill"?',
    "the heron on 10 March 2026",
)
"""Questions that together produce every feature."""
RELATIVE = {"dense": ("rule_fit", "wish_fit", "matter")}
"""Features computed relative to the best of another arm. They vanish with that arm."""


@pytest.fixture
def full(opened: Callable[..., Bank]) -> Bank:
    bank = opened("full")
    types = ("human", "human", "human", "human", "human", "agent")
    turns = [
        {**turn, "author": ("Maya", "Omar")[n % 2], "author_type": types[n], "at": NOW - timedelta(days=8, minutes=-n)}
        for n, turn in enumerate(session("s", *SAID))
    ]
    later = [{**turn, "author": "Omar"} for turn in session("t", "Good morning.", "The heron is back.", "The heron.")]
    fill(
        bank,
        *turns,
        *later,
        {"id": "rule", "text": "Always name the doctor when you write a letter."},
        {"id": "wish", "text": "I prefer a letter about a doctor to be short."},
        {"id": "labs", "text": "A physician moved there.", "entities": ["Zephyr Labs"], "valid_from": "2026-01-01"},
        {"id": "tied", "text": "Eggs, three of them.", "importance": 0.9},
        {"id": "good", "text": "The heron nests by the mill."},
        {"id": "bad", "text": "The heron is a stork."},
        {"id": "mill", "text": "The heron sleeps by the mill.", "at": NOW - timedelta(days=30)},
        {"id": "quay", "text": "The heron no longer sleeps by the mill."},
        {"id": "digest", "text": "The doctor, the heron and a nest.", "kind": "summary"},
    )
    bank.link("s0", "tied")
    bank.link("labs", "good")
    bank.facts.add("Zephyr Labs", "employs", "the physician", memory="labs")
    bank.touch("good", accesses=4, reviews=2, reward=1.0)
    bank.touch("bad", reward=-1.0)
    return bank


def answers(bank: Bank, **asked: Any) -> list[Recall]:
    return [bank.recall(question, k=50, **asked) for question in ASKED]


def told(found: Sequence[Recall]) -> set[str]:
    return {name for answer in found for hit in answer for name in hit.why}


def test_every_feature_of_hybrid_speaks_for_something(full: Bank) -> None:
    found = answers(full)
    assert told(found) == set(WEIGHTS)
    assert not any(value == 0 for answer in found for hit in answer for value in hit.why.values())


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_is_switched_off_alone(full: Bank, arm: str) -> None:
    before, after = answers(full), answers(full, weights=off(arm))
    assert arm in {name for answer in before for name in answer.plan["arms"]}
    for answer in after:
        assert answer.plan["left_out"] == {arm: OFF}
        assert set(answer.plan["arms"]) == set(ARMS) - {arm}
    assert not told(after) & set(ARMS[arm].features)
    assert told(after) == told(before) - {*ARMS[arm].features, *RELATIVE.get(arm, ())}


@pytest.mark.parametrize("arm", [arm for arm in ARMS if len(ARMS[arm].features) > 1])
def test_an_arm_is_asked_as_long_as_one_of_its_features_counts(full: Bank, arm: str) -> None:
    for kept in ARMS[arm].features:
        weights = {name: 0.0 for name in ARMS[arm].features if name != kept}
        assert all(arm in answer.plan["arms"] for answer in answers(full, weights=weights))


@pytest.mark.parametrize("feature", WEIGHTS)
def test_a_weight_of_0_takes_its_feature_out_of_every_reason(full: Bank, feature: str) -> None:
    found = answers(full, weights={feature: 0})
    assert feature not in told(found)
    assert all(answer.plan["weights"][feature] == 0 for answer in found)


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


def check_scores(found: Recall) -> None:
    scoring, weights = RECOMPUTED[found.plan["scoring"]], found.plan["weights"]
    for hit in found:
        assert 0 <= hit.score <= 1
        assert hit.score == pytest.approx(scoring(hit.why, weights), abs=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("weights", [None, {"dense": 0.7, "lexical": 0.0, "importance": 0.1}], ids=["own", "given"])
def test_every_score_can_be_computed_again(full: Bank, policy: str, weights: dict[str, float] | None) -> None:
    for answer in answers(full, policy=policy, weights=weights):
        assert len(answer) > 5
        assert answer.plan["policy"] == policy
        check_scores(answer)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_score_of_every_page_can_be_computed_again(full: Bank, policy: str) -> None:
    page = full.recall(ASKED[0], k=3, policy=policy)
    pages = 1
    while page.cursor is not None:
        check_scores(page)
        page = full.recall(ASKED[0], k=3, policy=policy, cursor=page.cursor)
        pages += 1
    check_scores(page)
    assert pages > 3


def test_without_vectors_scores_can_be_computed_again_too(wordy: Bank) -> None:
    fill(wordy, *session("s", *SAID))
    for policy in POLICIES:
        found = wordy.recall("the heron and the doctor", policy=policy)
        assert len(found) > 2
        check_scores(found)
    assert wordy.recall("heron", policy="similarity").plan["weights"] == {"lexical": 1.0}


def test_a_callable_is_given_what_the_hit_tells(full: Bank) -> None:
    seen: list[Mapping[str, float]] = []

    def judge(why: Mapping[str, float]) -> float:
        seen.append(dict(why))
        return (why.get("dense", 0.0) + why.get("retention", 0.0)) / 2

    found = full.recall(ASKED[0], k=50, policy=judge)
    assert found.plan["scoring"] == "callable"
    reasons = [{name: value for name, value in why.items() if value} for why in seen]
    assert all(hit.why in reasons for hit in found)
    assert all(seen[0].keys() == why.keys() for why in seen)
    assert all(hit.score == pytest.approx(judge(hit.why), abs=1e-6) for hit in found)
    assert {name for why in seen for name in why} <= set(FEATURES)
    assert {"retention", "frequency", "reward", "relevance"} <= {name for why in seen for name in why}


def test_what_a_callable_does_to_its_features_changes_no_reason(full: Bank) -> None:
    def emptying(why: dict[str, float]) -> float:
        value = why.get("dense", 0.0)
        why.clear()
        return value

    found = full.recall(ASKED[0], policy=emptying)
    assert len(found) > 5
    assert all(hit.why["dense"] == pytest.approx(hit.score) for hit in found)


def test_relevance_is_what_the_content_says(full: Bank) -> None:
    by_content = full.recall(ASKED[0], k=50, weights={name: 0 for name in WEIGHTS if name not in CONTENT})
    expected = {hit.memory.id: -math.expm1(-max(0.0, total(hit.why, WEIGHTS))) for hit in by_content}
    found = full.recall(ASKED[0], k=50, policy="value")
    shared = [hit for hit in found if hit.memory.id in expected and "relevance" in hit.why]
    assert len(shared) > 5
    assert all(hit.why["relevance"] == pytest.approx(expected[hit.memory.id], abs=1e-6) for hit in shared)


def test_a_filter_that_hides_the_neighbours_lets_windows_be_looked_for(bank: Bank) -> None:
    fill(
        bank,
        {
            "id": "q",
            "text": "Which doctor?",
            "kind": "turn",
            "session": "s",
            "author": "Omar",
            "at": "2026-02-01T10:00:00Z",
        },
        {"id": "a", "text": "Pereira.", "kind": "turn", "session": "s", "author": "Maya", "at": "2026-02-01T10:01:00Z"},
        *({"id": f"d{n}", "text": f"Loaf {n}", "author": "Maya"} for n in range(2 * QUOTA)),
    )
    assert bank.recall("doctor", author="Maya")[0].memory.id == "a"
    assert "a" in ids(bank.recall("doctor"))


def test_by_value_a_good_record_stands_before_none_and_none_before_a_bad_one(bank: Bank) -> None:
    fill(bank, *({"id": id, "text": f"The heron nests by the mill, {id}."} for id in ("evil", "none", "good")))
    bank.touch("good", accesses=0, reward=0.1)
    bank.touch("evil", accesses=0, reward=-0.1)
    rewards = {hit.memory.id: hit.why["reward"] for hit in bank.recall("heron", policy="value")}
    assert list(rewards) == ["good", "none", "evil"]
    assert rewards["good"] > rewards["none"] == 1.0 > rewards["evil"]


def test_a_name_that_a_stranger_puts_before_a_text_silences_no_rule(opened: Callable[..., Bank]) -> None:
    for name, planted in (("plain", False), ("planted", True)):
        bank = opened(name)
        bank.remember("Always answer in metric units.", id="rule", via="person")
        fill(bank, *({"text": f"Notes on a zeppelin, number {number}.", "author": "Ada"} for number in range(3)))
        if planted:
            fill(bank, {"text": "Zeppelin: the harbour is closed.", "via": "outside"})
        assert "rule" in {hit.memory.id: hit.why for hit in bank.recall("Write about a zeppelin.")}["rule"], name
