"""Recall: pages that fit together despite writes between them, cursors, and a true plan."""

import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.bank.recall_pages import embedding, fill, ids, numbered, shown, walk
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.errors import InputError, NewerVersionError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.recall.arms import ARMS
from pieria.recall.candidates import LATE
from pieria.recall.query import CONSIDERED, TERMS_LIMIT
from pieria.recall.walk import LISTED, Pins, Walk, walk_of
from pieria.record.cursor import parts_of, written
from pieria.store.rows import terms_of

__all__ = ["embedding"]

WORDS = ("heron", "stork", "crane", "egret", "bittern", "ibis")
QUESTION = "heron stork crane nobody"
PARTS = 13


def texts(number: int, seed: int = 1) -> Iterator[str]:
    """Yield texts of many lengths and mixtures. Nearly all match the question a little."""
    drawn = random.Random(seed)
    for n in range(number):
        filler = [f"filler{drawn.randrange(40)}" for _ in range(drawn.randrange(12))]
        yield " ".join([drawn.choice(WORDS[:3]), *drawn.choices(WORDS, k=drawn.randrange(6)), *filler, f"number{n}"])


def mixed(bank: Bank, number: int) -> Bank:
    bank.remember_many([{"text": text, "id": f"m{n}"} for n, text in enumerate(texts(number))])
    return bank


def words(number: int) -> list[str]:
    """Return made-up words that are one term each."""
    return [f"b{one}{two}o" for one in "aeiouybcdfghjklmnpqrstvwxz" for two in "bcdfghjklmnprtvwxzaeiouy"][:number]


def writer(bank: Bank, pages: int = 10) -> Callable[[int], None]:
    """Return a function that makes words common, adds better answers and removes good ones after the first pages."""
    drawn = random.Random(3)
    living = [memory.id for memory in bank.list(limit=10_000, scope="bank")]

    def write(page: int) -> None:
        if page > pages:
            return
        bank.remember_many([{"text": text} for text in [*texts(40, page), "heron stork crane"]])
        for _ in range(3):
            bank.remove(living.pop(drawn.randrange(len(living))))
            bank.update(drawn.choice(living), text="heron stork crane, and everything changed")
            bank.invalidate(living.pop(drawn.randrange(len(living))))
        bank.remember("heron crane of the user", scope="user")

    return write


# --- a walk sees one bank


@pytest.mark.parametrize(
    ("k", "size", "first"), [(1, 30, 1), (7, 120, 1), (100, 300, 1), pytest.param(30, 1_500, 2, marks=pytest.mark.slow)]
)
def test_writes_between_pages_change_no_page(bank: Bank, k: int, size: int, first: int) -> None:
    mixed(bank, size)
    quiet = walk(bank, QUESTION, k)
    write = writer(bank, 18 if size > CONSIDERED else 4)
    pages = walk(bank, QUESTION, k, lambda page: write(page) if page >= first else None)
    assert shown(pages) == shown(quiet)
    assert set(shown(pages)) == {f"m{n}" for n in range(size)}
    scores = {hit.memory.id: hit.score for page in quiet for hit in page}
    assert all(hit.score == pytest.approx(scores[hit.memory.id]) for page in pages for hit in page)
    assert len({page.confidence for page in [*quiet, *pages]}) == 1


@pytest.mark.parametrize(("k", "size"), [(400, 1_300), (401, 1_300), pytest.param(50, 3_000, marks=pytest.mark.slow)])
def test_walk_beyond_one_look_up_misses_and_repeats_nothing(bank: Bank, k: int, size: int) -> None:
    mixed(bank, size)
    before = {memory.id: memory.text for memory in bank.list(limit=10_000)}
    pages = walk(bank, QUESTION, k, writer(bank, 12))
    assert sorted(shown(pages)) == sorted(before)
    assert all(hit.memory.text == before[hit.memory.id] for page in pages for hit in page)
    assert all(len(page) == k for page in pages[:-1])


def test_walk_misses_no_candidate_that_a_cursor_cannot_list(opened: Callable[..., Bank]) -> None:
    """Every arm brings candidates, and each candidate brings its neighbours."""
    bank = opened(embedder="hashing")
    said = [f"heron {WORDS[number % 5]} of the {WORDS[number % 3]} {number}" for number in range(900)]
    bank.remember_many([{"text": text, "kind": "turn", "session": f"s{n // 20}"} for n, text in enumerate(said)])
    pages = walk(bank, QUESTION, 200)
    assert pages[0].plan["arms"]["context"]["candidates"] > 200 + LISTED
    assert len(shown(pages)) == len(set(shown(pages))) == len(said)


