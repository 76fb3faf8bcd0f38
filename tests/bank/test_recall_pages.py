"""Later pages of a recall: reasons, copies and times of the first page, and a first page that was late."""

from collections.abc import Callable

import pytest
from tests.bank.recalling import embedding, fill, ids, numbered, shown, walk
from tests.contract.making import HandClock

from pieria.bank import Bank
from pieria.recall.arms import ARMS
from pieria.recall.candidates import LATE
from pieria.recall.walk import Pins, Walk, walk_of

__all__ = ["embedding"]

SAID = "We chose JWT for all the new heron APIs and rotate the keys on a daily basis, said the team."


def test_fact_speaks_for_a_memory_on_every_page(bank: Bank) -> None:
    numbered(bank, 60, "Maya saw heron number {}.")
    for n in range(60):
        bank.facts.add("Maya", "saw", f"heron m{n}", memory=f"m{n}")
    pages = walk(bank, "Where is Maya?", 20)
    assert [hit.why.get("fact") for page in pages for hit in page] == [0.5] * 60


def test_fact_that_no_longer_holds_speaks_for_nothing(bank: Bank) -> None:
    memory = bank.remember("Maya works on billing.")
    bank.facts.add("Maya", "works_on", "billing", valid_until="2021-01-01", memory=memory.id)
    assert "fact" not in bank.recall("What does Maya do?")[0].why
    assert bank.recall("What does Maya do?", valid_at="2020-06-01")[0].why["fact"] > 0


def test_yesterday_is_the_day_before_the_first_page(bank: Bank, clock: HandClock) -> None:
    numbered(bank, 12, "Heron number {}.", at="2026-02-28T12:00:00Z")
    pages = walk(bank, "heron yesterday", 6, lambda page: clock.move(days=3))
    assert [hit.why["then"] for page in pages for hit in page] == [1.0] * 12


def test_cursor_has_room_for_all_that_was_shown_at_once() -> None:
    pins = Pins(0, (("notes", 1),), 1_000_000, 20_000_000, (5, 7))
    rows = sorted(range(17, 1_000_000, 97), key=lambda row: row * 7_919 % 1_000_003)[:10_400]
    walk = Walk("mark", pins, "everything", tuple(rows), tuple(rows[-400:]))
    again = walk_of(walk.cursor(), "mark", 2, ["notes"])
    assert set(again.passed) == set(rows)
    assert again.listed == walk.listed


