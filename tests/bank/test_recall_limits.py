"""Recall at its limits: little time, few tokens, failing models and odd questions."""

import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.bank.background_queue import rested
from tests.bank.embedding_server import Requests, Slow, letters, server, vector
from tests.bank.recall_pages import embedding, fill, ids, numbered, shown, walk

from pieria import telemetry
from pieria.bank import Bank
from pieria.errors import InputError
from pieria.recall.answer import Recall
from pieria.recall.arms import ARMS
from pieria.recall.candidates import LATE
from pieria.recall.search import tokens_of

__all__ = ["embedding"]

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
SOON = 20.0
BY_VECTOR = {"dense", "window"}
TEXTS = ("The heron nests by the mill.", "A stork left in May.", "Cranes came late, and the heron with them.")
HERONS = "The heron, number {}, by the mill."
Opened = Callable[..., Bank]


@pytest.fixture
def held() -> Iterator[Slow]:
    """Yield a model that waits only while it is held."""
    held = Slow()
    held.may_go.set()
    yield held
    held.may_go.set()


@pytest.fixture
def bank(embedding: Opened) -> Bank:
    return filled(embedding(letters))


@pytest.fixture
def slow(embedding: Opened, held: Slow) -> Bank:
    """Return a bank whose model is held after it embedded all texts."""
    bank = filled(embedding(held))
    assert bank.recall("heron").plan["arms"].keys() >= BY_VECTOR
    held.may_go.clear()
    return bank


@pytest.fixture
def requests() -> Requests:
    return Requests()


@pytest.fixture
def served(opened: Opened, requests: Requests) -> Iterator[Bank]:
    """Yield a bank that embeds on a server."""
    with server(requests) as (address, _):
        bank = filled(opened(embedder="server:m", embedder_url=address))
        assert bank.recall("heron").plan["arms"].keys() >= BY_VECTOR
        yield bank


