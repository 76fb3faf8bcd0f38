"""The ledger of model calls and the daily budgets, shared by all processes of a bank."""

import logging
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import server
from tests.bank.test_embedding import soon
from tests.contract.making import HandClock

import pieria
from pieria import Bank
from pieria.errors import BudgetError, InputError
from pieria.models import EmbeddingResponse
from pieria.models.meter import Meter, Unmetered

USED = {"input_tokens": 90, "output_tokens": 10}
MODEL = "test:model"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def opened(folder: Path, clock: HandClock, **settings: object) -> Bank:
    return pieria.open("b", data=folder, clock=clock, settings={"durability": "off", **settings})


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with opened(tmp_path, clock) as bank:
        yield bank


def call(meter: Meter, step: str = "state", failed: bool = False) -> None:
    meter.allow(step, MODEL)
    meter.note(step, MODEL, USED, 0.5, failed)


def test_calls_are_counted_by_step_and_model_today_and_in_total(bank: Bank, clock: HandClock) -> None:
    call(bank.core.meter)
    call(bank.core.meter, failed=True)
    clock.move(days=1)
    call(bank.core.meter, "plan")
    bank.core.meter.note("plan", "other:model", {}, 1.0)
    told = bank.stats().models
    line = {"step": "plan", "model": MODEL, "calls": 1, "failures": 0, "input_tokens": 90, "output_tokens": 10,
            "seconds": 0.5}  # fmt: skip
    other = {**line, "model": "other:model", "input_tokens": 0, "output_tokens": 0, "seconds": 1.0}
    state = {**line, "step": "state", "calls": 2, "failures": 1, "input_tokens": 180, "output_tokens": 20,
             "seconds": 1.0}  # fmt: skip
    assert told["day"] == "2026-03-02"
    assert told["today"] == [other, line]
    assert told["total"] == [other, line, state]
    assert told["budgets"] == {"tokens_per_day": None, "calls_per_day": None}
    assert bank.changes() == ()


@pytest.mark.parametrize(
    ("setting", "limit", "calls"),
    [
        ("budget_calls_per_day", 2, 2),
        ("budget_calls_per_day", 0, 0),
        ("budget_tokens_per_day", 200, 2),
        ("budget_tokens_per_day", 101, 2),
        ("budget_tokens_per_day", 0, 0),
    ],
)
def test_a_budget_refuses_calls_for_the_rest_of_the_day(
    tmp_path: Path, clock: HandClock, setting: str, limit: int, calls: int
) -> None:
    with opened(tmp_path, clock, **{setting: limit}) as bank:
        for _ in range(calls):
            call(bank.core.meter)
        clock.now = datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2)))
        with pytest.raises(BudgetError) as caught:
            bank.core.meter.allow("state", MODEL)
        error = caught.value
        assert error.as_dict() | {"message": "", "hint": ""} == {
            "code": "budget", "message": "", "hint": "", "retryable": True, "budget": setting, "limit": limit,
            "used": calls if "calls" in setting else 100 * calls, "until": "2026-03-02T00:00:00Z",
        }  # fmt: skip
        assert error.hint is not None
        assert "2026-03-02" in error.hint
        assert sum(line["calls"] for line in bank.stats().models["total"]) == calls
        clock.now = datetime(2026, 3, 2, tzinfo=UTC)
        if limit:
            call(bank.core.meter)
        else:
            with pytest.raises(BudgetError):
                bank.core.meter.allow("state", MODEL)


def test_a_call_that_was_allowed_counts_once_whether_it_is_noted_or_not(tmp_path: Path, clock: HandClock) -> None:
    with opened(tmp_path, clock, budget_calls_per_day=9) as bank:
        bank.core.meter.allow("state", MODEL)
        assert bank.stats().models["today"][0]["calls"] == 1
        bank.core.meter.note("state", MODEL, USED, 0.5)
        assert bank.stats().models["today"][0]["calls"] == 1


def test_whoever_shares_the_bank_shares_the_budget(tmp_path: Path, clock: HandClock) -> None:
    with (
        opened(tmp_path, clock, budget_calls_per_day=3) as one,
        opened(tmp_path, clock, budget_calls_per_day=3, busy_seconds=21) as other,
    ):
        for bank in (one, other, one):
            call(bank.core.meter)
        for bank in (one, other):
            with pytest.raises(BudgetError):
                bank.core.meter.allow("plan", "another:model")


def test_a_bank_that_is_locked_does_not_cost_the_caller_a_reply(
    tmp_path: Path, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path, clock, busy_seconds=5) as bank:
        other = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING, "pieria"):
            bank.core.meter.note("state", MODEL, USED, 0.5)
            bank.core.meter.note("state", MODEL, USED, 0.5)
        assert "could not be counted yet" in caplog.text
        other.execute("ROLLBACK")
        other.close()
        clock.move(days=1)
        bank.core.meter.note("state", MODEL, USED, 0.5)
        with bank.core.store.reading() as reader:
            assert [len(reader.spent(day)) for day in ("2026-03-01", "2026-03-02")] == [1, 1]
            assert (reader.spent()[0].calls, reader.spent()[0].tokens) == (3, 300)