def test_late_first_page_leaves_the_rest_to_the_next(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered(bank, 300, "A heron, number {}.")
    for module in ("recall.candidates", "recall.page", "recall.search"):
        monkeypatch.setattr(f"pieria.{module}.perf_counter", lambda: 1e12)
    pages = walk(bank, "heron", 250, lambda page: monkeypatch.undo(), deadline_ms=50, min_score=0.0)
    assert pages[0].plan["arms"].keys() == {"text"}
    assert pages[0].plan["left_out"]["further"] == LATE
    assert 0 < len(pages[0]) < 250
    assert len(shown(pages)) == len(set(shown(pages))) == 300


def test_quoted_passage_counts_word_after_word(bank: Bank) -> None:
    fill(
        bank,
        {"id": "apart", "text": "The heron nests by the mill, and by the river there is a stork."},
        {"id": "other", "text": "On the river by the mill a heron was seen where it nests."},
        {"id": "verbatim", "text": "Somebody saw herons. Mill by the river, that is what it was called."},
        {"id": "scattered", "text": "The red blue flag flew. A blue green bird sat."},
        {"id": "colours", "text": "The red blue green flag flew."},
        {"id": "idle", "text": "To be, or not to be."},
    )
    quoted = bank.recall('heron nests "mill by the river"', k=3)
    assert ids(quoted)[0] == "verbatim"
    assert [hit.why.get("quoted") for hit in quoted] == [1.0, None, None]
    assert all("quoted" not in hit.why for hit in bank.recall("heron nests mill by the river"))
    assert [hit.memory.id for hit in bank.recall('who said "red blue green"?') if "quoted" in hit.why] == ["colours"]
    assert bank.recall('who wrote "to be or not to be" in Hamlet?')[0].memory.id == "idle"


def test_copies_are_folded_on_every_page(bank: Bank) -> None:
    bank.remember(SAID, author="a", tags=["x"], id="first")
    bank.remember(SAID, author="a", tags=["y", "z"], id="second")
    found = bank.recall("JWT keys")
    assert len(found) == 1
    assert found.plan["folded"] == {found[0].memory.id: [{"first": "second", "second": "first"}[found[0].memory.id]]}
    numbered(bank, 300, "Heron, heron, heron: the same words in a text that is long enough to fold.", "c")
    numbered(bank, 300, "One more heron, {}.", "o")
    pages = walk(bank, "heron", 50)
    folded = {id for page in pages for of in page.plan["folded"].values() for id in of}
    assert sorted(id for id in shown(pages) if id.startswith("o")) == sorted(f"o{n}" for n in range(300))
    assert sum(id.startswith("c") for id in shown(pages)) == 1
    assert {*shown(pages)} | folded >= {f"c{n}" for n in range(300)}


def test_memory_that_stands_for_copies_is_shown_itself(bank: Bank) -> None:
    others = "heron number {} sits in the reeds beside the old mill and waits for fish"
    numbered(bank, 20, others, author="x")
    fill(
        bank,
        *({"text": SAID, "id": f"c{n}", "author": "x", "importance": 0.95 if n == 35 else 0.1} for n in range(40)),
    )
    pages = walk(bank, "heron JWT", 6)
    assert len(shown(pages)) == len(set(shown(pages))) == 21
    assert {id for page in pages for id in page.plan["folded"]} <= {*shown(pages)}
    assert "c35" in shown(pages)


def test_copy_that_scores_too_little_stands_for_none(bank: Bank) -> None:
    copies = [{"text": SAID, "id": f"c{n}", "author": "x", "importance": float(n < 20)} for n in range(80)]
    fill(bank, *copies)
    best = max(hit.score for page in walk(bank, "heron JWT keys", 3) for hit in page)
    pages = walk(bank, "heron JWT keys", 3, min_score=best - 0.001)
    assert len(shown(pages)) == 1
    assert {id for page in pages for id in page.plan["folded"]} <= {*shown(pages)}


def test_walk_without_words_ends_where_all_is_shown(embedding: Callable[..., Bank]) -> None:
    def digits(texts: list[str]) -> list[list[float]]:
        return [[text.count(digit) + 0.1 for digit in "0123456789"] for text in texts]

    bank = embedding(digits)
    turns = [
        {"text": f"heron {n}", "kind": "turn", "session": f"s{n % 120}", "at": f"2026-01-01T00:00:{n // 120:02d}Z"}
        for n in range(1_200)
    ]
    bank.remember_many(turns)
    pages = walk(bank, "heron 7", 170, weights=dict.fromkeys(ARMS["text"].features, 0.0))
    assert len(set(shown(pages))) == 1_200


def test_confidence_keeps_what_does_not_answer_back(bank: Bank) -> None:
    numbered(bank, 30, "A chimney is swept, {}.")
    question = "which heron nests on the chimney of the mill?"
    sure = bank.recall(question).confidence
    assert 0 < sure < 0.5
    found = bank.recall(question, min_confidence=0.5)
    assert (list(found), found.cursor, found.confidence) == ([], None, sure)
    assert found.plan["left_out"]["hits"] == "the confidence is below 0.5"
    assert len(bank.recall(question, min_confidence=sure)) == 10
    bank.remember("The heron nests by the mill, on the old chimney.", id="answer")
    question = "on which chimney does the heron nest by the mill?"
    assert len(bank.recall(question)) == 10
    assert shown(walk(bank, question, 3, min_confidence=0.5)) == ["answer"]
