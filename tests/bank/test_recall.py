"""Recall: pages that fit together despite writes between them, order behind sources, and a true plan."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pieria
from pieria.bank import Bank
from pieria.errors import InputError, NewerVersionError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.recall.answer import Recall
from pieria.recall.query import CONSIDERED, TERMS_LIMIT
from pieria.recall.walk import LISTED
from pieria.record.cursor import parts_of, written
from pieria.store.rows import terms_of

WORDS = ("heron", "stork", "crane", "egret", "bittern", "ibis")
QUESTION = "heron stork crane nobody"
PARTS = 12


class HandClock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def opened(tmp_path: Path, clock: HandClock) -> Iterator[Callable[..., Bank]]:
    with pieria.Workspace(data=tmp_path / "data", settings={"durability": "off"}, clock=clock) as workspace:
        yield workspace.open


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return opened("notes")


def texts(number: int, seed: int = 1) -> Iterator[str]:
    """Yield texts of many lengths and mixtures. Nearly all match the question a little."""
    drawn = random.Random(seed)
    for n in range(number):
        filler = [f"filler{drawn.randrange(40)}" for _ in range(drawn.randrange(12))]
        yield " ".join([drawn.choice(WORDS[:3]), *drawn.choices(WORDS, k=drawn.randrange(6)), *filler, f"number{n}"])


def fill(bank: Bank, number: int, **values: Any) -> list[str]:
    items = [{"text": text, "id": f"m{n}", **values} for n, text in enumerate(texts(number))]
    return [memory.id for memory in bank.remember_many(items)]


def words(number: int, first: str = "b") -> list[str]:
    """Return made-up words that are one term each."""
    return [f"{first}{one}{two}o" for one in "aeiouybcdfghjklmnpqrstvwxz" for two in "bcdfghjklmnprtvwxzaeiouy"][
        :number
    ]


def ids(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found]


def walk(bank: Bank, k: int, between: Callable[[int], object] = lambda page: None, **asked: Any) -> list[Recall]:
    pages = [bank.recall(QUESTION, k=k, **asked)]
    while pages[-1].cursor is not None:
        between(len(pages))
        assert len(pages[-1].cursor) < 2_500
        pages.append(bank.recall(QUESTION, k=k, cursor=pages[-1].cursor, **asked))
    return pages


def shown(pages: list[Recall]) -> list[str]:
    return [id for page in pages for id in ids(page)]


def writer(bank: Bank) -> Callable[[int], None]:
    """Return a function that changes ranks: it makes words common, adds better answers and removes good ones."""
    drawn = random.Random(3)
    living = [memory.id for memory in bank.list(limit=10_000, scope="bank")]

    def write(page: int) -> None:
        bank.remember_many([{"text": text} for text in texts(40, page)])
        bank.remember("heron stork crane")
        for _ in range(5):
            bank.remove(living.pop(drawn.randrange(len(living))))
            bank.update(drawn.choice(living), text="heron stork crane, and everything changed")
            bank.invalidate(living.pop(drawn.randrange(len(living))))
        bank.remember("heron crane of the user", scope="user")

    return write


# --- a walk sees one bank


@pytest.mark.parametrize(("k", "size"), [(1, 120), (7, 300), (10, 300), (100, 300)])
def test_pages_are_the_same_whatever_is_written_between(bank: Bank, k: int, size: int) -> None:
    known = set(fill(bank, size))
    quiet = walk(bank, k)
    write = writer(bank)
    pages = walk(bank, k, lambda page: write(page) if page <= 10 else None)
    assert shown(pages) == shown(quiet)
    assert set(shown(pages)) == known
    scores = {hit.memory.id: hit.score for page in quiet for hit in page}
    assert all(hit.score == pytest.approx(scores[hit.memory.id]) for page in pages for hit in page)
    assert len({page.confidence for page in [*quiet, *pages]}) == 1


@pytest.mark.parametrize("k", [pytest.param(50, marks=pytest.mark.slow), 400, 401, 1_000])
def test_a_walk_through_more_than_any_look_up_holds_misses_and_repeats_nothing(bank: Bank, k: int) -> None:
    known = set(fill(bank, 3_000))
    before = {memory.id: memory.text for memory in bank.list(limit=10_000)}
    write = writer(bank)
    pages = walk(bank, k, lambda page: write(page) if page <= 12 else None)
    found = shown(pages)
    assert len(found) == len(set(found))
    assert set(found) == known
    assert all(hit.memory.text == before[hit.memory.id] for page in pages for hit in page)
    assert all(len(page) == k for page in pages[:-1])


def test_a_walk_misses_nothing_of_more_candidates_than_a_cursor_lists(tmp_path: Path) -> None:
    """Every arm brings candidates, and each candidate brings its neighbours."""
    settings = {"durability": "off", "embedder": "hashing"}
    with pieria.open("notes", data=tmp_path, settings=settings) as bank:
        said = [f"heron {WORDS[number % 5]} of the {WORDS[number % 3]} {number}" for number in range(1_500)]
        bank.remember_many(
            [{"text": text, "kind": "turn", "session": f"s{number // 20}"} for number, text in enumerate(said)]
        )
        first = bank.recall(QUESTION, k=200)
        assert first.plan["arms"]["context"]["candidates"] > 200 + LISTED
        found = shown(walk(bank, 200))
        assert len(found) == len(set(found)) == len(said)


@pytest.mark.slow
def test_a_quiet_walk_and_a_written_through_one_are_the_same(bank: Bank) -> None:
    fill(bank, 1_500)
    quiet = shown(walk(bank, 30))
    write = writer(bank)
    first = bank.recall(QUESTION, k=30)
    second = bank.recall(QUESTION, k=30, cursor=first.cursor)
    found = [*ids(first), *ids(second)]
    following = second
    while following.cursor is not None:
        if len(found) < 600:
            write(len(found))
        following = bank.recall(QUESTION, k=30, cursor=following.cursor)
        found += ids(following)
    assert found == quiet


def test_a_page_sees_the_moment_of_the_first(bank: Bank, clock: HandClock) -> None:
    """Later pages ignore expiry and start of validity since the first page."""
    for n in range(20):
        bank.remember(f"heron {n}", valid_until="2026-03-02")
        bank.remember(f"heron {n}", valid_from="2026-03-02")
    pages = walk(bank, 8, lambda page: setattr(clock, "now", clock.now + timedelta(days=2)))
    assert len(shown(pages)) == len(set(shown(pages))) == 20


@pytest.mark.slow
def test_what_was_purged_since_is_missing_and_shifts_nothing(bank: Bank) -> None:
    fill(bank, 1_300)
    expected = shown(walk(bank, 20))
    gone: list[str] = []

    def purge(page: int) -> None:
        if page <= 5:
            gone.append(expected[page * 20 + 25])
            bank.purge(gone[-1])

    assert shown(walk(bank, 20, purge)) == [id for id in expected if id not in gone]


def test_a_walk_may_change_its_pace(bank: Bank) -> None:
    fill(bank, 1_200)
    page = bank.recall(QUESTION, k=5)
    found = ids(page)
    for k in (1, 300, 2, 10_000):
        assert page.cursor is not None
        page = bank.recall(QUESTION, k=k, cursor=page.cursor)
        found += ids(page)
    assert page.cursor is None
    assert len(found) == len(set(found)) == 1_200


def test_a_walk_goes_through_both_banks(bank: Bank) -> None:
    fill(bank, 150)
    for text in texts(150, 9):
        bank.remember(text, scope="user")
    expected = shown(walk(bank, 25))
    write = writer(bank)
    assert shown(walk(bank, 25, lambda page: write(page) if page <= 10 else None)) == expected
    assert len(expected) == len(set(expected)) == 300


def test_a_users_bank_that_came_since_had_nothing_to_say(bank: Bank) -> None:
    fill(bank, 30)
    expected = shown(walk(bank, 10))
    pages = walk(bank, 10, lambda page: bank.remember("heron stork", scope="user"))
    assert shown(pages) == expected


def test_a_known_time_to_come_lets_no_later_writes_in(bank: Bank) -> None:
    fill(bank, 30)
    write = writer(bank)
    pages = walk(bank, 10, lambda page: write(page) if page < 5 else None, known_at="2030-01-01")
    assert len(shown(pages)) == len(set(shown(pages))) == 30


def test_pages_keep_to_a_least_score(bank: Bank) -> None:
    fill(bank, 600)
    least = bank.recall(QUESTION, k=600)[299].score
    quiet = shown(walk(bank, 40, min_score=least))
    write = writer(bank)
    pages = walk(bank, 40, lambda page: write(page) if page < 5 else None, min_score=least)
    assert all(hit.score >= least for page in pages for hit in page)
    assert 100 < len(quiet) < 500
    assert shown(pages) == quiet


# --- cursors


def first_cursor(bank: Bank, **asked: Any) -> str:
    cursor = bank.recall(QUESTION, k=2, **asked).cursor
    assert cursor is not None
    return cursor


def refused(bank: Bank, cursor: Any, question: str = QUESTION, **asked: Any) -> None:
    with pytest.raises(InputError) as raised:
        bank.recall(question, k=2, cursor=cursor, **asked)
    assert raised.value.parameter == "cursor"
    assert raised.value.hint


def test_a_cursor_belongs_to_its_question_filter_and_bank(bank: Bank, opened: Callable[..., Bank]) -> None:
    fill(bank, 10)
    other = opened("other")
    fill(other, 10)
    cursor = first_cursor(bank)
    refused(bank, cursor, "another question")
    refused(bank, cursor, kinds="note")
    refused(bank, cursor, min_score=0.1)
    refused(bank, cursor, scope="bank")
    refused(other, cursor)
    listed = bank.list(limit=1).cursor
    refused(bank, listed)
    assert len(bank.recall(QUESTION, k=3, cursor=cursor)) == 3


def test_cursors_are_short(bank: Bank) -> None:
    fill(bank, 3_000)
    first = first_cursor(bank)
    second = bank.recall(QUESTION, k=2, cursor=first).cursor
    assert len(first) < 400
    assert second is not None
    assert len(second) < 2_048


WRONG: list[tuple[int, list[Any]]] = [
    (0, ["", None, 5]),
    (1, [None, 0.5, 2**63, True]),
    (2, [[], None, [["notes"]], [["other", 1]], [["notes", 2**61]], [["notes", -1]], [["notes", 1]] * 2, "x"]),
    (3, [-1, 1.5, None, 2**60]),
    (4, [-1, "1", None]),
    (5, [[], [1], [1, 2, 3, "4"], [1, 2, 3, -2], None, {"a": 1}]),
    (6, [-0.1, 1.1, None, "x", False]),
    (7, [-1, 9, None, "wide"]),
    (8, [[0], [-1], [1.5], None, [1] * 401, [2**53, 2**53]]),
    (9, [[0], [5, 5], None, [2**60], "x", [1] * 401]),
    (10, [[], [0], [0, 0, 1], [1, 0, -1], [-2, 0, -1], [0, 1, -1], [0, 0, -1, 0], ["a", 0, -1], "abc"]),
    (11, [None, [[1, 0.5]], [[10**9, 0.5, 0.5]], [["1", 0.5, None]], {"1": 0.5}, [7], "abc"]),
]  # fmt: skip


@pytest.mark.parametrize(("part", "value"), [(part, value) for part, values in WRONG for value in values])
def test_every_part_of_a_cursor_is_checked(bank: Bank, part: int, value: Any) -> None:
    fill(bank, 10)
    parts = parts_of(first_cursor(bank), "a cursor", PARTS)
    refused(bank, written([*parts[:part], value, *parts[part + 1 :]]))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.tuples(st.integers(0, PARTS - 1), values))
def test_no_cursor_breaks_anything(bank: Bank, drawn: str | tuple[int, Any]) -> None:
    """A changed cursor is refused, or works like a valid one."""
    if not bank.count():
        fill(bank, 10)
        bank.remember("heron of another session", session="s2", scope="session")
    if isinstance(drawn, tuple):
        parts = parts_of(first_cursor(bank), "a cursor", PARTS)
        parts[drawn[0]] = drawn[1]
        drawn = written(json.loads(json.dumps(parts)))
    try:
        found = bank.recall(QUESTION, cursor=drawn)
    except InputError as error:
        assert error.parameter == "cursor"
    else:
        assert set(ids(found)) <= {f"m{n}" for n in range(10)}


def test_a_forged_cursor_shows_nothing_that_its_reader_may_not_see(bank: Bank) -> None:
    fill(bank, 10)
    hidden = bank.remember("heron stork", session="s2", scope="session", id="hidden")
    parts = parts_of(first_cursor(bank), "a cursor", PARTS)
    forged = written([*parts[:9], [hidden.row, 1, 2], *parts[10:]])
    assert ids(bank.recall(QUESTION, k=3, cursor=forged)) == ["m0", "m1"]


# --- behind their sources


def test_what_is_derived_ranks_behind_its_source(bank: Bank) -> None:
    source = bank.remember(
        "A heron met a stork by the river, late in the evening, and they spoke of fish.", kind="drawer"
    )
    derived = bank.remember("heron stork", kind="semantic")
    free = bank.remember("heron stork river")
    assert ids(bank.recall("heron stork"))[0] == derived.id
    then = bank.changes(last=1)[0].at
    bank.link(derived.id, source.id, "provenance")
    found = bank.recall("heron stork")
    assert ids(found) == [free.id, source.id, derived.id]
    assert found.plan["behind_sources"] == [derived.id]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    past = bank.recall("heron stork", known_at=then)
    assert ids(past)[0] == derived.id
    assert past.plan["behind_sources"] == []


def test_what_is_derived_stays_where_its_source_hardly_answers_or_other_links_lead(bank: Bank) -> None:
    other = bank.remember("A crane.", kind="drawer")
    related = bank.remember("A heron met a stork by the river, late in the evening.", kind="drawer")
    derived = bank.remember("heron stork", kind="semantic")
    bank.link(derived.id, other.id, "provenance")
    bank.link(derived.id, related.id, "related")
    found = bank.recall("heron stork")
    assert ids(found) == [derived.id, related.id, other.id]
    assert found.plan["behind_sources"] == []


def test_a_summary_stands_behind_whatever_it_sums_up(bank: Bank) -> None:
    source = bank.remember("A crane, and once a heron.", kind="drawer")
    other = bank.remember("Snow lies on the mill.", kind="drawer")
    summary = bank.remember("heron stork crane: a heron met a stork", kind="summary")
    for end in (source, other):
        bank.link(summary.id, end.id, "provenance")
    found = bank.recall("heron stork crane")
    assert ids(found)[0] == source.id
    assert ids(found).index(summary.id) > ids(found).index(source.id)


def test_derived_records_of_the_user_follow_the_same_rule(bank: Bank) -> None:
    source = bank.remember("A heron met a stork by the river, late in the evening.", scope="user", id="same")
    derived = bank.remember("heron stork", scope="user", kind="semantic")
    bank.remember("heron stork crane", id="here")
    bank.link(derived.id, source.id, "provenance")
    found = ids(bank.recall("heron stork", k=3))
    assert found.index(source.id) < found.index(derived.id)


# --- long questions


def test_of_a_long_question_the_rarest_terms_are_looked_up(bank: Bank) -> None:
    common = words(TERMS_LIMIT)
    bank.remember_many([{"text": " ".join(common)}] * 3)
    needle = bank.remember("egret " + " ".join(common))
    found = bank.recall(" ".join([*common, "unknown", "egret"]))
    assert found[0].memory.id == needle.id
    arm = found.plan["arms"]["text"]
    assert "egret" in arm["terms"]
    assert "unknown" in arm["terms"]
    left = found.plan["truncated"]["terms"]
    assert left["left_out"] == len(left["among_them"]) == 1
    assert left["among_them"][0] not in arm["terms"]
    assert len(arm["terms"]) == TERMS_LIMIT + 1


def test_what_is_beyond_all_bounds_is_counted(bank: Bank) -> None:
    bank.remember("heron")
    found = bank.recall(" ".join(["heron", *words(CONSIDERED + 50)]))
    assert found.plan["truncated"]["terms"]["left_out"] == 51
    assert ids(found)


def test_a_long_question_has_pages_too(bank: Bank) -> None:
    fill(bank, 200)
    question = " ".join(f"number{n}" for n in range(150)) + " heron"
    following = bank.recall(question, k=20)
    expected = ids(following)
    while following.cursor is not None:
        following = bank.recall(question, k=20, cursor=following.cursor)
        expected += ids(following)
    page = bank.recall(question, k=20)
    write = writer(bank)
    found = ids(page)
    while page.cursor is not None:
        write(len(found))
        page = bank.recall(question, k=20, cursor=page.cursor)
        found += ids(page)
    assert found == expected


def test_a_short_question_leaves_nothing_out(bank: Bank) -> None:
    fill(bank, 5)
    assert bank.recall(QUESTION).plan["truncated"] == {}


# --- what is asked, and what the plan says


@pytest.mark.parametrize("k", [0, -1, 10_001, 1.5, True, "5", None])
def test_k_has_its_bounds(bank: Bank, k: Any) -> None:
    with pytest.raises(InputError) as raised:
        bank.recall("heron", k=k)
    assert raised.value.parameter == "k"


def test_k_cuts_what_is_shown(bank: Bank) -> None:
    fill(bank, 12)
    assert [len(bank.recall(QUESTION, k=k)) for k in (1, 11, 12, 10_000)] == [1, 11, 12, 12]
    assert [bank.recall(QUESTION, k=k).cursor is None for k in (1, 11, 12, 10_000)] == [False, False, True, True]


def test_a_least_score_leaves_out_what_scores_less(bank: Bank) -> None:
    fill(bank, 50)
    every = bank.recall(QUESTION, k=50)
    for least in (0.0, every[0].score, every[25].score, 1.0):
        found = bank.recall(QUESTION, k=50, min_score=least)
        assert ids(found) == [hit.memory.id for hit in every if hit.score >= least]
        assert found.cursor is None


def test_a_scope_chooses_the_banks_that_are_asked(bank: Bank) -> None:
    bank.remember("heron of the bank", id="bank")
    bank.remember("heron of the session", id="session", scope="session", session="s")
    bank.remember("heron of the user", id="user", scope="user")

    def asked(**values: Any) -> tuple[set[str], set[str]]:
        found = bank.recall("heron", session="s" if "session" in values.get("scope", ()) else None, **values)
        return set(ids(found)), set(found.plan["arms"]["text"]["banks"])

    assert asked() == ({"bank", "user"}, {"notes", "@me"})
    assert asked(scope=["user"]) == ({"user"}, {"@me"})
    assert asked(scope="user") == ({"user"}, {"@me"})
    assert asked(scope=["bank"]) == ({"bank"}, {"notes"})
    assert asked(scope=["session"]) == ({"session"}, {"notes"})
    assert asked(scope=["bank", "user"]) == ({"bank", "user"}, {"notes", "@me"})


def test_the_plan_says_what_was_done(bank: Bank) -> None:
    fill(bank, 1_300)
    plan = bank.recall(QUESTION, k=2).plan
    arm = plan["arms"]["text"]
    assert arm["terms"] == ["heron", "stork", "crane", "nobody"]
    assert 0 < arm["ms"] <= plan["ms"]
    [told] = arm["banks"].values()
    assert set(told["looked_up"]) == {"heron", "stork", "crane"}
    assert told["cut"] == []
    assert 40 <= told["candidates"] < 1_300
    assert told["exact"] is False
    assert {feature for told in plan["arms"].values() for feature in told["features"]} <= plan["weights"].keys()
    assert plan["left_out"] == dict.fromkeys(("dense", "window"), "no embedder is set")
    assert (plan["page"], plan["policy"]) == ("first", "hybrid")
    whole = bank.recall(QUESTION, k=2_000).plan["arms"]["text"]["banks"]["notes"]
    assert (whole["candidates"], whole["exact"]) == (1_300, True)
    assert json.loads(json.dumps(plan)) == plan


def test_the_plan_of_a_later_page_says_what_that_page_did(bank: Bank) -> None:
    fill(bank, 1_300)
    first, second, third, *_, last = walk(bank, 100)
    told = [page.plan["arms"]["text"]["banks"] for page in (first, second, third, last)]
    assert [page.plan["page"] for page in (first, second, third, last)] == ["first", "next", "next", "next"]
    assert told[0]["notes"]["exact"] is False
    assert (told[3]["notes"]["candidates"], told[3]["notes"]["exact"]) == (1_300, True)
    listed = bank.recall(QUESTION, k=2, cursor=bank.recall(QUESTION, k=2).cursor)
    assert listed.plan["arms"]["text"]["banks"] == {}


def test_terms_cut_for_their_number_are_named(tmp_path: Path) -> None:
    with pieria.open("tight", data=tmp_path, settings={"durability": "off", "text_budget": 150}) as tight:
        tight.remember_many([{"text": f"heron stork {n}"} for n in range(1_000)])
        tight.remember_many([{"text": f"heron crane {n}"} for n in range(120)])
        told = tight.recall("heron crane", k=1).plan["arms"]["text"]["banks"]["tight"]
        assert (told["looked_up"], told["cut"], told["exact"]) == (["crane"], ["heron"], False)
        pages = [tight.recall("heron crane", k=100)]
        while pages[-1].cursor is not None:
            pages.append(tight.recall("heron crane", k=100, cursor=pages[-1].cursor))
        assert len(set(shown(pages))) == len(shown(pages)) == 1_120


def test_a_question_without_a_word_finds_nothing_and_says_so(bank: Bank) -> None:
    fill(bank, 3)
    for question in ("", " ", "…", "!?"):
        found = bank.recall(question)
        assert (len(found), found.confidence, found.cursor) == (0, 0.0, None)
        assert found.plan["arms"]["text"]["terms"] == []


def test_one_memory_scores_as_well_as_among_many(opened: Callable[..., Bank]) -> None:
    """A question word that no memory holds must not lower the score of the matching words."""
    small, large = opened("small"), opened("large")
    large.remember_many([{"text": f"filler words number{n} of many"} for n in range(500)])
    for bank in (small, large):
        bank.remember("The harbour fees rose in spring.")
    scores = [bank.recall("Why did harbour fees change?", k=1) for bank in (small, large)]
    assert scores[0][0].score == pytest.approx(scores[1][0].score, rel=0.25)
    assert scores[0].confidence > 0.4


# --- an index that a newer version made


def test_an_index_of_a_newer_analyser_is_not_searched_with_older_terms(opened: Callable[..., Bank]) -> None:
    bank, beside = opened("notes"), opened("notes")
    bank.remember("herons nest here", id="m")
    newer = ANALYSER_VERSION + 1
    beside.core.store.reindex(terms_of, newer)
    with pytest.raises(NewerVersionError, match=f"analyser {newer}") as refused:
        bank.recall("herons")
    assert "Upgrade" in str(refused.value.hint)
    assert bank.get("m") is not None
    assert len(bank.list()) == 1