def filled(bank: Bank) -> Bank:
    fill(bank, *({"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS)))
    return bank


def check_by_words(found: Recall, reason: str) -> None:
    """Check that the answer uses words alone and that the plan gives the reason."""
    assert set(ids(found)) == {"m0", "m2"}
    assert found.plan["left_out"].keys() >= BY_VECTOR
    assert all(reason in found.plan["left_out"][arm] for arm in BY_VECTOR)
    assert not BY_VECTOR & found.plan["arms"].keys()
    assert not any(BY_VECTOR & hit.why.keys() for hit in found)
    assert "lexical" in found[0].why
    assert found.confidence > 0


# --- time


def test_question_embedded_too_late_is_answered_by_words(
    slow: Bank, held: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The held model never answers, so any answer shows that recall does not wait."""
    # The time left for everything else is more than any machine takes.
    monkeypatch.setattr("pieria.bank.read.answer.QUESTION_SHARE", 0.02)
    held.begun.clear()
    found = slow.recall("heron", deadline_ms=20_000)
    assert held.begun.is_set()
    check_by_words(found, "did not embed the question within")
    assert set(found.plan["left_out"]) == BY_VECTOR
    assert found.plan["embedding"]["ms"] >= 300
    # There is a limit without a deadline, too.
    monkeypatch.setattr("pieria.bank.read.answer.QUESTION_SECONDS", 0.2)
    check_by_words(slow.recall("heron"), "did not embed the question within 0.2 s")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_writer_holds_up_no_answer(opened: Opened, elsewhere: bool) -> None:
    """If pending rows cannot be embedded in time, they stay pending and the plan says so."""
    bank, other = opened(embedder="hashing"), opened()
    bank.remember_many(TEXTS)
    rested()
    other.remember("Another heron.", id="new")
    with ThreadPoolExecutor() as threads, (other if elsewhere else bank).core.store.writing():
        found = threads.submit(bank.recall, "heron", deadline_ms=400).result(SOON / 2)
    assert found.plan["embedding"]["pending"] == 1
    assert "new" in ids(found)
    assert bank.sync(SOON)
    assert bank.recall("heron").plan["embedding"]["pending"] == 0


def test_arms_not_begun_in_time_are_left_out(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a clock that jumps ahead after the second arm."""
    begun: list[str] = []

    def leaping() -> float:
        return 1_000.0 if len(begun) >= 2 else 0.0

    for name, arm in ARMS.items():

        def noting(look: Any, part: Any, name: str = name, look_up: Any = arm.look) -> Any:
            begun.append(name)
            return look_up(look, part)

        monkeypatch.setitem(ARMS, name, arm._replace(look=noting))
    for module in ("bank.read.recall", "bank.read.answer", "recall.candidates", "recall.page", "runtime.effort"):
        monkeypatch.setattr(f"pieria.{module}.perf_counter", leaping)
    heard: list[Any] = []
    detach = telemetry.attach(lambda event, *told: heard.append(told) if event[1] == "recall" else None)
    found = bank.recall("heron", deadline_ms=60_000)
    detach()
    assert begun == list(found.plan["arms"]) == ["text", "dense"]
    assert found.plan["left_out"] == {name: LATE for name in ARMS if name not in begun}
    assert set(ids(found)) == {"m0", "m1", "m2"}
    [(measured, about)] = heard
    listed = telemetry.POINTS["recall.answered"]
    assert (set(measured), set(about)) == (set(listed.measurements), set(listed.metadata))
    assert about["late"] == list(found.plan["left_out"]) and about["left_out"] == []
    assert about["arms"] == {name: (arm["candidates"], arm["ms"]) for name, arm in found.plan["arms"].items()}
    assert "heron" not in repr(heard)


# --- models that fail


def test_failing_endpoint_leaves_words(served: Bank, requests: Requests, opened: Opened) -> None:
    requests.failing.set()
    check_by_words(served.recall("heron"), "out of order")
    requests.failing.clear()
    assert served.recall("heron \ud800").plan["arms"].keys() >= BY_VECTOR
    assert requests[-1].texts == ["heron ?"]
    for dimension in (5, 1):
        requests.dimension = dimension
        check_by_words(served.recall("heron"), f"expected 9 dimensions, got {dimension}")
    anew = opened(embedder="server:m", embedder_url=str(served.doctor().settings["embedder_url"][0]))
    check_by_words(anew.recall("heron"), "got 1")
    check_by_words(anew.recall("heron"), "")
    requests.dimension = 0
    check_by_words(served.recall("heron"), "openai:m.embed")
    assert anew.remember("A heron more.").id in ids(anew.recall("heron"))


def test_slow_endpoint_leaves_words_and_pending_texts(served: Bank, requests: Requests) -> None:
    requests.held.set()
    served.remember("A late heron.", id="late")
    found = served.recall("heron", deadline_ms=500)
    assert set(ids(found)) == {"m0", "m2", "late"}
    assert "did not embed the question within" in found.plan["left_out"]["dense"]
    assert found.plan["embedding"]["pending"] > 0
    requests.held.clear()
    requests.let_go.set()
    assert served.sync(SOON)
    [hit] = again = served.recall("A late heron.", k=1)
    assert "dense" in hit.why and again.plan["embedding"]["pending"] == 0


def test_broken_missing_or_other_embedder_leaves_words(embedding: Opened, bank: Bank) -> None:
    def breaking(texts: list[str]) -> list[list[float]]:
        assert texts != ["heron"]
        return letters(texts)

    def shorter(texts: list[str]) -> list[list[float]]:
        return [vector(text)[:4] for text in texts]

    broken = embedding(breaking)
    broken.use_embedder()
    assert broken.sync(SOON)
    check_by_words(broken.recall("heron"), "AssertionError")
    for embedder, reason in (("none", "no embedder is set"), (shorter, "this process embeds with")):
        found = embedding(embedder).recall("heron")
        check_by_words(found, reason)
        assert reason in found.plan["embedding"]["note"]


def test_damaged_or_missing_model_leaves_words(tmp_path: Path, embedding: Opened) -> None:
    whole = filled(embedding("local", models=INSTALLED))
    assert whole.recall("heron").plan["arms"].keys() >= BY_VECTOR
    gone = embedding("local", models=tmp_path / "nowhere")
    found = gone.recall("heron")
    check_by_words(found, "all-MiniLM-L6-v2")
    assert "all-MiniLM-L6-v2" in found.plan["embedding"]["note"]
    shutil.copytree(INSTALLED, tmp_path / "nowhere")
    assert gone.recall("heron").plan["left_out"] == {}
    for spoilt in ("tokenizer.json", "model.safetensors", "config.json"):
        shutil.copytree(INSTALLED, tmp_path / spoilt)
        [file] = (tmp_path / spoilt).rglob(spoilt)
        file.write_bytes(file.read_bytes()[:100])
        damaged = embedding("local", models=tmp_path / spoilt)
        for _ in range(2):
            check_by_words(damaged.recall("heron"), "")
    damaged.remember("One more heron.", id="more")
    found = damaged.recall("heron")
    assert "more" in ids(found)
    # The background or this recall may meet the damage first.
    assert "again" in found.plan["embedding"].get("note", "") or spoilt in str(found.plan["left_out"])


# --- tokens


def test_pages_of_few_tokens_are_complete_and_repeat_nothing(embedding: Opened) -> None:
    bank = embedding(letters)
    numbered(bank, 60, HERONS)
    for budget, k in ((40, 5), (100, 25), (1_000, 5), (1_000, 25)):
        pages = walk(bank, "heron mill", k, budget_tokens=budget)
        for page in pages:
            spent = sum(tokens_of(hit.memory) for hit in page)
            assert spent <= budget
            assert 0 < len(page) <= k
            cut = page.plan["truncated"].get("tokens")
            assert (cut is not None) == (len(page) < k and page.cursor is not None)
            if cut is not None:
                assert cut["budget"] == budget < spent + cut["next"]
                assert cut["left_out"] > 0
        assert ids(pages[0]) == ids(bank.recall("heron mill", k=k))[: len(pages[0])]
        assert sorted(shown(pages)) == sorted(f"m{n}" for n in range(60))


def test_page_on_which_nothing_fits_loses_nothing(bank: Bank) -> None:
    numbered(bank, 20, HERONS, "n")
    none = bank.recall("heron mill", k=5, budget_tokens=1)
    cut = none.plan["truncated"]["tokens"]
    needed = cut["next"]
    still = bank.recall("heron mill", k=5, budget_tokens=needed - 1, cursor=none.cursor)
    assert (len(none), cut["left_out"], len(still)) == (0, 5, 0)
    first = bank.recall("heron mill", k=5, budget_tokens=needed, cursor=still.cursor)
    assert ids(first) == ids(bank.recall("heron mill", k=1))
    rest = bank.recall("heron mill", k=5, cursor=first.cursor)
    assert [*ids(first), *ids(rest)] == ids(bank.recall("heron mill", k=6))


# --- questions


def test_questions_without_words(embedding: Opened, held: Slow) -> None:
    bank = filled(embedding(held))
    seen = [*held.seen]
    for question in ("", " ", "\n\t  \u3000"):
        found = bank.recall(question)
        assert (len(found), found.cursor, found.confidence) == (0, None, 0.0)
        assert found.plan["left_out"].keys() >= BY_VECTOR
    assert held.seen == seen
    found = bank.recall("🎉 🦩")
    assert set(ids(found)) == {"m0", "m1", "m2"}
    assert all("dense" in hit.why and "lexical" not in hit.why for hit in found)
    stop_words = embedding("none").recall("the by")
    assert set(ids(stop_words)) == {"m0", "m2"}
    assert stop_words.plan["arms"]["text"]["terms"] == ["the", "by"]


def test_longest_question_is_answered(embedding: Opened, held: Slow) -> None:
    bank = filled(embedding(held))
    question = ("heron mill " + "und so weiter " * 80_000)[: 1 << 20]
    found = bank.recall(question)
    assert {"m0", "m2"} <= set(ids(found))
    assert found.plan["embedding"]["question"] == {"characters": 8_000, "of": 1 << 20}
    with pytest.raises(InputError, match="1,048,576 characters"):
        bank.recall(question + "!")
