"""`python -m benchmarks locomo`, `beam` and `rooms` on conversations with figures known in advance, by words alone."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks import conversations
from tests.cli.conftest import Ask

from benchmarks import datasets
from benchmarks.findings import lines
from benchmarks.rooms import lines as room_lines
from pieria import Bank
from pieria.recall.scores import POLICIES

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
ARMS = {
    "text": "lexical, cover, phrase, quoted, thin",
    "time": "date, then",
    "entities": "entity",
    "facts": "fact",
    "context": "session, reply",
    "links": "link",
    "rules": "rule, rule_fit, wish_fit",
    "openers": "opener, spread",
}
ALONE = {"entity", "fact", "link"}
NOTHING = {"mean": 0.0, "from": 0.0, "to": 0.0}


def means(told: dict[str, Any]) -> dict[str, float]:
    return {name: of["mean"] for name, of in told.items() if name != "questions"}


def shares(at_each: float, of_sessions: float | None = None) -> dict[str, float]:
    found = {"R@5": at_each, "R@10": at_each, "R@20": at_each}
    return found if of_sessions is None else found | {"session R@5": of_sessions, "session R@10": of_sessions}


def written(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def one(tmp_path: Path) -> str:
    """Return the file of one small talk."""
    return conversations.locomo(tmp_path, conversations.small_talk("one"))


@pytest.fixture
def found(tmp_path: Path) -> Path:
    """Return the place for a file of questions."""
    return tmp_path / "found"


def test_locomo_counts_turns_and_sessions(bench: Ask, tmp_path: Path) -> None:
    file = conversations.locomo(tmp_path, conversations.small_talk("one"), conversations.small_talk("two"))
    told = bench("locomo", file, "--json").json
    kinds = told["kinds"]
    assert {kind: of["questions"] for kind, of in kinds.items()} == {"all": 8, "category 1": 4, "category 2": 4}
    # All of two questions, half of the third, nothing of the fourth.
    for kind, share in (("all", 0.625), ("category 1", 1.0), ("category 2", 0.25)):
        assert means(kinds[kind]) == shares(share, share)
    assert kinds["category 1"]["R@10"] == {"mean": 1.0, "from": 1.0, "to": 1.0}
    assert 0.25 <= kinds["all"]["R@10"]["from"] < 0.625 < kinds["all"]["R@10"]["to"] <= 1.0
    # Three of four score above the question without an answer; the fourth has no known word and ties with it.
    assert told["answerable"]["mean"] == 0.875
    assert told["conversations"] == {"R@10": {"one": 0.625, "two": 0.625}, "spread": 0.0}
    assert told["left_out"] == {"dense": "no embedder is set", "window": "no embedder is set"}
    assert (told["model"], told["without"], told["leave_one_out"]) == (None, {}, None)
    assert (told["recall"]["ms"] > 0, told["recall"]["times"]) == (True, None)


def test_beam_counts_exchanges(bench: Ask, tmp_path: Path) -> None:
    told = bench("beam", conversations.beam(tmp_path, "10", "9"), "--json").json
    assert {kind: of["questions"] for kind, of in told["kinds"].items()} == {"all": 6, "ordering": 2, "recalling": 4}
    # The reply that is evidence is in the exchange that is found; of the two exchanges to be ordered one is found.
    assert means(told["kinds"]["recalling"]) == means(told["kinds"]["ordering"]) == shares(0.5)
    assert told["answerable"]["mean"] == pytest.approx((1 + 1 + 0.5) / 3, abs=1e-4)
    assert told["conversations"]["R@10"] == {"9": 0.5, "10": 0.5}


def test_beam_is_read_as_it_was_said(tmp_path: Path) -> None:
    (chat,) = datasets.beam(Path(conversations.beam(tmp_path, "1")))
    assert [item["text"] for item in chat.said[:4]] == ["apple", "noted", "copper", "fine"]
    assert [item["author_type"] for item in chat.said[:3]] == ["human", "agent", "human"]
    assert {item["session"] for item in chat.said} == {"batch 1", "batch 2"}
    assert [chat.piece_of[id] for id in ("0", "1", "2", "3", "10")] == ["0", "0", "1", "1", "2"]
    asked = {(one.kind, one.evidence and "".join(sorted(one.evidence))) for one in chat.asked}
    assert asked == {("abstention", None), ("ordering", "13"), ("recalling", "1"), ("recalling", "0")}


def test_questions_are_written_and_asked_again_after_a_sleep(bench: Ask, one: str, found: Path) -> None:
    result = bench("locomo", one, "--sleep", "--questions", str(found), "--limit", "1", "--json").json
    rows = written(found)
    assert [row["way"] for row in rows] == ["everything on"] * 5 + ["after a sleep"] * 5
    assert [(row["kind"], row["shares"].get("R@10")) for row in rows[:5]] == [
        ("category 1", 1.0), ("category 1", 1.0), ("category 2", 0.5), ("category 2", 0.0), ("adversarial", None)
    ]  # fmt: skip
    assert (rows[0]["conversation"], rows[0]["question"], rows[0]["found"][0]) == ("one", "apple?", "D1:1")
    assert (rows[2]["evidence"], rows[4]["evidence"]) == (["D1:2", "D2:1"], None)
    assert rows[0]["confidence"] > rows[4]["confidence"]
    told = result["after_sleep"]
    assert (told["ahead"], result["without"]) == (0, {})
    assert (told["compared"]["R@10"]["mean"], told["compared"]["R@10"]["difference"]) == (0.625, NOTHING)
    assert any(line.startswith("summaries before a source") for line in lines(result))


def test_interruption_keeps_what_was_asked(bench: Ask, one: str, found: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recall = Bank.recall

    def interrupted(bank: Bank, query: str, **how: Any) -> Any:
        if query == "birch?":
            raise KeyboardInterrupt
        return recall(bank, query, **how)

    monkeypatch.setattr(Bank, "recall", interrupted)
    assert bench("locomo", one, "--questions", str(found)).code != 0
    assert [row["question"] for row in written(found)] == ["apple?", "telescope?"]


@pytest.mark.slow
def test_each_arm_and_feature_is_switched_off_in_turn(bench: Ask, one: str, found: Path) -> None:
    result = bench("locomo", one, "--ablate", "--questions", str(found), "--json").json
    told, shown = result["without"], list(lines(result))
    assert any(line.startswith("arm text: ") and "R@10 0.000 -0.625 [" in line for line in shown)
    assert any("feature agent" in line for line in shown)
    assert set(told) == {f"arm {arm}: {features}" for arm, features in ARMS.items()} | {
        f"feature {feature}" for feature in POLICIES["hybrid"].weights if feature not in ALONE
    }
    # There are no vectors: without the text arm nothing is found, and no other part matters.
    (name, of), *rest = told.items()
    assert name == "arm text: lexical, cover, phrase, quoted, thin"
    assert means(of) == {"R@10": 0.0, "session R@5": 0.0, "answerable": 0.5}
    lost = {name: share["difference"]["mean"] for name, share in of.items()}
    assert lost == {"R@10": -0.625, "session R@5": -0.625, "answerable": -0.375}
    assert of["R@10"]["difference"]["to"] < 0
    assert all(share["difference"] == NOTHING for _, shares in rest for share in shares.values())
    assert len(written(found)) == 5 * (1 + len(told))


@pytest.mark.slow
def test_fit_of_one_conversation_is_tried_on_another(bench: Ask, tmp_path: Path, found: Path) -> None:
    file = conversations.locomo(tmp_path, *(conversations.contrary_talk(name) for name in ("one", "two", "three")))
    told = bench("locomo", file, "--leave-one-out", "--questions", str(found), "--json").json["leave_one_out"]
    assert told["own"] == {**NOTHING, "spread": 0.0}
    for column in ("fitted", "fresh"):
        assert told[column]["mean"] == told[column]["difference"]["mean"] == 1.0
    own = POLICIES["hybrid"].weights
    for of in told["conversations"].values():
        fitted, fresh = of["weights"]["fitted"], of["weights"]["fresh"]
        assert (of["own"], of["fitted"], of["fresh"]) == (0.0, 1.0, 1.0)
        assert fitted.keys() == fresh.keys() == own.keys()
        assert fitted["author"] < 0 < own["author"]
        # A fit does not change features that no conversation shows.
        for feature in ("date", "agent", "rule", "fact"):
            assert (fitted[feature], fresh[feature]) == (own[feature], 0)
    ways = Counter(row["way"] for row in written(found))
    names = ("everything on", "fitted on the others", "fitted on the others from nothing")
    assert ways == dict.fromkeys(names, 18)


@pytest.mark.slow
def test_left_out_conversation_teaches_nothing(bench: Ask, tmp_path: Path) -> None:
    """Two of a kind and one of another: each is recalled with weights from the others, not with its own."""
    talks = [conversations.contrary_talk("one"), conversations.small_talk("two"), conversations.small_talk("three")]
    result = bench("locomo", conversations.locomo(tmp_path, *talks), "--leave-one-out", "--json").json
    told = result["leave_one_out"]["conversations"]
    assert told["one"]["fitted"] == 0.0
    assert told["one"]["weights"]["fitted"]["author"] > 0 > told["two"]["weights"]["fitted"]["author"]
    assert told["two"]["weights"] == told["three"]["weights"]
    shown = list(lines(result))
    assert "model: none" in shown
    assert "arm dense was left out: no embedder is set" in shown
    assert any(line.startswith("category 1 ") and "  R@5 0." in line for line in shown)
    assert any(line.split()[:3] == ["one", "0.000", "0.000"] for line in shown)
    assert any("fitted - own" in line for line in shown)


REFUSED = {
    ("--questions", "nowhere/found"): "cannot be written",
    ("--policy", "nonsense"): "expected one of hybrid",
    ("--policy", "decay", "--leave-one-out"): "product(feature ** weight)",
    ("--limit", "1", "--leave-one-out"): "needs two conversations",
    ("--sleep", "--leave-one-out"): "one of them at a time",
}


def test_wrong_options_are_refused_at_once(bench: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Bank, "remember_many", lambda *_: pytest.fail("it began all the same"))
    file = conversations.locomo(tmp_path, conversations.small_talk("one"), conversations.small_talk("two"))
    for options, says in REFUSED.items():
        assert says in bench("locomo", file, *options).failed(2)


@pytest.mark.slow
def test_recall_is_timed_against_its_embedding(bench: Ask, one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    told = bench("locomo", one, "--json").json
    of = told["recall"]
    assert of["times"] == pytest.approx(of["ms"] / of["embedding_ms"], rel=0.02)
    assert any("times as long as embedding" in line for line in lines(told))


@pytest.mark.slow
def test_nothing_is_measured_without_all_vectors(bench: Ask, one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "server:none")
    monkeypatch.setenv("PIERIA_EMBEDDER_URL", "http://127.0.0.1:9/v1")
    answer = bench("locomo", one)
    assert (answer.out, "cannot be reached" in answer.failed(4)) == ("", True)


def test_other_files_are_refused(bench: Ask, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for held, says in (
        ("{}", "is not a file of LoCoMo"),
        ("[", "cannot be read as JSON"),
        (json.dumps([conversations.talk("one", [[]], [])]), "no question there names any evidence"),
    ):
        file.write_text(held)
        assert says in bench("locomo", str(file)).failed(2)
    assert "cannot be read as JSON" in bench("locomo", str(tmp_path / "nowhere")).err
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert "is not a folder of BEAM" in bench("beam", str(folder)).failed(2)


@pytest.mark.parametrize(
    "how", [pytest.param((), marks=pytest.mark.slow), ("--undated",)], ids=["dated", "by the tool"]
)
def test_rooms_of_the_wing_asked_are_found(bench: Ask, tmp_path: Path, found: Path, how: tuple[str, ...]) -> None:
    file = conversations.locomo(tmp_path, conversations.small_talk("one"), conversations.contrary_talk("two"))
    told = bench("rooms", file, *how, "--questions", str(found), "--json").json
    assert told["kinds"]["all"]["questions"] == 4 + len(conversations.TOPICS)
    # Both rooms of two questions, one of the two that the third needs, none of the fourth.
    rows = written(found)
    assert [row["shares"]["rooms"] for row in rows if row["conversation"] == "one"] == [1.0, 1.0, 0.5, 0.0]
    assert all(set(row["rooms"]) <= {"session_1", "session_2"} for row in rows if row["conversation"] == "one")
    assert told["conversations"]["one"] == 0.625
    # Thirteen rooms mention each topic alike: the wanted one is among them, but not among the first.
    assert {row["shares"]["rooms"] for row in rows if row["conversation"] == "two"} == {1.0}
    assert told["kinds"]["all"]["rooms R@10"]["mean"] < told["kinds"]["all"]["rooms"]["mean"]
    assert told["by_conversation"]["mean"] == told["kinds"]["all"]["rooms R@10"]["mean"]
    assert next(room_lines(told)).split()[:2] == ["all", str(4 + len(conversations.TOPICS))]


def test_limit_of_rooms_takes_the_first_conversations(bench: Ask, tmp_path: Path) -> None:
    file = conversations.locomo(tmp_path, conversations.small_talk("one"), conversations.small_talk("two"))
    told = bench("rooms", file, "--limit", "1", "--json").json
    assert told["conversations"] == {"one": 0.625}
    assert {told["kinds"]["all"][name]["mean"] for name in ("rooms R@5", "rooms R@10", "rooms")} == {0.625}
