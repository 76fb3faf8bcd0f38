"""`python -m benchmarks locomo` and `beam` on conversations with figures known in advance, by words alone."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks import finding
from tests.cli.conftest import Ask

from benchmarks import datasets
from benchmarks.findings import lines
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


def means(told: dict[str, Any]) -> dict[str, float]:
    return {name: of["mean"] for name, of in told.items() if name != "questions"}


def shares(at_each: float, of_sessions: float | None = None) -> dict[str, float]:
    found = {"R@5": at_each, "R@10": at_each, "R@20": at_each}
    return found if of_sessions is None else found | {"session R@5": of_sessions, "session R@10": of_sessions}


def written(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_locomo_counts_turns_and_sessions(bench: Ask, tmp_path: Path) -> None:
    file = finding.locomo(tmp_path, finding.small_talk("one"), finding.small_talk("two"))
    told = bench("locomo", file, "--json").json
    kinds = told["kinds"]
    assert {kind: of["questions"] for kind, of in kinds.items()} == {"all": 8, "category 1": 4, "category 2": 4}
    # All of two questions, half of the third, nothing of the fourth.
    assert means(kinds["all"]) == shares(0.625, 0.625)
    assert means(kinds["category 1"]) == shares(1.0, 1.0)
    assert means(kinds["category 2"]) == shares(0.25, 0.25)
    assert kinds["category 1"]["R@10"] == {"mean": 1.0, "from": 1.0, "to": 1.0}
    assert 0.25 <= kinds["all"]["R@10"]["from"] < 0.625 < kinds["all"]["R@10"]["to"] <= 1.0
    # Three of four score above the question without an answer; the fourth has no known word and ties with it.
    assert told["answerable"]["mean"] == 0.875
    assert told["conversations"] == {"R@10": {"one": 0.625, "two": 0.625}, "spread": 0.0}
    assert told["model"] is None
    assert told["left_out"] == {"dense": "no embedder is set", "window": "no embedder is set"}
    assert (told["without"], told["leave_one_out"]) == ({}, None)
    assert told["recall"]["ms"] > 0
    assert told["recall"]["times"] is None


def test_beam_counts_exchanges(bench: Ask, tmp_path: Path) -> None:
    folder = finding.beam(tmp_path, "10", "9")
    told = bench("beam", folder, "--json").json
    assert {kind: of["questions"] for kind, of in told["kinds"].items()} == {"all": 6, "ordering": 2, "recalling": 4}
    # The reply that is evidence is in the exchange that is found; of the two exchanges to be ordered one is found.
    assert means(told["kinds"]["recalling"]) == shares(0.5)
    assert means(told["kinds"]["ordering"]) == shares(0.5)
    assert told["answerable"]["mean"] == pytest.approx((1 + 1 + 0.5) / 3, abs=1e-4)
    assert told["conversations"]["R@10"] == {"9": 0.5, "10": 0.5}


def test_beam_is_read_as_it_was_said(tmp_path: Path) -> None:
    (chat,) = datasets.beam(Path(finding.beam(tmp_path, "1")))
    assert [item["text"] for item in chat.said[:4]] == ["apple", "noted", "copper", "fine"]
    assert [item["author_type"] for item in chat.said[:3]] == ["human", "agent", "human"]
    assert {item["session"] for item in chat.said} == {"batch 1", "batch 2"}
    assert [chat.piece_of[id] for id in ("0", "1", "2", "3", "10")] == ["0", "0", "1", "1", "2"]
    assert {(one.kind, one.evidence) for one in chat.asked} == {
        ("abstention", None),
        ("ordering", frozenset({"1", "3"})),
        ("recalling", frozenset({"1"})),
        ("recalling", frozenset({"0"})),
    }


def test_each_question_is_written_with_its_hits(bench: Ask, tmp_path: Path) -> None:
    file = finding.locomo(tmp_path, finding.small_talk("one"))
    assert bench("locomo", file, "--questions", str(tmp_path / "found"), "--limit", "1").code == 0
    rows = written(tmp_path / "found")
    assert [(row["kind"], row["shares"].get("R@10")) for row in rows] == [
        ("category 1", 1.0), ("category 1", 1.0), ("category 2", 0.5), ("category 2", 0.0), ("adversarial", None)
    ]  # fmt: skip
    assert {(row["way"], row["conversation"]) for row in rows} == {("everything on", "one")}
    assert rows[0]["question"] == "apple?"
    assert rows[0]["found"][0] == "D1:1"
    assert (rows[2]["evidence"], rows[4]["evidence"]) == (["D1:2", "D2:1"], None)
    assert rows[0]["confidence"] > rows[4]["confidence"]


def test_interruption_keeps_earlier_questions(bench: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recall, asked = Bank.recall, []

    def interrupted(bank: Bank, query: str, **how: Any) -> Any:
        if query == "birch?":
            raise KeyboardInterrupt
        asked.append(query)
        return recall(bank, query, **how)

    monkeypatch.setattr(Bank, "recall", interrupted)
    file = finding.locomo(tmp_path, finding.small_talk("one"))
    assert bench("locomo", file, "--questions", str(tmp_path / "found")).code != 0
    kept = [row["question"] for row in written(tmp_path / "found")]
    assert kept == list(dict.fromkeys(asked))[-2:] == ["apple?", "telescope?"]


@pytest.mark.slow
def test_each_arm_and_feature_is_switched_off_in_turn(bench: Ask, tmp_path: Path) -> None:
    file = finding.locomo(tmp_path, finding.small_talk("one"))
    found = tmp_path / "found"
    result = bench("locomo", file, "--ablate", "--questions", str(found), "--json").json
    told = result["without"]
    shown = list(lines(result))
    assert any(line.startswith("arm text: ") and "R@10 0.000 -0.625 [" in line for line in shown)
    assert any("feature agent" in line for line in shown)
    with_weight = POLICIES["hybrid"].weights
    assert set(told) == {f"arm {arm}: {features}" for arm, features in ARMS.items()} | {
        f"feature {feature}" for feature in with_weight if feature not in ALONE
    }
    # There are no vectors: without the text arm nothing is found, and no other part matters.
    first, *rest = told.items()
    assert first[0] == "arm text: lexical, cover, phrase, quoted, thin"
    assert {name: of["mean"] for name, of in first[1].items()} == {"R@10": 0.0, "session R@5": 0.0, "answerable": 0.5}
    lost = {name: of["difference"]["mean"] for name, of in first[1].items()}
    assert lost == {"R@10": -0.625, "session R@5": -0.625, "answerable": -0.375}
    assert first[1]["R@10"]["difference"]["to"] < 0
    nothing = {"mean": 0.0, "from": 0.0, "to": 0.0}
    assert all(share["difference"] == nothing for _, shares in rest for share in shares.values())
    assert len(written(found)) == 5 * (1 + len(told))


def test_after_a_sleep_everything_is_asked_again(bench: Ask, tmp_path: Path) -> None:
    file = finding.locomo(tmp_path, finding.small_talk("one"))
    found = tmp_path / "found"
    result = bench("locomo", file, "--sleep", "--questions", str(found), "--json").json
    told = result["after_sleep"]
    assert told["ahead"] == 0
    assert told["compared"]["R@10"]["mean"] == 0.625
    assert told["compared"]["R@10"]["difference"] == {"mean": 0.0, "from": 0.0, "to": 0.0}
    assert result["without"] == {}
    assert [row["way"] for row in written(found)] == ["everything on"] * 5 + ["after a sleep"] * 5
    assert any(line.startswith("summaries before a source") for line in lines(result))


@pytest.mark.slow
def test_fit_of_one_conversation_is_tried_on_another(bench: Ask, tmp_path: Path) -> None:
    file = finding.locomo(tmp_path, *(finding.contrary_talk(name) for name in ("one", "two", "three")))
    found = tmp_path / "found"
    told = bench("locomo", file, "--leave-one-out", "--questions", str(found), "--json").json["leave_one_out"]
    assert told["own"] == {"mean": 0.0, "from": 0.0, "to": 0.0, "spread": 0.0}
    for column in ("fitted", "fresh"):
        assert told[column]["mean"] == told[column]["difference"]["mean"] == 1.0
    own = POLICIES["hybrid"].weights
    for of in told["conversations"].values():
        assert (of["own"], of["fitted"], of["fresh"]) == (0.0, 1.0, 1.0)
        assert of["weights"]["fitted"].keys() == of["weights"]["fresh"].keys() == own.keys()
        assert of["weights"]["fitted"]["author"] < 0 < own["author"]
        # A fit does not change features that no conversation shows.
        for feature in ("date", "agent", "rule", "fact"):
            assert of["weights"]["fitted"][feature] == own[feature]
            assert of["weights"]["fresh"][feature] == 0
    ways = [row["way"] for row in written(found)]
    assert {way: ways.count(way) for way in ways} == {
        "everything on": 18, "fitted on the others": 18, "fitted on the others from nothing": 18
    }  # fmt: skip


@pytest.mark.slow
def test_left_out_conversation_teaches_nothing(bench: Ask, tmp_path: Path) -> None:
    """Two of a kind and one of another: each is recalled with weights from the others, not with its own."""
    talks = [finding.contrary_talk("one"), finding.small_talk("two"), finding.small_talk("three")]
    result = bench("locomo", finding.locomo(tmp_path, *talks), "--leave-one-out", "--json").json
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
    file = finding.locomo(tmp_path, finding.small_talk("one"), finding.small_talk("two"))
    for options, says in REFUSED.items():
        answer = bench("locomo", file, *options)
        assert answer.code == 2
        assert says in " ".join(answer.err.split())


@pytest.mark.slow
def test_recall_is_timed_against_its_embedding(bench: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    told = bench("locomo", finding.locomo(tmp_path, finding.small_talk("one")), "--json").json
    of = told["recall"]
    assert of["times"] == pytest.approx(of["ms"] / of["embedding_ms"], rel=0.02)
    assert any("times as long as embedding" in line for line in lines(told))


@pytest.mark.slow
def test_nothing_is_measured_without_all_vectors(bench: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "server:none")
    monkeypatch.setenv("PIERIA_EMBEDDER_URL", "http://127.0.0.1:9/v1")
    answer = bench("locomo", finding.locomo(tmp_path, finding.small_talk("one")))
    assert (answer.code, answer.out) == (4, "")
    assert "cannot be reached" in answer.err


def test_other_files_are_refused(bench: Ask, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for held, says in (
        ("{}", "is not a file of LoCoMo"),
        ("[", "cannot be read as JSON"),
        (json.dumps([finding.talk("one", [[]], [])]), "no question there names any evidence"),
    ):
        file.write_text(held)
        answer = bench("locomo", str(file))
        assert answer.code == 2
        assert says in " ".join(answer.err.split())
    assert "cannot be read as JSON" in bench("locomo", str(tmp_path / "nowhere")).err
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert "is not a folder of BEAM" in " ".join(bench("beam", str(folder)).err.split())