def test_page_sees_the_moment_of_the_first(bank: Bank, clock: HandClock) -> None:
    """Later pages ignore expiry and start of validity since the first page."""
    for n in range(20):
        bank.remember(f"heron {n}", valid_until="2026-03-02")
        bank.remember(f"heron {n}", valid_from="2026-03-02")
    pages = walk(bank, QUESTION, 8, lambda page: clock.move(days=2))
    assert len(shown(pages)) == len(set(shown(pages))) == 20
    # A known time to come lets no later writes in.
    mixed(bank, 30)
    expected = len(bank.recall(QUESTION, k=100, known_at="2030-01-01"))
    pages = walk(bank, QUESTION, 10, writer(bank, 4), known_at="2030-01-01")
    assert len(shown(pages)) == len(set(shown(pages))) == expected


def test_purged_memories_are_missing_and_shift_nothing(bank: Bank) -> None:
    mixed(bank, 200)
    expected = shown(walk(bank, QUESTION, 20))
    gone = expected[45:126:20]
    found = walk(bank, QUESTION, 20, lambda page: bank.purge(gone[page - 1]) if page <= len(gone) else None)
    assert shown(found) == [id for id in expected if id not in gone]


def test_walk_may_change_its_pace(bank: Bank) -> None:
    mixed(bank, 1_200)
    page = bank.recall(QUESTION, k=5)
    found = ids(page)
    for k in (1, 300, 2, 10_000):
        page = bank.recall(QUESTION, k=k, cursor=page.cursor)
        found += ids(page)
    assert page.cursor is None
    assert len(found) == len(set(found)) == 1_200


def test_walk_goes_through_both_banks(bank: Bank) -> None:
    mixed(bank, 60)
    expected = shown(walk(bank, QUESTION, 25))
    # The user's bank was empty at the first page.
    assert shown(walk(bank, QUESTION, 25, lambda page: bank.remember("heron stork", scope="user"))) == expected
    for text in texts(60, 9):
        bank.remember(text, scope="user")
    expected = shown(walk(bank, QUESTION, 25))
    assert shown(walk(bank, QUESTION, 25, writer(bank))) == expected
    assert len(expected) == len(set(expected)) == 122


def test_pages_keep_to_a_least_score(bank: Bank) -> None:
    mixed(bank, 600)
    every = bank.recall(QUESTION, k=600)
    for least in (0.0, every[0].score, every[25].score, 1.0):
        found = bank.recall(QUESTION, k=600, min_score=least)
        assert ids(found) == [hit.memory.id for hit in every if hit.score >= least]
        assert found.cursor is None
    least = every[299].score
    quiet = shown(walk(bank, QUESTION, 40, min_score=least))
    pages = walk(bank, QUESTION, 40, writer(bank, 4), min_score=least)
    assert all(hit.score >= least for page in pages for hit in page)
    assert 100 < len(quiet) < 500
    assert shown(pages) == quiet


def test_first_page_by_a_least_score_leaves_the_unlikely(bank: Bank) -> None:
    numbered(bank, 600, "Heron number {} of many.")
    least = min(1.0, bank.recall("heron", k=1)[0].score + 0.01)
    pages = walk(bank, "heron", 10, min_score=least)
    assert len(pages) > 1 and shown(pages) == []
    assert pages[0].plan["arms"]["text"]["banks"]["notes"]["candidates"] < 600
    assert "next page" in pages[0].plan["left_out"]["further"]


# --- cursors


def first_cursor(bank: Bank) -> str:
    return str(bank.recall(QUESTION, k=2).cursor)


def refused(bank: Bank, cursor: Any, question: str = QUESTION, **asked: Any) -> None:
    with pytest.raises(InputError) as raised:
        bank.recall(question, k=2, cursor=cursor, **asked)
    assert raised.value.parameter == "cursor"
    assert raised.value.hint


def test_cursor_belongs_to_its_question_and_bank(bank: Bank, opened: Callable[..., Bank]) -> None:
    other = mixed(opened("other"), 10)
    cursor = first_cursor(mixed(bank, 10))
    refused(bank, cursor, "another question")
    refused(other, cursor)
    for garbled in (bank.list(limit=1).cursor, cursor[:-1], cursor + "x", "x", "é\0", "W10"):
        refused(bank, garbled)
    others: list[dict[str, Any]] = [
        {"kinds": "note"}, {"scope": "bank"}, {"min_score": 0.1}, {"time_zone": "UTC"}, {"weights": {"dense": 0.1}},
        {"policy": "decay"}, {"policy": "similarity"}, {"policy": lambda why: why.get("recency", 0.0)},
    ]  # fmt: skip
    for asked in others:
        refused(bank, cursor, **asked)
        own = bank.recall(QUESTION, k=2, **asked).cursor
        refused(bank, own)
        assert len(bank.recall(QUESTION, k=2, cursor=own, **asked)) == 2
    assert len(bank.recall(QUESTION, k=3, cursor=cursor)) == 3