@pytest.mark.parametrize(
    ("parameter", "step", "usage"),
    [("step", "", {}), ("usage.input_tokens", "state", {"input_tokens": -1}),
     ("usage.output_tokens", "state", {"output_tokens": 1.5})],
)  # fmt: skip
def test_what_cannot_be_right_is_not_counted(bank: Bank, parameter: str, step: str, usage: dict[str, int]) -> None:
    with pytest.raises(InputError) as caught:
        bank.core.meter.note(step, MODEL, usage, 0.5)
    assert caught.value.parameter == parameter
    assert bank.stats().models["total"] == []


def test_whoever_counts_nothing_is_allowed_everything() -> None:
    call(Unmetered())


def embeddings(bank: Bank) -> dict[str, tuple[int, int, int]]:
    return {
        line["step"]: (line["calls"], line["failures"], line["input_tokens"]) for line in bank.stats().models["today"]
    }


def test_an_embedder_elsewhere_is_counted_and_a_reader_waits_for_nobody(tmp_path: Path, clock: HandClock) -> None:
    with (
        server() as (address, requests),
        opened(tmp_path, clock, embedder="server:m", embedder_url=address, busy_seconds=60) as bank,
    ):
        bank.remember_many([{"text": "A heron nests by the mill."}, {"text": "Ferries run to Skagen."}])
        assert embeddings(bank) == {"embed": (1, 0, 1)}
        other = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        assert bank.recall("who nests there?").plan["embedding"]["model"].startswith("openai:m")
        assert time.monotonic() - begun < 30
        other.execute("ROLLBACK")
        other.close()
        soon(lambda: embeddings(bank).get("embed_query") == (1, 0, 1))
        requests.failing.set()
        bank.recall("where do ferries go?")
        soon(lambda: embeddings(bank)["embed_query"] == (2, 1, 1))


def test_an_embedder_elsewhere_keeps_to_the_budget(tmp_path: Path, clock: HandClock) -> None:
    with (
        server() as (address, requests),
        opened(tmp_path, clock, embedder="server:m", embedder_url=address, budget_calls_per_day=1) as bank,
    ):
        bank.remember_many([{"text": "A heron nests by the mill."}])
        asked = len(requests)
        found = bank.recall("who nests by the mill?")
        assert [hit.memory.text for hit in found] == ["A heron nests by the mill."]
        assert "budget_calls_per_day" in str(found.plan)
        assert len(requests) == asked
        clock.move(days=1)
        for question in ("who nests by the mill?", "who nests there?", "who?"):
            bank.recall(question)
        assert len(requests) == asked + 1


def test_questions_keep_to_the_budget_while_nothing_can_be_written(tmp_path: Path, clock: HandClock) -> None:
    with (
        server() as (address, requests),
        opened(tmp_path, clock, embedder="server:m", embedder_url=address, budget_calls_per_day=3) as bank,
    ):
        bank.remember_many([{"text": "A heron nests by the mill."}])
        asked = len(requests)
        other = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
        other.execute("BEGIN IMMEDIATE")
        for number in range(6):
            bank.recall(f"who nests by mill {number}?")
        assert len(requests) == asked + 2
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.parametrize("usage", [None, {"input_tokens": 3.0}, {"input_tokens": -1}, {"input_tokens": "3"}, 7])
def test_an_embedder_that_tells_its_cost_oddly_embeds_all_the_same(
    tmp_path: Path, clock: HandClock, usage: Any
) -> None:
    class Odd:
        def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
            return self.embed_batch([text])

        def embed_batch(self, texts: Any, opts: Any = None) -> EmbeddingResponse:
            return EmbeddingResponse([[1.0, len(text)] for text in texts], "odd", usage)

    with pieria.Workspace(tmp_path, embedder=Odd(), clock=clock) as workspace:
        bank = workspace.open("b")
        bank.remember_many([{"text": "A heron nests by the mill."}])
        assert bank.stats().models["today"][0]["calls"] >= 1
        assert bank.recall("heron").plan["embedding"]["pending"] == 0


def test_where_no_call_is_allowed_none_is_made_to_learn_how_long_vectors_are(tmp_path: Path, clock: HandClock) -> None:
    asked = []

    def vowels(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[text.count(letter) + 0.1 for letter in "aeiou"] for text in texts]

    settings = {"budget_calls_per_day": 0}
    with (
        pieria.Workspace(tmp_path, settings, embedder=vowels, clock=clock) as workspace,
        pytest.raises(BudgetError),
    ):
        workspace.open("b").use_embedder()
    assert asked == []


def test_an_embedder_at_hand_costs_nothing_and_is_not_counted(tmp_path: Path, clock: HandClock) -> None:
    with opened(tmp_path, clock, embedder="hashing:64", budget_calls_per_day=0) as bank:
        bank.remember_many([{"text": "A heron nests by the mill."}])
        bank.recall("who nests?")
        assert bank.stats().models["total"] == []
