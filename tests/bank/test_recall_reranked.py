"""Recall with a reranker: the new order, the texts it gets, and failures that change nothing."""

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.making import HandClock
from tests.models.rerank_server import Answer, RerankServer, never, pairs, rerank_server, says, status

import pieria
from pieria.bank import Bank
from pieria.doors.cli.memories import lacking, reasons
from pieria.doors.web.pages.recall import reasoned
from pieria.errors import CorruptError, InputError
from pieria.recall.answer import Recall
from pieria.recall.candidates import LATE
from pieria.recall.rerank import BY_WORDS, FIRST, FOREIGN, LONGEST, OVERVIEW, combined
from pieria.recall.walk import Pins, Reranked, Walk, walk_of
from pieria.record.cursor import parts_of, written

TEXTS = [f"A heron {'and a stork ' * n}by the mill." for n in range(50)]
"""By words, shorter texts score higher."""
LENGTHS = {text: float(len(text)) for text in TEXTS}


@pytest.fixture
def serving() -> Iterator[RerankServer]:
    with rerank_server() as serving:
        serving.judge = lambda query, document: float(len(document))
        yield serving


@pytest.fixture
def opened(kept: Kept, clock: HandClock, serving: RerankServer) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens one bank with the reranker and without vectors, under varying settings."""
    banks: list[Bank] = []

    def open(**settings: Any) -> Bank:
        told = {
            "embedder": "none",
            "durability": "off",
            "reranker": "server:m",
            "reranker_url": serving.address,
            "reranker_seconds": 20.0,
        }
        banks.append(kept.opened("notes", clock=clock, settings={**told, **settings}))
        return banks[-1]

    yield open
    for bank in banks:
        bank.close()


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    bank = opened()
    bank.remember_many([{"text": text, "id": f"m{n:02}"} for n, text in enumerate(TEXTS)])
    return bank


def ids(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found]


def walked(bank: Bank, question: str, k: int, **more: Any) -> list[Recall]:
    pages = [bank.recall(question, k=k, **more)]
    while pages[-1].cursor is not None:
        pages.append(bank.recall(question, k=k, cursor=pages[-1].cursor, **more))
    return pages


def check_order_stays(found: Recall, plain: Recall, reason: str) -> None:
    assert [(hit.memory.id, hit.score, hit.why) for hit in found] == [
        (hit.memory.id, hit.score, hit.why) for hit in plain
    ]
    assert reason in found.plan["left_out"]["rerank"]
    assert "reranked" not in found.plan
    assert f"without rerank: {found.plan['left_out']['rerank']}" in lacking(found)


# --- the order


def test_the_first_candidates_are_put_in_order_anew(bank: Bank, opened: Callable[..., Bank]) -> None:
    plain = opened(reranker="none").recall("heron", k=50)
    found = bank.recall("heron", k=50)
    assert ids(found)[0] == ids(plain)[FIRST - 1]
    assert set(ids(found)[:FIRST]) == set(ids(plain)[:FIRST])
    assert ids(found)[FIRST:] == ids(plain)[FIRST:]
    assert [hit.score for hit in found] == [hit.score for hit in plain]
    assert [hit.why.get("rerank") for hit in found] == [
        float(len(hit.memory.text)) if place < FIRST else None for place, hit in enumerate(found)
    ]
    told = found.plan["reranked"]
    assert told["ms"] > 0
    assert told | {"ms": 0} == {"model": "server:m", "candidates": FIRST, "missing": 0, "ms": 0}
    assert found.confidence == plain.confidence
    assert reasons(found, found[0])[0].startswith("rerank ")
    [row] = [each for each in reasoned(found[0], found.plan["weights"]).reasons if each.feature == "rerank"]
    assert row.says
    assert row.worth == 0


def test_without_a_reranker_nothing_is_told_of_one(bank: Bank, opened: Callable[..., Bank]) -> None:
    found = opened(reranker="none").recall("heron")
    assert "reranked" not in found.plan
    assert "rerank" not in found.plan["left_out"]
    assert not any("rerank" in hit.why for hit in found)


def test_one_candidate_or_none_is_not_sent(bank: Bank, serving: RerankServer) -> None:
    bank.remember("A lonely crane.")
    for question in ("crane", "pelican", ""):
        plan = bank.recall(question, k=1).plan
        assert "reranked" not in plan
        assert "rerank" not in plan["left_out"]
    assert serving.requests == []


@pytest.mark.parametrize("k", [1, 7, 20, 29, 30, 31])
def test_pages_repeat_and_lose_nothing_and_score_as_before(
    bank: Bank, opened: Callable[..., Bank], serving: RerankServer, k: int
) -> None:
    plain = walked(opened(reranker="none"), "heron", k)
    pages = walked(bank, "heron", k)
    found = [hit for page in pages for hit in page]
    assert sorted(hit.memory.id for hit in found) == [f"m{n:02}" for n in range(50)]
    assert [[hit.score for hit in page] for page in pages] == [[hit.score for hit in page] for page in plain]
    count = pages[0].plan["reranked"]["candidates"]
    assert [place for place, hit in enumerate(found) if "rerank" in hit.why] == list(range(count))
    assert [hit.why["rerank"] for hit in found[:count]] == sorted(
        (float(len(hit.memory.text)) for hit in found[:count]), reverse=True
    )
    assert len(serving.requests) == 1
    assert all("reranked" not in page.plan for page in pages[1:])


def test_pages_of_few_tokens_repeat_and_lose_nothing(bank: Bank) -> None:
    found = [id for page in walked(bank, "heron", 10, budget_tokens=200) for id in ids(page)]
    assert sorted(found) == [f"m{n:02}" for n in range(50)]
    assert found[:10] == ids(bank.recall("heron", k=10))


def test_a_least_score_holds_for_the_own_score(bank: Bank, opened: Callable[..., Bank]) -> None:
    plain = opened(reranker="none")
    least = plain.recall("heron", k=50)[11].score
    [before, after] = [walked(each, "heron", 5, min_score=least) for each in (plain, bank)]
    assert sorted(id for page in after for id in ids(page)) == sorted(id for page in before for id in ids(page))
    assert min(hit.score for page in after for hit in page) >= least


def test_what_a_reply_leaves_out_stays_behind_in_its_order(
    bank: Bank, opened: Callable[..., Bank], serving: RerankServer
) -> None:
    plain = ids(opened(reranker="none").recall("heron", k=50))
    serving.script = [pairs((9, 0.9), (4, 0.8))]
    found = bank.recall("heron", k=50)
    rest = [id for id in plain if id not in (plain[9], plain[4])]
    assert ids(found) == [plain[9], plain[4], *rest]
    assert found.plan["reranked"]["missing"] == FIRST - 2
    assert [("rerank" in hit.why) for hit in found[:3]] == [True, True, False]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_copies_stay_folded(bank: Bank) -> None:
    copy = "Heron, heron, heron: the same words once more, in a text that is long enough to be folded."
    bank.remember_many([{"text": copy, "id": f"c{n}"} for n in range(5)])
    pages = walked(bank, "heron", 10)
    shown = [id for page in pages for id in ids(page)]
    folded = [id for page in pages for copies in page.plan["folded"].values() for id in copies]
    assert len(shown) == len(set(shown))
    assert set(shown) | set(folded) == {*(f"m{n:02}" for n in range(50)), *(f"c{n}" for n in range(5))}
    assert len(set(folded)) == 4


def test_standing_rules_keep_their_places(opened: Callable[..., Bank], serving: RerankServer) -> None:
    bank = opened()
    said = [f"A letter about herons{' and mills' * n}, and a letter about mills." for n in range(30)]
    bank.remember_many([{"text": text} for text in said])
    bank.remember_many([{"text": "Never use abbreviations.", "id": "short"}, {"text": "Always sign it.", "id": "sign"}])
    asked: dict[str, Any] = {"query": "Write a letter about herons and mills for me.", "weights": {"rule": 0.01}}
    plain = opened(reranker="none").recall(**asked, k=20)
    before = {place: hit.memory.id for place, hit in enumerate(plain) if hit.memory.id in ("short", "sign")}
    assert plain.plan["kept_for_rules"] == list(before.values())
    assert sorted(before) == [7, 8]
    found = bank.recall(**asked, k=20)
    assert {place: hit.memory.id for place, hit in enumerate(found) if hit.memory.id in ("short", "sign")} == before
    assert found.plan["kept_for_rules"] == plain.plan["kept_for_rules"]
    assert [hit.score for hit in found] == [hit.score for hit in plain]
    assert not {"Never use abbreviations.", "Always sign it."} & set(serving.requests[0].documents)
    assert len(serving.requests[0].documents) == found.plan["reranked"]["candidates"]
    assert ids(found) != ids(plain)
    pages = walked(bank, asked["query"], 5, weights=asked["weights"])
    shown = [id for page in pages for id in ids(page)]
    assert len(shown) == len(set(shown)) == 32
    assert [shown[7], shown[8]] == list(before.values())


def test_a_summary_stays_behind_its_sources(opened: Callable[..., Bank]) -> None:
    bank = opened()
    source = bank.remember("A heron nests by the mill.", id="source")
    bank.remember("A heron nests by the mill, as was said at length.", kind="summary", id="summary")
    bank.link("summary", source.id, "provenance")
    found = bank.recall("heron mill", weights={"digest": 0})
    assert ids(found) == ["source", "summary"]
    assert found.plan["behind_sources"] == ["summary"]


# --- when it is asked


def hybrid(why: Mapping[str, float]) -> float:
    return 0.5


@pytest.mark.parametrize("policy", ["value", "decay", "weighted", hybrid])
def test_only_a_ranking_by_relevance_is_reranked(bank: Bank, serving: RerankServer, policy: Any) -> None:
    assert "does not rank by relevance" in bank.recall("heron", policy=policy).plan["left_out"]["rerank"]
    assert serving.requests == []


def test_a_ranking_by_similarity_is_reranked(bank: Bank, serving: RerankServer) -> None:
    assert "reranked" in bank.recall("heron", policy="similarity").plan
    assert len(serving.requests) == 1


@pytest.mark.parametrize(
    ("question", "asked", "reason"),
    [
        ("heron", {"by_meaning": False}, BY_WORDS),
        ("Give me an overview of the heron and the stork.", {}, OVERVIEW),
    ],
)
def test_some_questions_are_not_reranked(
    bank: Bank, serving: RerankServer, question: str, asked: dict[str, Any], reason: str
) -> None:
    assert bank.recall(question, **asked).plan["left_out"]["rerank"] == reason
    assert serving.requests == []


def test_a_recall_that_is_late_does_not_ask(bank: Bank, serving: RerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("recall.candidates", "recall.page", "recall.search"):
        monkeypatch.setattr(f"pieria.{module}.perf_counter", lambda: 1e12)
    assert bank.recall("heron", deadline_ms=60_000).plan["left_out"]["rerank"] == LATE
    assert serving.requests == []


def test_context_is_reranked_as_well(bank: Bank, serving: RerankServer) -> None:
    assert "heron" in bank.context("heron").text
    assert len(serving.requests) == 1


# --- failures


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (status(500), "500"),
        (status(429, Retry_After="60"), "429"),
        (status(401), "401"),
        (says(b"not JSON"), "not JSON"),
        (says({"result": []}), "no list of results"),
        (says({"results": []}), "no scores"),
        (pairs((FIRST, 0.5)), "has a wrong index"),
        (pairs((0, 0.5), (0, 0.4)), "two scores"),
        (pairs((0, float("nan"))), "not a finite number"),
        (pairs((0, None)), "no score"),
    ],
)
def test_what_the_reranker_fails_at_changes_nothing(
    bank: Bank,
    opened: Callable[..., Bank],
    serving: RerankServer,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    reason: str,
) -> None:
    monkeypatch.setattr("pieria.models.endpoint._FIRST_PAUSE", 0.0)
    monkeypatch.setattr("pieria.models.endpoint._LONGEST_PAUSE", 0.0)
    plain = opened(reranker="none").recall("heron", k=50)
    serving.script = [answer] * 3
    check_order_stays(bank.recall("heron", k=50), plain, reason)
    serving.script = []
    assert "reranked" in bank.recall("heron").plan


def test_a_reranker_that_never_answers_changes_nothing(
    bank: Bank, opened: Callable[..., Bank], serving: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.bank.read.answer.SHARE", 0.005)
    plain = opened(reranker="none").recall("heron", k=50)
    serving.script = [never]
    check_order_stays(bank.recall("heron", k=50, deadline_ms=20_000), plain, "did not answer within")


def test_a_server_that_is_gone_changes_nothing(kept: Kept) -> None:
    with rerank_server() as serving:
        pass
    told = {"reranker": "tei", "reranker_url": serving.address, "reranker_seconds": 0.2, "embedder": "none"}
    with kept.opened("notes", settings=told) as bank:
        bank.remember_many([{"text": text} for text in TEXTS[:3]])
        found = bank.recall("heron")
    assert len(found) == 3
    assert found.plan["left_out"]["rerank"]


# --- what is sent


def test_documents_are_what_the_memories_say(opened: Callable[..., Bank], serving: RerankServer) -> None:
    bank = opened()
    bank.remember("The heron left.", title="Birds of the mill", author="Maya", tags=["fauna"], meta={"by": "Omar"})
    bank.remember("A heron came. <private>The code is 4711.</private>")
    bank.recall("Where is the heron?")
    [request] = serving.requests
    assert request.body["query"] == "Where is the heron?"
    assert sorted(request.documents) == ["A heron came.", "Birds of the mill\nThe heron left."]


def test_of_a_long_text_opening_and_best_passage_are_sent(opened: Callable[..., Bank], serving: RerankServer) -> None:
    bank = opened()
    filler = "Nothing of note was seen on the river that day. "
    bank.remember(f"It begins here. {filler * 200}A heron nests by the old mill. {filler * 200}")
    bank.remember("A heron.", title="long " * 100)
    bank.remember(f"A heron at once. {filler * 200}")
    bank.recall("heron mill")
    [request] = serving.requests
    assert all(len(document) <= LONGEST for document in request.documents)
    [late] = [document for document in request.documents if document.startswith("It begins here.")]
    assert "A heron nests by the old mill." in late
    assert "\n… " in late
    [early] = [document for document in request.documents if document.startswith("A heron at once.")]
    assert early.endswith(" …")
    assert len(early) > LONGEST * 0.9


def test_a_long_question_is_cut(bank: Bank, serving: RerankServer) -> None:
    bank.recall("heron \ud800 " * 2_000)
    assert len(serving.requests[0].body["query"]) == 2_000


def test_what_may_not_be_seen_is_not_sent(kept: Kept, opened: Callable[..., Bank], serving: RerankServer) -> None:
    bank = opened()
    bank.remember_many([{"text": "A heron."}, {"text": "A heron again."}])
    bank.remember("A secret heron.", source="evil")
    bank.remember("A removed heron.", id="gone")
    bank.remove("gone")
    told = {"embedder": "none", "durability": "off"}
    with kept.opened("notes", session="s1", settings=told) as other:
        other.remember("A heron that only one session knows.", scope="session")
    bank.quarantine(source="evil", reason="it lied")
    bank.recall("heron")
    assert sorted(serving.requests[0].documents) == ["A heron again.", "A heron."]


def test_calls_are_counted_and_keep_to_the_budget(opened: Callable[..., Bank], serving: RerankServer) -> None:
    with opened(budget_calls_per_day=1) as bank:
        bank.remember_many([{"text": "A heron."}, {"text": "A heron again."}])
        assert "reranked" in bank.recall("heron").plan
        assert "budget_calls_per_day" in bank.recall("heron").plan["left_out"]["rerank"]
        assert len(serving.requests) == 1
        bank.core.meter.flush()
        [line] = bank.stats().models["today"]
    assert (line["step"], line["model"], line["calls"], line["input_tokens"]) == ("rerank", "server:m", 1, 7)


def test_doctor_tells_who_reranks(opened: Callable[..., Bank], serving: RerankServer) -> None:
    def told(bank: Bank) -> list[str]:
        return [finding.detail for finding in bank.doctor().findings if finding.check == "reranker"]

    host = serving.address.split("/")[2]
    assert told(opened(reranker_key="hunter2")) == [f"server:m at {host}, with a key"]
    assert told(opened(reranker="none")) == ["none: results keep the order of recall"]


def test_a_bank_of_somebody_else_is_not_sent(
    tmp_path: Path, serving: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"embedder": "none", "reranker": "server:m", "reranker_url": serving.address}
    with pieria.open("notes", data=tmp_path, settings=told) as bank:
        bank.remember_many([{"text": "A heron."}, {"text": "A heron again."}])
        monkeypatch.setattr(bank.core, "is_foreign", True)
        assert bank.recall("heron").plan["left_out"]["rerank"] == FOREIGN
    assert serving.requests == []


def test_a_damaged_memory_is_named_and_not_sent(tmp_path: Path, serving: RerankServer) -> None:
    told = {"embedder": "none", "reranker": "server:m", "reranker_url": serving.address}
    with pieria.open("notes", data=tmp_path, settings=told) as bank:
        [memory, *_] = bank.remember_many([{"text": text} for text in TEXTS[:3]])
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection, connection:
        connection.execute("UPDATE content SET text = 'Nobody wrote this.' WHERE row = ?", [memory.row])
    with (
        pieria.open("notes", data=tmp_path, settings=told) as bank,
        pytest.raises(CorruptError, match=memory.id),
    ):
        bank.recall("heron", k=1)
    assert serving.requests == []


# --- how orders are combined


def test_the_models_best_is_first_unless_another_is_close() -> None:
    assert combined([0.9, 0.5, 0.1], [0.0, 0.1, 0.98]) == [2, 0, 1]
    assert combined([0.9, 0.5, 0.1], [0.97, 0.1, 0.98]) == [0, 2, 1]


@pytest.mark.parametrize("scores", [[0.5, 0.5, 0.5], [-3.0, -3.0, -3.0], [None, 0.5, None]])
def test_scores_that_tell_nothing_apart_keep_the_order(scores: list[float | None]) -> None:
    expected = [1, 0, 2] if None in scores else [0, 1, 2]
    assert combined([0.9, 0.5, 0.1], scores) == expected


def test_any_scores_give_each_place_once() -> None:
    drawn = random.Random(7)
    extremes = (0.0, 1.0, -1.0, 1.7e308, -1.7e308, 5e-324, None)
    for _ in range(500):
        size = drawn.randrange(1, 31)
        scores: list[float | None] = [drawn.choice((*extremes, drawn.uniform(-9, 9))) for _ in range(size)]
        scores[drawn.randrange(size)] = 0.5
        worths = sorted((drawn.choice((0.0, drawn.uniform(-1, 3))) for _ in range(size)), reverse=True)
        order = combined(worths, scores)
        assert sorted(order) == list(range(size))
        missing = [index for index in order if scores[index] is None]
        assert order[len(order) - len(missing) :] == missing == sorted(missing)


# --- cursors


def test_a_cursor_holds_the_places_of_what_is_to_come() -> None:
    pins = Pins(0, (("notes", 1),), 10, 200, (5,))
    places = (Reranked(3, 0.9, 0.5), Reranked(4, 0.8, None), Reranked(5, -0.1, -7.0))
    walk = Walk("mark", pins, "everything", (3, 4, 5, 6), (4, 5, 6), None, places)
    assert walk_of(walk.cursor(), "mark", 1, ["notes"]).reranked == places[1:]


@pytest.mark.parametrize(
    "places",
    [
        [[9, 0.5, 0.5]],
        [[4, 0.5, 0.5], [4, 0.4, 0.5]],
        [[4, float("nan"), 0.5]],
        [[4, 0.5, float("inf")]],
        [[4, True, 0.5]],
        [[4.0, 0.5, 0.5]],
        [[4, 0.5]],
        [7],
        {"4": 0.5},
    ],
)
def test_a_cursor_with_places_that_cannot_be_is_refused(places: Any) -> None:
    pins = Pins(0, (("notes", 1),), 10, 200, (5,))
    whole = Walk("mark", pins, "everything", (4, 5), (4, 5), None, (Reranked(4, 1, None),)).cursor()
    parts = parts_of(whole, "a cursor", 12)
    assert walk_of(written(parts), "mark", 1, ["notes"]).reranked == (Reranked(4, 1, None),)
    with pytest.raises(InputError):
        walk_of(written([*parts[:11], places]), "mark", 1, ["notes"])
