"""Recall finds the right memory, filters filter, weights weigh, and an answer has a confidence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Host, Refused, requirement

from pieria.recall.answer import Hit
from pieria.toolsets import Banks
from pieria.toolsets.mnemosyne.variety import with_room
from pieria.workspace import Workspace

CAT, PAY = "The cat sleeps on the radiator.", "Invoices are paid on Fridays."


def by_subject(texts: list[str]) -> list[list[float]]:
    """Return vectors by subject: two known ones, and a third for all other texts."""
    cats, money = ("cat", "feline", "resting", "kitten"), ("invoice", "paid", "wages")
    found = []
    for text in texts:
        low = text.lower()
        found.append([float(any(word in low for word in words)) + 0.01 for words in (cats, money)])
        found[-1].append(1.0 if sum(found[-1]) < 1 else 0.01)
    return found


@pytest.fixture
def models() -> dict[str, Any]:
    return {"embedder": by_subject}


@pytest.fixture
def two(ask: Ask, host: Host) -> None:
    for content in (CAT, PAY):
        ask("mnemosyne_remember", content=content)
    host.bank.sync(20)


def texts(reply: Any) -> list[str]:
    return [hit["content"] for hit in reply["results"]]


@requirement("recall.paraphrase", "recall.confidence")
@pytest.mark.usefixtures("two")
def test_paraphrase_is_found_and_other_questions_are_unsure(ask: Ask) -> None:
    assert texts(ask("mnemosyne_recall", query="feline resting"))[0] == CAT
    sure = ask("mnemosyne_recall", query="does the cat sleep on the radiator?")["confidence"]
    unsure = ask("mnemosyne_recall", query="submarine warranty")["confidence"]
    assert unsure < 0.3 < 0.7 < sure
    assert ask("mnemosyne_recall", query="submarine warranty")["count"] == 2, (
        "with a model the nearest are worth a look"
    )


@requirement("recall.explained", "recall.weights", "recall.only_reads", "recall.empty")
@pytest.mark.usefixtures("two")
def test_hits_are_explained_by_weights_and_recall_writes_nothing(ask: Ask, refused: Refused, host: Host) -> None:
    [plain, *_] = ask("mnemosyne_recall", query="cat radiator", fts_weight=0.5)["results"]
    reply = ask("mnemosyne_recall", query="cat radiator", fts_weight=0.5, why=True)
    [hit, *_] = reply["results"]
    worth = sum(reply["weights"][name] * value for name, value in hit["why"].items())
    assert hit["score"] == pytest.approx(worth, abs=1e-5)
    assert hit.keys() - plain.keys() == {"why"}
    assert (plain["fts_score"], plain["dense_score"]) == (hit["why"]["lexical"], hit["why"].get("dense", 0.0))
    before = host.bank.changes()
    reply = ask("mnemosyne_recall", query="cat", fts_weight=0.3, why=True)
    assert reply["policy"] == "weighted"
    assert reply["weights"] == pytest.approx({"dense": 0.5, "lexical": 0.3, "importance": 0.2})
    assert ask("mnemosyne_recall", query="cat", why=True)["policy"] == "hybrid"
    none = ask("mnemosyne_recall", query="cat", vec_weight=0, fts_weight=0, importance_weight=0)
    assert "weights" not in none and "vec_weight: all three weights are 0" in none["warnings"][0]
    explained = ask("mnemosyne_recall", query="cat radiator", explain=True, temporal_weight=0.5)
    assert "why" in explained["results"][0] and "temporal_weight" in explained["warnings"][-1]
    empty = ask("mnemosyne_recall", query=" ")
    assert (empty["count"], empty["confidence"], empty["warnings"][0][:6]) == (0, 0.0, "query:")
    assert host.bank.changes() == before


@requirement("recall.top_k")
def test_hits_are_no_more_than_asked_for(ask: Ask, refused: Refused) -> None:
    for number in range(8):
        ask("mnemosyne_remember", content=f"Invoice {number} was paid.")
    for more, count in (({}, 5), ({"top_k": 2}, 2), ({"limit": 7}, 7)):
        assert ask("mnemosyne_recall", query="invoice", **more)["count"] == count
    for wrong in (0, 51, -1, "abc", 2.5, None):
        error = refused("mnemosyne_recall", query="x", top_k=wrong)["error"]
        assert (error["parameter"], "1 to 50" in error["expected"]) == ("top_k", True)


@requirement("recall.filters")
def test_filters_let_nothing_else_through(ask: Ask, host: Host) -> None:
    for author, type, channel in (("maya", "human", "money"), ("bot", "agent", "robots")):
        said = {"content": f"Invoices, says {author}.", "author_id": author, "author_type": type, "channel_id": channel}
        ask("mnemosyne_remember", **said)
    ask("mnemosyne_remember", at=host.having(session="tuesday"), content=PAY, scope="session", author_id="maya")
    for name, value in (("author_id", "maya"), ("author_type", "human"), ("channel_id", "money")):
        assert texts(ask("mnemosyne_recall", query="invoices", **{name: value})) == ["Invoices, says maya."]
    assert texts(ask("mnemosyne_recall", query="invoices", author_id="nobody")) == []


@requirement("recall.weights")
@pytest.mark.parametrize("models", [{}])
def test_words_find_where_vectors_are_missing(ask: Ask) -> None:
    ask("mnemosyne_remember", content=PAY)
    reply = ask("mnemosyne_recall", query="invoices", vec_weight=1, fts_weight=0)
    assert texts(reply) == [PAY]
    assert any("vec_weight" in warning for warning in reply["warnings"])


@requirement("recall.truncated", "recall.everybody_s")
def test_hits_say_their_kind_and_that_they_are_cut(ask: Ask, host: Host) -> None:
    long = "Invoices. " * 1_000
    ask("mnemosyne_remember", content=long)
    ask("mnemosyne_remember", content=PAY)
    hits = ask("mnemosyne_recall", query="invoices")["results"]
    [cut] = [hit for hit in hits if "truncated" in hit]
    assert (len(cut["content"]), cut["length"], "Invoices" in cut["snippet"]) == (8_000, len(long), True)
    assert sorted(len(hit["content"]) for hit in hits) == [len(PAY), 8_000]
    host.bank.remember("A turn about wages.", kind="turn", author="Maya")
    hit = ask("mnemosyne_recall", query="wages")["results"][0]
    assert (hit["kind"], hit["tier"], hit["scope"]) == ("turn", "working", "global")


@requirement("recall.variables")
@pytest.mark.usefixtures("two")
def test_weights_default_to_variables_of_the_original(ask: Ask, host: Host, tmp_path: Path) -> None:
    environ = {"MNEMOSYNE_VEC_WEIGHT": "0.1", "MNEMOSYNE_FTS_WEIGHT": "-2", "MNEMOSYNE_IMPORTANCE_WEIGHT": "0.3"}
    banks = Banks(Workspace(tmp_path / "data", embedder=by_subject, environ=environ), "test")
    there = Host(banks, "notes", "monday", host.paths)
    reply = ask("mnemosyne_recall", at=there, query="cat")
    assert reply["weights"] == pytest.approx({"dense": 0.25, "lexical": 0.0, "importance": 0.75})
    assert reply["warnings"][0] == "MNEMOSYNE_FTS_WEIGHT: -2.0 counts as 0."
    reply = ask("mnemosyne_recall", at=there, query="cat", fts_weight=0.6)
    assert reply["weights"] == pytest.approx({"dense": 0.1, "lexical": 0.6, "importance": 0.3})
    environ["MNEMOSYNE_FTS_WEIGHT"] = "much"
    banks.close()
    banks = Banks(Workspace(tmp_path / "data", embedder=by_subject, environ=environ), "test")
    reply = ask("mnemosyne_recall", at=Host(banks, "notes", "monday", host.paths), query="cat")
    assert reply["warnings"][0] == "MNEMOSYNE_FTS_WEIGHT: expected a number, so it has no effect."
    banks.close()


@requirement("recall.weights")
@pytest.mark.usefixtures("two")
def test_negative_weight_counts_as_nothing(ask: Ask) -> None:
    reply = ask("mnemosyne_recall", query="cat", vec_weight=-0.5, fts_weight=1, importance_weight=0.5)
    assert reply["weights"] == pytest.approx({"dense": 0.0, "lexical": 2 / 3, "importance": 1 / 3})
    assert reply["warnings"][0] == "vec_weight: -0.5 counts as 0."


LISTED = "Crane rental check {}: the harbour crew oiled both winches, tested every brake and signed the sheet."


@requirement("recall.variety")
@pytest.mark.parametrize("settings", [{"embedder": "hashing"}])
@pytest.mark.parametrize("models", [{}])
def test_near_copies_leave_room_for_other_hits(ask: Ask, host: Host) -> None:
    harbour = "The harbour office answers requests about the crane rental by letter."
    ask("mnemosyne_remember", content=harbour)
    for number in range(9):
        ask("mnemosyne_remember", content=LISTED.format(number))
    host.bank.sync(20)
    for weights in ({}, {"fts_weight": 0.3}):
        reply = ask("mnemosyne_recall", query="harbour crane rental check", top_k=4, **weights)
        assert (reply["count"], texts(reply).index(harbour)) == (4, 2)


@requirement("recall.variety")
def test_only_copies_that_add_nothing_go_behind(host: Host) -> None:
    hit = Hit(host.bank.remember(CAT), 0.5, {}, CAT)

    def ordered(question: str, *others: float) -> list[tuple[str, float]]:
        copies = [replace(hit, memory=replace(hit.memory, text=LISTED.format(number)), score=0.9) for number in "1234"]
        further = [replace(hit, memory=replace(hit.memory, text=f"Note {one}."), score=one) for one in others]
        return [(one.memory.text[19:20], one.score) for one in with_room(copies, question, lambda: further)]

    assert ordered("crane checks", 0.8, 0.5) == [("1", 0.9), ("2", 0.9), ("", 0.8), ("3", 0.8)]
    assert ordered("crane checks", 0.6) == [("1", 0.9), ("2", 0.9), ("3", 0.9), ("4", 0.9)], "it is far behind"
    assert ordered("crane check 4", 0.8) == [("1", 0.9), ("2", 0.9), ("4", 0.9), ("", 0.8)]
