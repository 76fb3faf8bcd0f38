"""Later pages of a recall: the reasons of the first, room for the many that were shown, a first page that was late."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.recall.answer import Recall
from pieria.recall.arms import ARMS
from pieria.recall.candidates import LATE
from pieria.recall.walk import Pins, Walk, walk_of


class HandClock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 23, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.Workspace(data=tmp_path, settings={"durability": "off"}, clock=clock) as workspace:
        yield workspace.open("notes")


def test_a_fact_speaks_for_a_memory_on_every_page(bank: Bank) -> None:
    made = bank.remember_many([{"text": f"Maya saw heron number {n}.", "id": f"m{n}"} for n in range(60)])
    for memory in made:
        bank.facts.add("Maya", "saw", f"heron {memory.id}", memory=memory.id)
    page = bank.recall("Where is Maya?", k=20)
    hits = [*page]
    while page.cursor is not None:
        page = bank.recall("Where is Maya?", k=7, cursor=page.cursor)
        hits += page
    assert len(hits) == 60
    assert {hit.why.get("fact") for hit in hits} == {0.5}


def test_a_fact_that_no_longer_holds_speaks_for_nothing(bank: Bank) -> None:
    memory = bank.remember("Maya works on billing.")
    bank.facts.add("Maya", "works_on", "billing", valid_until="2021-01-01", memory=memory.id)
    assert "fact" not in bank.recall("What does Maya do?")[0].why
    then = bank.recall("What does Maya do?", valid_at="2020-06-01")[0]
    assert then.why["fact"] > 0


def test_yesterday_is_the_day_before_the_first_page(bank: Bank, clock: HandClock) -> None:
    for n in range(12):
        bank.remember(f"Heron number {n}.", at="2026-03-01T12:00:00Z")
    first = bank.recall("heron yesterday", k=6)
    clock.now += timedelta(days=3)
    second = bank.recall("heron yesterday", k=6, cursor=first.cursor)
    assert [hit.why["then"] for hit in (*first, *second)] == [1.0] * 12


def test_a_cursor_has_room_for_all_that_was_shown_at_once(bank: Bank) -> None:
    pins = Pins(0, (("notes", 1),), 1_000_000, 20_000_000, (5, 7))
    rows = tuple(range(17, 1_000_000, 97))[:10_400]
    scattered = sorted(rows, key=lambda row: row * 7_919 % 1_000_003)
    walk = Walk("mark", pins, "everything", tuple(scattered), tuple(scattered[-400:]))
    again = walk_of(walk.cursor(), "mark", 2, ["notes"])
    assert set(again.passed) == set(rows)
    assert again.listed == walk.listed


def test_a_first_page_that_is_late_leaves_everything_else_to_the_next(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.remember_many([{"text": f"A heron, number {n}."} for n in range(300)])
    for module in ("recall.gathering", "recall.page", "recall.search"):
        monkeypatch.setattr(f"pieria.{module}.perf_counter", lambda: 1e12)
    first = bank.recall("heron", k=250, deadline_ms=50, min_score=0.0)
    monkeypatch.undo()
    assert first.plan["arms"].keys() == {"text"}
    assert first.plan["left_out"]["further"] == LATE
    assert 0 < len(first) < 250
    found = [hit.memory.id for hit in first]
    page = first
    while page.cursor is not None:
        page = bank.recall("heron", k=100, cursor=page.cursor)
        found += [hit.memory.id for hit in page]
    assert len(found) == len(set(found)) == 300


def test_what_is_quoted_stands_before_what_holds_the_words_apart(bank: Bank) -> None:
    bank.remember("The heron nests by the mill, and by the river there is a stork.", id="apart")
    bank.remember("On the river by the mill a heron was seen where it nests.", id="other")
    bank.remember("Somebody saw herons. Mill by the river, that is what it was called.", id="verbatim")
    quoted = bank.recall('heron nests "mill by the river"')
    assert quoted[0].memory.id == "verbatim"
    assert [hit.why.get("quoted") for hit in quoted] == [1.0, None, None]
    assert all("quoted" not in hit.why for hit in bank.recall("heron nests mill by the river"))


def test_a_quote_is_held_word_after_word_and_may_be_of_idle_words(bank: Bank) -> None:
    bank.remember("The red blue flag flew. A blue green bird sat.", id="scattered")
    bank.remember("The red blue green flag flew.", id="verbatim")
    bank.remember("To be, or not to be.", id="idle")
    assert [hit.memory.id for hit in bank.recall('who said "red blue green"?') if "quoted" in hit.why] == ["verbatim"]
    assert bank.recall('who wrote "to be or not to be" in Hamlet?')[0].memory.id == "idle"


def test_a_first_page_by_a_least_score_leaves_the_unlikely_to_the_next(bank: Bank) -> None:
    bank.remember_many([{"text": f"Heron number {n} of many.", "id": f"m{n}"} for n in range(600)])
    best = bank.recall("heron", k=1)[0].score
    first = bank.recall("heron", k=10, min_score=min(1.0, best + 0.01))
    assert not first
    assert first.cursor is not None
    [text] = first.plan["arms"]["text"]["banks"].values()
    assert text["candidates"] < 600
    assert "next page" in first.plan["left_out"]["further"]
    page = first
    while page.cursor is not None:
        page = bank.recall("heron", k=10, min_score=min(1.0, best + 0.01), cursor=page.cursor)
        assert not page


def test_the_plan_tells_how_candidates_were_chosen_and_which_copies_came_later(bank: Bank) -> None:
    copy = "Heron, heron, heron: the same words once more, in a text that is long enough to be folded."
    bank.remember_many([{"text": copy, "id": f"c{n}"} for n in range(80)])
    bank.remember("A heron, besides.", id="other")
    pages = [bank.recall("heron", k=30)]
    while pages[-1].cursor is not None:
        pages.append(bank.recall("heron", k=30, cursor=pages[-1].cursor))
    shown = [hit.memory.id for page in pages for hit in page]
    folded = {id for page in pages for of in page.plan["folded"].values() for id in of}
    assert set(shown) | folded == {*(f"c{n}" for n in range(80)), "other"}
    assert len(shown) < 10
    assert pages[0].plan["arms"]["text"]["candidates"] > 0


SAID = "We chose JWT for all the new heron APIs and rotate the keys on a daily basis, said the team."


def walked(bank: Bank, question: str, k: int, **asked: Any) -> list[Recall]:
    pages = [bank.recall(question, k=k, **asked)]
    while pages[-1].cursor is not None:
        pages.append(bank.recall(question, k=k, cursor=pages[-1].cursor, **asked))
    return pages


def test_copies_are_folded_whatever_their_labels(bank: Bank) -> None:
    bank.remember(SAID, author="a", tags=["x"], id="one")
    bank.remember(SAID, author="a", tags=["y", "z"], id="two")
    found = bank.recall("JWT keys")
    assert len(found) == 1
    assert found.plan["folded"] == {found[0].memory.id: [{"one": "two", "two": "one"}[found[0].memory.id]]}


def test_what_stands_for_copies_is_shown_itself(bank: Bank) -> None:
    others = [
        {"text": f"heron number {n} sits in the reeds beside the old mill and waits for fish", "id": f"m{n}"}
        for n in range(20)
    ]
    copies = [{"text": SAID, "id": f"c{n}", "importance": 0.95 if n == 35 else 0.1} for n in range(40)]
    bank.remember_many([{**item, "author": "x"} for item in copies + others])
    pages = walked(bank, "heron JWT", 6)
    shown = [hit.memory.id for page in pages for hit in page]
    told = {id: of for page in pages for id, of in page.plan["folded"].items()}
    assert len(shown) == len(set(shown)) == 21
    assert set(told) <= set(shown)
    assert "c35" in shown


def test_a_copy_that_scores_too_little_stands_for_none(bank: Bank) -> None:
    bank.remember_many(
        [{"text": SAID, "id": f"c{n}", "author": "x", "importance": 1.0 if n < 20 else 0.0} for n in range(80)]
    )
    best = max(hit.score for page in walked(bank, "heron JWT keys", 3) for hit in page)
    pages = walked(bank, "heron JWT keys", 3, min_score=best - 0.001)
    shown = {hit.memory.id for page in pages for hit in page}
    told = {id for page in pages for id in page.plan["folded"]}
    assert len(shown) == 1
    assert told <= shown


def letters(texts: list[str]) -> list[list[float]]:
    return [[text.count(letter) + 0.1 for letter in "0123456789"] for text in texts]


def test_without_words_a_walk_ends_where_all_that_was_found_is_shown(tmp_path: Path) -> None:
    turns = [
        {"text": f"heron {n}", "kind": "turn", "session": f"s{n % 120}", "at": f"2026-01-01T00:00:{n // 120:02d}Z"}
        for n in range(1_200)
    ]
    off = dict.fromkeys(ARMS["text"].features, 0.0)
    with pieria.Workspace(data=tmp_path, settings={"durability": "off"}, embedder=letters) as workspace:
        bank = workspace.open("letters")
        bank.remember_many(turns)
        pages = walked(bank, "heron 7", 170, weights=off)
    assert len({hit.memory.id for page in pages for hit in page}) == 1_200


# --- only what answers


def test_only_what_answers_comes_where_that_is_asked_for(bank: Bank) -> None:
    bank.remember("The heron nests by the mill, on the old chimney.", id="answer")
    bank.remember_many([{"text": f"A chimney is swept, {n}."} for n in range(30)])
    question = "on which chimney does the heron nest by the mill?"
    assert len(bank.recall(question)) == 10
    found = bank.recall(question, min_confidence=0.5)
    assert [hit.memory.id for hit in found] == ["answer"]
    assert [hit.memory.id for page in walked(bank, question, 3, min_confidence=0.5) for hit in page] == ["answer"]


def test_nothing_comes_where_nothing_answers(bank: Bank) -> None:
    bank.remember_many([{"text": f"A chimney is swept, {n}."} for n in range(30)])
    question = "which heron nests on the chimney of the mill?"
    sure = bank.recall(question).confidence
    assert 0 < sure < 0.5
    found = bank.recall(question, min_confidence=0.5)
    assert (list(found), found.cursor, found.confidence) == ([], None, sure)
    assert found.plan["left_out"]["hits"] == "the confidence is below 0.5"
    assert len(bank.recall(question, min_confidence=sure)) == 10