WRONG: dict[int, list[Any]] = {
    0: ["", None, 5],
    1: [None, 0.5, 2**63, True],
    2: [[], None, [["notes"]], [["other", 1]], [["notes", 2**61]], [["notes", -1]], [["notes", 1]] * 2, "x"],
    3: [-1, 1.5, None, 2**60],
    4: [-1, "1", None],
    5: [[], [1], [1, 2, 3, "4"], [1, 2, 3, -2], None, {"a": 1}],
    6: [-0.1, 1.1, None, "x", False],
    7: [-1, 9, None, "wide"],
    8: [[0], [-1], [1.5], None, [1] * 401, [2**53, 2**53]],
    9: [[0], [5, 5], None, [2**60], "x", [1] * 401],
    10: [[], [0], [0, 0, 1], [1, 0, -1], [-2, 0, -1], [0, 1, -1], [0, 0, -1, 0], ["a", 0, -1], "abc"],
    11: [None, [[1, 0.5]], [[10**9, 0.5, 0.5]], [["1", 0.5, None]], {"1": 0.5}, [7], "abc"],
    12: [-0.1, 1.1, None, "x"],
}


def test_every_part_of_a_cursor_is_checked(bank: Bank, parts: list[Any]) -> None:
    for part, values in WRONG.items():
        for value in values:
            refused(bank, written([*parts[:part], value, *parts[part + 1 :]]))
    refused(bank, written(parts[:-1]))


@pytest.fixture
def parts(bank: Bank) -> list[Any]:
    """Return the parts of the cursor of a bank with ten memories, and one of another session."""
    mixed(bank, 10)
    bank.remember("heron of another session", session="s2", scope="session")
    return parts_of(first_cursor(bank), "a cursor", PARTS)


def test_forged_cursor_shows_nothing_hidden(bank: Bank, parts: list[Any]) -> None:
    hidden = bank.remember("heron stork", session="s2", scope="session", id="hidden")
    forged = written([*parts[:9], [hidden.row, 1, 2], *parts[10:]])
    assert ids(bank.recall(QUESTION, k=3, cursor=forged)) == ["m0", "m1"]


# --- behind their sources


def test_derived_memory_ranks_behind_its_source(bank: Bank) -> None:
    source = bank.remember("A heron met a stork by the river, and late at night they spoke of fish.", kind="drawer")
    other = bank.remember("A crane.", kind="drawer")
    derived = bank.remember("heron stork", kind="semantic")
    free = bank.remember("heron stork river")
    # A source that hardly answers, and a link of another kind, change nothing.
    bank.link(derived.id, other.id, "provenance")
    bank.link(derived.id, source.id, "related")
    found = bank.recall("heron stork")
    assert (ids(found)[0], found.plan["behind_sources"]) == (derived.id, [])
    then = bank.changes(last=1)[0].at
    bank.link(derived.id, source.id, "provenance")
    found = bank.recall("heron stork")
    assert ids(found)[:3] == [free.id, source.id, derived.id]
    assert found.plan["behind_sources"] == [derived.id]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    past = bank.recall("heron stork", known_at=then)
    assert (ids(past)[0], past.plan["behind_sources"]) == (derived.id, [])


def test_what_repeats_a_turn_comes_after_all_others(bank: Bank) -> None:
    turn = bank.remember("A heron met a stork by the river.", kind="turn")
    note = bank.remember("The heron met a stork.", kind="observation")
    summary = bank.remember("heron and stork", kind="summary")
    bank.link(note.id, turn.id, "provenance")
    bank.link(summary.id, note.id, "provenance")
    further = bank.remember("Where herons live there is a river, some trees and hardly a stork.")
    found = bank.recall("heron stork")
    assert sorted(ids(found), key=[turn.id, further.id, note.id, summary.id].index) == ids(found)
    assert set(found.plan["behind_sources"]) <= {note.id, summary.id}


