"""Recall with a reranker: the new order, the texts it gets, and failures that change nothing."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.recall_pages import ids, numbered, shown, walk
from tests.contract.store_helpers import HandClock
from tests.models.rerank_server import Answer, RerankServer, never, pairs, rerank_server, says, status

from pieria.bank import Bank
from pieria.doors.cli.memories import lacking, reasons
from pieria.doors.web.pages.recall import reasoned
from pieria.errors import CorruptError, InputError
from pieria.recall.candidates import LATE
from pieria.recall.rerank import BY_WORDS, FIRST, FOREIGN, LONGEST, OVERVIEW, combined
from pieria.recall.walk import Pins, Reranked, Walk, walk_of
from pieria.record.cursor import parts_of, written

TEXTS = [f"A heron {'and a stork ' * n}by the mill." for n in range(50)]
"""By words, shorter texts score higher. The reranker prefers longer ones."""
ALL = [f"m{n:02}" for n in range(50)]


@pytest.fixture
def serving() -> Iterator[RerankServer]:
    with rerank_server() as serving:
        serving.judge = lambda query, document: float(len(document))
        yield serving


@pytest.fixture
def reranking(serving: RerankServer) -> dict[str, Any]:
    return {"reranker": "server:m", "reranker_url": serving.address, "reranker_seconds": 20.0}


@pytest.fixture
def empty(opened: Callable[..., Bank], reranking: dict[str, Any]) -> Bank:
    return opened(**reranking)


@pytest.fixture
def bank(empty: Bank) -> Bank:
    return filled(empty)


@pytest.fixture
def plain(opened: Callable[..., Bank]) -> Bank:
    """Return the same bank without a reranker."""
    return opened()


def filled(bank: Bank) -> Bank:
    bank.remember_many([{"text": text, "id": id} for id, text in zip(ALL, TEXTS, strict=True)])
    return bank


def two_herons(bank: Bank) -> Bank:
    bank.remember_many(["A heron.", "A heron again."])
    return bank


# --- the order


def test_first_candidates_are_put_in_order_anew(bank: Bank, plain: Bank) -> None:
    before, found = plain.recall("heron", k=50), bank.recall("heron", k=50)
    assert ids(found)[0] == ids(before)[FIRST - 1]
    assert set(ids(found)[:FIRST]) == set(ids(before)[:FIRST])
    assert ids(found)[FIRST:] == ids(before)[FIRST:]
    assert [hit.score for hit in found] == [hit.score for hit in before]
    assert [hit.why.get("rerank") for hit in found] == [
        float(len(hit.memory.text)) if place < FIRST else None for place, hit in enumerate(found)
    ]
    told = found.plan["reranked"]
    assert told["ms"] > 0
    assert told | {"ms": 0} == {"model": "server:m", "candidates": FIRST, "missing": 0, "ms": 0}
    assert found.confidence == before.confidence
    assert reasons(found, found[0])[0].startswith("rerank ")
    [row] = [each for each in reasoned(found[0], found.plan["weights"]).reasons if each.feature == "rerank"]
    assert (bool(row.says), row.worth) == (True, 0)
    assert "reranked" not in before.plan and "rerank" not in before.plan["left_out"]
    assert not any("rerank" in hit.why for hit in before)


def test_one_candidate_or_none_is_not_sent(bank: Bank, serving: RerankServer) -> None:
    bank.remember("A lonely crane.")
    for question in ("crane", "pelican", ""):
        plan = bank.recall(question, k=1).plan
        assert "reranked" not in plan and "rerank" not in plan["left_out"]
    assert serving.requests == []


def check_pages(bank: Bank, plain: Bank, serving: RerankServer, k: int) -> None:
    serving.requests.clear()
    before, pages = walk(plain, "heron", k), walk(bank, "heron", k)
    found = [hit for page in pages for hit in page]
    assert sorted(shown(pages)) == ALL
    assert [[hit.score for hit in page] for page in pages] == [[hit.score for hit in page] for page in before]
    count = pages[0].plan["reranked"]["candidates"]
    assert [place for place, hit in enumerate(found) if "rerank" in hit.why] == list(range(count))
    judged = [hit.why["rerank"] for hit in found[:count]]
    assert judged == sorted((float(len(hit.memory.text)) for hit in found[:count]), reverse=True)
    assert len(serving.requests) == 1
    assert all("reranked" not in page.plan for page in pages[1:])


def test_pages_repeat_and_lose_nothing(bank: Bank, plain: Bank, serving: RerankServer) -> None:
    for k in (1, 7, 29, 30, 31):
        check_pages(bank, plain, serving, k)
    few = walk(bank, "heron", 10, budget_tokens=200)
    assert sorted(shown(few)) == ALL
    assert shown(few)[:10] == ids(bank.recall("heron", k=10))
    # A least score holds for the score of Pieria's own.
    least = plain.recall("heron", k=50)[11].score
    before, after = (walk(each, "heron", 5, min_score=least) for each in (plain, bank))
    assert sorted(shown(after)) == sorted(shown(before))
    assert min(hit.score for page in after for hit in page) >= least


def test_pages_on_a_server(served: Kept, clock: HandClock, reranking: dict[str, Any], serving: RerankServer) -> None:
    with served.opened("notes", settings=reranking, clock=clock) as bank, served.opened("notes", clock=clock) as plain:
        check_pages(filled(bank), plain, serving, 20)


def test_candidates_that_a_reply_omits_stay_behind(bank: Bank, plain: Bank, serving: RerankServer) -> None:
    before = ids(plain.recall("heron", k=50))
    serving.script = [pairs((9, 0.9), (4, 0.8))]
    found = bank.recall("heron", k=50)
    named = [before[9], before[4]]
    assert ids(found) == [*named, *(id for id in before if id not in named)]
    assert found.plan["reranked"]["missing"] == FIRST - 2
    assert ["rerank" in hit.why for hit in found[:3]] == [True, True, False]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_copies_stay_folded(bank: Bank) -> None:
    numbered(bank, 5, "Heron, heron, heron: the same words once more, in a text that is long enough to be folded.", "c")
    pages = walk(bank, "heron", 10)
    folded = {id for page in pages for copies in page.plan["folded"].values() for id in copies}
    assert sorted([*shown(pages), *folded]) == sorted([*ALL, *(f"c{n}" for n in range(5))]) and len(folded) == 4


def test_standing_rules_keep_their_places(empty: Bank, plain: Bank, serving: RerankServer) -> None:
    said = [f"A letter about herons{' and mills' * n}, and a letter about mills." for n in range(30)]
    empty.remember_many([{"text": text} for text in said])
    rules = {"short": "Never use abbreviations.", "sign": "Always sign it."}
    empty.remember_many([{"text": text, "id": id} for id, text in rules.items()])
    asked: dict[str, Any] = {"query": "Write a letter about herons and mills for me.", "weights": {"rule": 0.01}}
    before, found = plain.recall(**asked, k=20), empty.recall(**asked, k=20)
    assert before.plan["kept_for_rules"] == found.plan["kept_for_rules"] == ids(before)[7:9] == ids(found)[7:9]
    assert set(ids(found)[7:9]) == set(rules)
    assert [hit.score for hit in found] == [hit.score for hit in before]
    assert ids(found) != ids(before)
    assert not set(rules.values()) & set(serving.requests[0].documents)
    assert len(serving.requests[0].documents) == found.plan["reranked"]["candidates"]
    for question, k in ((asked["query"], 5), ("what did I write about herons and mills", 20)):
        assert plain.recall(question, k=k, weights=asked["weights"]).plan["kept_for_rules"] == []
    pages = shown(walk(empty, asked["query"], 5, weights=asked["weights"]))
    assert len(pages) == len(set(pages)) == 32
    assert pages[7:9] == ids(before)[7:9]


def test_summary_stays_behind_its_sources(empty: Bank) -> None:
    empty.remember("A heron nests by the mill.", id="source")
    empty.remember("A heron nests by the mill, as was said at length.", kind="summary", id="summary")
    empty.link("summary", "source", "provenance")
    found = empty.recall("heron mill", weights={"digest": 0})
    assert ids(found) == ["source", "summary"]
    assert found.plan["behind_sources"] == ["summary"]


# --- when it is asked


def test_only_ranking_by_relevance_is_reranked(
    bank: Bank, serving: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def why_not(question: str = "heron", **asked: Any) -> str:
        return str(bank.recall(question, **asked).plan["left_out"]["rerank"])

    for policy in ("value", "decay", "weighted", lambda why: 0.5):
        assert "does not rank by relevance" in why_not(policy=policy)
    assert why_not(by_meaning=False) == BY_WORDS
    assert why_not("Give me an overview of the heron and the stork.") == OVERVIEW
    with monkeypatch.context() as late:
        for module in ("candidates", "page", "search"):
            late.setattr(f"pieria.recall.{module}.perf_counter", lambda: 1e12)
        assert why_not(deadline_ms=60_000) == LATE
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(bank.core, "is_foreign", True)
        assert why_not() == FOREIGN
    assert serving.requests == []
    assert "reranked" in bank.recall("heron", policy="similarity").plan
    assert "heron" in bank.context("heron").text and len(serving.requests) == 2


# --- failures


FAILURES: list[tuple[Answer, str]] = [
    (status(500), "500"), (says(b"not JSON"), "not JSON"), (pairs((FIRST, 0.5)), "has a wrong index"),
    (pairs((0, None)), "no score"), (never, "did not answer within"),
]  # fmt: skip


def test_failing_reranker_changes_nothing(
    bank: Bank, plain: Bank, serving: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.models.endpoint._FIRST_PAUSE", 0.0)

    before = plain.recall("heron", k=50)
    for answer, reason in FAILURES:
        if answer is never:
            monkeypatch.setattr("pieria.bank.read.answer.SHARE", 0.005)
        serving.script = [answer] * 3
        found = bank.recall("heron", k=50, deadline_ms=20_000)
        assert [(hit.memory.id, hit.score, hit.why) for hit in found] == [
            (hit.memory.id, hit.score, hit.why) for hit in before
        ]
        assert reason in found.plan["left_out"]["rerank"]
        assert "reranked" not in found.plan
        assert f"without rerank: {found.plan['left_out']['rerank']}" in lacking(found)
    monkeypatch.undo()
    serving.script = []
    assert "reranked" in bank.recall("heron").plan


# --- what is sent


def test_sent_documents_are_the_texts_of_visible_memories(
    empty: Bank, opened: Callable[..., Bank], serving: RerankServer
) -> None:
    empty.remember("The heron left.", title="Birds of the mill", author="Maya", tags=["fauna"], meta={"by": "Omar"})
    empty.remember("A heron came. <private>The code is 4711.</private>")
    empty.remember("A secret heron.", source="evil")
    empty.remember("A removed heron.", id="gone")
    empty.remove("gone")
    opened(session="s1").remember("A heron that only one session knows.", scope="session")
    empty.quarantine(source="evil", reason="it lied")
    empty.recall("Where is the heron?")
    [request] = serving.requests
    assert request.body["query"] == "Where is the heron?"
    assert sorted(request.documents) == ["A heron came.", "Birds of the mill\nThe heron left."]


def test_long_texts_and_questions_are_cut(empty: Bank, serving: RerankServer) -> None:
    filler = "Nothing of note was seen on the river that day. " * 200
    empty.remember(f"It begins here. {filler}A heron nests by the old mill. {filler}")
    empty.remember("A heron.", title="long " * 100)
    empty.remember(f"A heron at once. {filler}")
    empty.recall("heron mill")
    documents = serving.requests[0].documents
    assert all(len(document) <= LONGEST for document in documents)
    [late] = [document for document in documents if document.startswith("It begins here.")]
    assert "A heron nests by the old mill." in late and "\n… " in late
    [early] = [document for document in documents if document.startswith("A heron at once.")]
    assert early.endswith(" …") and len(early) > LONGEST * 0.9
    empty.recall("heron \ud800 " * 2_000)
    assert len(serving.requests[1].body["query"]) == 2_000


def test_calls_are_counted_and_keep_to_the_budget(
    opened: Callable[..., Bank], reranking: dict[str, Any], serving: RerankServer
) -> None:
    bank = two_herons(opened(budget_calls_per_day=1, **reranking))
    assert "reranked" in bank.recall("heron").plan
    assert "budget_calls_per_day" in bank.recall("heron").plan["left_out"]["rerank"]
    assert len(serving.requests) == 1
    bank.core.meter.flush()
    [line] = bank.stats().models["today"]
    assert (line["step"], line["model"], line["calls"], line["input_tokens"]) == ("rerank", "server:m", 1, 7)


def test_doctor_names_the_reranker(opened: Callable[..., Bank], plain: Bank, reranking: dict[str, Any]) -> None:
    for bank, told in (
        (opened(reranker_key="hunter2", **reranking), "server:m at 127.0.0.1"),
        (plain, "none: results"),
    ):
        [detail] = [finding.detail for finding in bank.doctor().findings if finding.check == "reranker"]
        assert detail.startswith(told) and "hunter2" not in detail


def test_damaged_memory_is_named_and_not_sent(
    empty: Bank, opened: Callable[..., Bank], reranking: dict[str, Any], tmp_path: Path, serving: RerankServer
) -> None:
    [memory, *_] = two_herons(empty).list(order="oldest")
    empty.close()
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection, connection:
        connection.execute("UPDATE content SET text = 'Nobody wrote this.' WHERE row = ?", [memory.row])
    with pytest.raises(CorruptError, match=memory.id):
        opened(**reranking).recall("heron", k=1)
    assert serving.requests == []


# --- how orders are combined


def test_best_of_the_model_is_first_unless_another_is_close() -> None:
    cases: dict[tuple[float | None, ...], list[int]] = {
        (0.0, 0.1, 0.98): [2, 0, 1], (0.97, 0.1, 0.98): [0, 2, 1], (0.5, 0.5, 0.5): [0, 1, 2],
        (-3.0, -3.0, -3.0): [0, 1, 2], (None, 0.5, None): [1, 0, 2],
    }  # fmt: skip
    assert {scores: combined([0.9, 0.5, 0.1], list(scores)) for scores in cases} == cases


def test_any_scores_give_each_place_once() -> None:
    drawn = random.Random(7)
    extremes = (0.0, 1.0, -1.0, 1.7e308, -1.7e308, 5e-324, None)
    for _ in range(300):
        size = drawn.randrange(1, 31)
        scores = [0.5, *(drawn.choice((*extremes, drawn.uniform(-9, 9))) for _ in range(size))]
        drawn.shuffle(scores)
        order = combined(sorted((drawn.uniform(-1, 3) for _ in scores), reverse=True), scores)
        missing = [index for index, score in enumerate(scores) if score is None]
        assert sorted(order) == list(range(size + 1))
        assert order[len(order) - len(missing) :] == missing


# --- cursors


def test_cursor_holds_the_places_of_later_pages() -> None:
    pins = Pins(0, (("notes", 1),), 10, 200, (5,))
    places = (Reranked(3, 0.9, 0.5), Reranked(4, 0.8, None), Reranked(5, -0.1, -7.0))
    cursor = Walk("mark", pins, "everything", (3, 4, 5, 6), (4, 5, 6), None, places).cursor()
    assert walk_of(cursor, "mark", 1, ["notes"]).reranked == places[1:]
    parts = parts_of(cursor, "a cursor", 13)
    wrong: list[Any] = [
        [[9, 0.5, 0.5]], [[4, 0.5, 0.5], [4, 0.4, 0.5]], [[4, float("nan"), 0.5]], [[4, 0.5, float("inf")]],
        [[4, True, 0.5]], [[4.0, 0.5, 0.5]], [[4, 0.5]], [7], {"4": 0.5},
    ]  # fmt: skip
    for each in wrong:
        with pytest.raises(InputError):
            walk_of(written([*parts[:11], each, parts[12]]), "mark", 1, ["notes"])