def test_rules_do_not_move_up_where_repetitions_move_back(bank: Bank) -> None:
    turns = [bank.remember(f"A letter about herons{' and mills' * n}.", kind="turn") for n in range(6)]
    for turn in turns[:4]:
        note = bank.remember(f"{turn.text} For the herons.", kind="observation")
        bank.link(note.id, turn.id, "provenance")
    rule = bank.remember("Never use abbreviations.")
    found = bank.recall("Write a letter about herons and mills for me.", weights={"rule": 0.01})
    assert found.plan["kept_for_rules"] == [rule.id] and len(found.plan["behind_sources"]) > 2
    assert ids(found).index(rule.id) == 7


def test_derived_memories_of_the_bank_and_user_stand_behind(bank: Bank) -> None:
    source = bank.remember("A crane, and once a heron.", kind="drawer")
    other = bank.remember("Snow lies on the mill.", kind="drawer")
    summary = bank.remember("heron stork crane: a heron met a stork", kind="summary")
    for end in (source, other):
        bank.link(summary.id, end.id, "provenance")
    found = ids(bank.recall("heron stork crane"))
    assert found[0] == source.id and summary.id in found
    source = bank.remember("An egret met an ibis by the river, late in the evening.", scope="user")
    derived = bank.remember("egret ibis", scope="user", kind="semantic")
    bank.link(derived.id, source.id, "provenance")
    found = ids(bank.recall("egret ibis", k=3))
    assert found.index(source.id) < found.index(derived.id)


# --- long questions


def test_rarest_terms_of_a_long_question_are_looked_up(bank: Bank) -> None:
    common = words(TERMS_LIMIT)
    bank.remember_many([{"text": " ".join(common)}] * 3)
    needle = bank.remember("egret " + " ".join(common))
    found = bank.recall(" ".join([*common, "unknown", "egret"]))
    assert found[0].memory.id == needle.id
    terms, left = found.plan["arms"]["text"]["terms"], found.plan["truncated"]["terms"]
    assert {"egret", "unknown"} <= set(terms) and len(terms) == TERMS_LIMIT + 1
    assert left["left_out"] == len(left["among_them"]) == 1
    assert left["among_them"][0] not in terms
    found = bank.recall(" ".join(["egret", *words(CONSIDERED + 50)]))
    assert found.plan["truncated"]["terms"]["left_out"] == 52
    assert needle.id in ids(found)


def test_writes_change_no_page_of_a_long_question(bank: Bank) -> None:
    mixed(bank, 100)
    question = " ".join(f"number{n}" for n in range(80)) + " heron"
    expected = shown(walk(bank, question, 20))
    assert shown(walk(bank, question, 20, writer(bank))) == expected


# --- what is asked, and what the plan says

BAD: dict[str, tuple[Any, ...]] = {
    "deadline_ms": (0, -1, 600_001, 1.5, "1", True, math.nan),
    "budget_tokens": (0, -5, 10_000_001, 2.0, "9", False),
    "time_zone": ("Mars",),
}


def test_arguments_out_of_bounds_are_refused(bank: Bank) -> None:
    for parameter, values in BAD.items():
        for value in values:
            with pytest.raises(InputError) as raised:
                bank.recall(**{"query": "heron", parameter: value})
            assert raised.value.parameter == parameter
    bounds = {"k": (1, 10_000), "deadline_ms": (1, 600_000), "budget_tokens": (1, 10_000_000)}
    for parameter, values in bounds.items():
        for value in values:
            assert bank.recall(**{"query": "heron", parameter: value}).plan["page"] == "first"  # type: ignore[arg-type]


def test_plan_says_what_was_done(bank: Bank) -> None:
    mixed(bank, 1_300)
    pages = walk(bank, QUESTION, 100)
    plan = pages[0].plan
    arm = plan["arms"]["text"]
    assert arm["terms"] == QUESTION.split()
    assert 0 < arm["ms"] <= plan["ms"]
    [told] = arm["banks"].values()
    assert (set(told["looked_up"]), told["cut"], told["exact"]) == ({*WORDS[:3]}, [], False)
    assert 40 <= told["candidates"] < 1_300
    assert {feature for told in plan["arms"].values() for feature in told["features"]} <= plan["weights"].keys()
    assert plan["left_out"] == dict.fromkeys(("dense", "window"), "no embedder is set")
    assert (plan["page"], plan["policy"], plan["truncated"]) == ("first", "hybrid", {})
    assert json.loads(json.dumps(plan)) == plan
    assert {page.plan["page"] for page in pages[1:]} == {"next"}
    for whole in (pages[-1], bank.recall(QUESTION, k=2_000)):
        told = whole.plan["arms"]["text"]["banks"]["notes"]
        assert (told["candidates"], told["exact"]) == (1_300, True)
    first = first_cursor(bank)
    listed = bank.recall(QUESTION, k=2, cursor=first)
    assert listed.plan["arms"]["text"]["banks"] == {}
    assert len(first) < 400
    assert len(str(listed.cursor)) < 2_048


def test_terms_cut_for_their_number_are_named(opened: Callable[..., Bank]) -> None:
    bank = opened(text_budget=150)
    bank.remember_many([{"text": f"heron stork {n}"} for n in range(800)])
    bank.remember_many([{"text": f"heron crane {n}"} for n in range(120)])
    told = bank.recall("heron crane", k=1).plan["arms"]["text"]["banks"]["notes"]
    assert (told["looked_up"], told["cut"], told["exact"]) == (["crane"], ["heron"], False)
    found = shown(walk(bank, "heron crane", 100))
    assert len(set(found)) == len(found) == 920


def test_index_of_a_newer_analyser_is_not_searched(bank: Bank, opened: Callable[..., Bank]) -> None:
    bank.remember("herons nest here", id="m")
    newer = ANALYSER_VERSION + 1
    opened().core.store.reindex(terms_of, newer)
    with pytest.raises(NewerVersionError, match=f"analyser {newer}") as refused:
        bank.recall("herons")
    assert "Upgrade" in str(refused.value.hint)
    assert bank.get("m") is not None and len(bank.list()) == 1


# --- what later pages keep of the first

SAID = "We chose JWT for all the new heron APIs and rotate the keys on a daily basis, said the team."


def test_fact_speaks_for_a_memory_on_every_page_while_valid(bank: Bank) -> None:
    numbered(bank, 60, "Maya saw heron number {}.")
    for n in range(60):
        bank.facts.add("Maya", "saw", f"heron m{n}", memory=f"m{n}", valid_until="2096-01-01")
    pages = walk(bank, "Where is Maya?", 20)
    assert [hit.why.get("fact") for page in pages for hit in page] == [0.5] * 60
    assert not any("fact" in hit.why for hit in bank.recall("Where is Maya?", valid_at="2097-01-01"))


def test_yesterday_is_the_day_before_the_first_page(bank: Bank, clock: HandClock) -> None:
    numbered(bank, 12, "Heron number {}.", at="2026-02-28T12:00:00Z")
    pages = walk(bank, "heron yesterday", 6, lambda page: clock.move(days=3))
    assert [hit.why["then"] for page in pages for hit in page] == [1.0] * 12


def test_cursor_has_room_for_all_that_was_shown_at_once() -> None:
    pins = Pins(0, (("notes", 1),), 1_000_000, 20_000_000, (5, 7))
    rows = sorted(range(17, 1_000_000, 97), key=lambda row: row * 7_919 % 1_000_003)[:10_400]
    cut = Walk("mark", pins, "everything", tuple(rows), tuple(rows[-400:]))
    again = walk_of(cut.cursor(), "mark", 2, ["notes"])
    assert set(again.passed) == set(rows)
    assert again.listed == cut.listed


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
    [(kept, folded)] = found.plan["folded"].items()
    assert (kept, {kept, *folded}) == (found[0].memory.id, {"first", "second"})
    numbered(bank, 300, "Heron, heron, heron: the same words in a text that is long enough to fold.", "c")
    numbered(bank, 300, "One more heron, {}.", "o")
    pages = walk(bank, "heron", 50)
    folded = {id for page in pages for of in page.plan["folded"].values() for id in of}
    assert sorted(id for id in shown(pages) if id.startswith("o")) == sorted(f"o{n}" for n in range(300))
    assert sum(id.startswith("c") for id in shown(pages)) == 1
    assert {*shown(pages)} | folded >= {f"c{n}" for n in range(300)}


def test_memory_that_stands_for_copies_is_shown_itself(bank: Bank) -> None:
    numbered(bank, 20, "heron number {} sits in the reeds beside the old mill and waits for fish", author="x")
    copies = [{"text": SAID, "id": f"c{n}", "author": "x", "importance": 0.1} for n in range(40)]
    fill(bank, *copies[:35], copies[35] | {"importance": 0.95}, *copies[36:])
    pages = walk(bank, "heron JWT", 6)
    assert len(shown(pages)) == len(set(shown(pages))) == 21
    assert {id for page in pages for id in page.plan["folded"]} <= {*shown(pages)}
    assert "c35" in shown(pages)
    # A copy that scores too little stands for none.
    best = max(hit.score for page in walk(bank, "JWT keys", 3) for hit in page)
    pages = walk(bank, "JWT keys", 3, min_score=best - 0.001)
    assert shown(pages) == ["c35"]
    assert {id for page in pages for id in page.plan["folded"]} <= {"c35"}


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
