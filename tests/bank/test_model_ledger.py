"""The ledger of model calls and the daily budgets, shared by all processes of a bank."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import Requests, server
from tests.contract.store_helpers import HandClock
from tests.waiting import soon

import pieria
from pieria import Bank
from pieria.errors import BudgetError, InputError
from pieria.models import EmbeddingResponse
from pieria.models.meter import Meter, Unmetered

Opened = Callable[..., Bank]
USED = {"input_tokens": 90, "output_tokens": 10}
MODEL = "test:model"
HERON = "A heron nests by the mill."


def call(meter: Meter, step: str = "state", failed: bool = False) -> None:
    meter.allow(step, MODEL)
    meter.note(step, MODEL, USED, 0.5, failed)


@contextmanager
def locked(bank: Bank) -> Iterator[None]:
    """Hold the bank's write lock from elsewhere."""
    other = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def test_calls_are_counted_by_step_and_model(opened: Opened, clock: HandClock) -> None:
    bank = opened(budget_calls_per_day=9)
    meter = bank.core.meter
    meter.allow("state", MODEL)
    assert bank.stats().models["today"][0]["calls"] == 1, "an allowed call counts once, whether it is noted or not"
    meter.note("state", MODEL, USED, 0.5)
    call(meter, failed=True)
    clock.move(days=1)
    call(meter, "plan")
    meter.allow("plan", "other:model")
    meter.note("plan", "other:model", {}, 1.0)
    line = {"step": "plan", "model": MODEL, "calls": 1, "failures": 0, "seconds": 0.5, **USED}
    other = line | {"model": "other:model", "input_tokens": 0, "output_tokens": 0, "seconds": 1.0}
    state = line | {
        "step": "state",
        "calls": 2,
        "failures": 1,
        "input_tokens": 180,
        "output_tokens": 20,
        "seconds": 1.0,
    }
    assert bank.stats().models == {
        "day": "2026-03-02", "today": [other, line], "total": [other, line, state],
        "budgets": {"tokens_per_day": None, "calls_per_day": 9},
    }  # fmt: skip
    wrong: list[tuple[str, str, Any]] = [
        ("", "step", 1), ("state", "usage.input_tokens", -1), ("state", "usage.output_tokens", 1.5),
    ]  # fmt: skip
    for step, parameter, number in wrong:
        with pytest.raises(InputError, match=parameter):
            meter.note(step, MODEL, {parameter.removeprefix("usage."): number}, 0.5)
    assert len(bank.stats().models["total"]) == 3
    assert bank.changes() == ()
    call(Unmetered())


@pytest.mark.parametrize(
    ("kind", "limit", "calls"),
    [("calls", 2, 2), ("calls", 0, 0), ("tokens", 200, 2), ("tokens", 101, 2), ("tokens", 0, 0)],
)
def test_budget_refuses_calls_for_the_rest_of_the_day(
    opened: Opened, clock: HandClock, kind: str, limit: int, calls: int
) -> None:
    setting = f"budget_{kind}_per_day"
    # Whoever shares the bank shares the budget.
    banks = opened(**{setting: limit}), opened(busy_seconds=21, **{setting: limit})
    for number in range(calls):
        call(banks[number % 2].core.meter)
    clock.now = datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2)))
    for bank in banks:
        with pytest.raises(BudgetError) as caught:
            bank.core.meter.allow("state", MODEL)
        error = caught.value
        assert error.as_dict() | {"message": "", "hint": ""} == {
            "code": "budget", "message": "", "hint": "", "retryable": True, "budget": setting, "limit": limit,
            "used": calls if kind == "calls" else 100 * calls, "until": "2026-03-02T00:00:00Z",
        }  # fmt: skip
        assert "2026-03-02" in str(error.hint)
    assert sum(line["calls"] for line in bank.stats().models["total"]) == calls
    clock.now = datetime(2026, 3, 2, tzinfo=UTC)
    if limit:
        call(bank.core.meter)
    else:
        with pytest.raises(BudgetError):
            bank.core.meter.allow("state", MODEL)


def test_call_is_counted_later_if_the_bank_is_locked(
    opened: Opened, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    meter = (bank := opened(busy_seconds=5)).core.meter
    with locked(bank):
        meter.note("state", MODEL, USED, 0.5)
    assert "could not be counted yet" in caplog.text
    clock.move(days=1)
    meter.note("state", MODEL, USED, 0.5)
    with bank.core.store.reading() as reader:
        assert [len(reader.spent(day)) for day in ("2026-03-01", "2026-03-02")] == [1, 1]
        assert (reader.spent()[0].calls, reader.spent()[0].tokens) == (2, 200)


@contextmanager
def remote(opened: Opened, name: str = "notes", **settings: Any) -> Iterator[tuple[Bank, Requests]]:
    with server() as (address, requests):
        yield opened(name, embedder="server:m", embedder_url=address, **settings), requests


def embeddings(bank: Bank) -> dict[str, tuple[int, int, int]]:
    lines = bank.stats().models["today"]
    return {line["step"]: (line["calls"], line["failures"], line["input_tokens"]) for line in lines}


def test_remote_embedder_is_counted_and_no_reader_waits(opened: Opened) -> None:
    with remote(opened, busy_seconds=600) as (bank, requests):
        bank.remember_many([HERON, "Ferries run to Skagen."])
        assert embeddings(bank) == {"embed": (1, 0, 1)}
        # With such a busy time, a waiting reader would meet the time limit of the test.
        with locked(bank):
            assert bank.recall("who nests there?").plan["embedding"]["model"].startswith("openai:m")
        soon(lambda: embeddings(bank).get("embed_query") == (1, 0, 1))
        requests.failing.set()
        bank.recall("where do ferries go?")
        soon(lambda: embeddings(bank)["embed_query"] == (2, 1, 1))


def test_remote_embedder_keeps_to_the_budget(opened: Opened, clock: HandClock) -> None:
    with remote(opened, budget_calls_per_day=1) as (bank, requests):
        bank.remember_many([HERON])
        found = bank.recall("who nests by the mill?")
        assert [hit.memory.text for hit in found] == [HERON]
        assert "budget_calls_per_day" in str(found.plan) and len(requests) == 1
        clock.move(days=1)
        for question in ("who nests by the mill?", "who nests there?", "who?"):
            bank.recall(question)
        assert len(requests) == 2
    with remote(opened, "other", budget_calls_per_day=3) as (bank, requests):
        bank.remember_many(["Ferries run to Skagen."])
        with locked(bank):
            for number in range(6):
                bank.recall(f"who nests by mill {number}?")
        assert len(requests) == 3


def test_embedder_with_an_odd_cost_report_embeds_all_the_same(tmp_path: Path) -> None:
    class Odd:
        usage: Any = None

        def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
            return self.embed_batch([text])

        def embed_batch(self, texts: Any, opts: Any = None) -> EmbeddingResponse:
            return EmbeddingResponse([[1.0, len(text)] for text in texts], "odd", self.usage)

    usages: list[Any] = [None, {"input_tokens": 3.0}, {"input_tokens": -1}, {"input_tokens": "3"}, 7]
    with pieria.Workspace(tmp_path, embedder=(odd := Odd())) as workspace:
        for number, odd.usage in enumerate(usages):
            bank = workspace.open(f"b{number}")
            bank.remember_many([HERON])
            assert bank.stats().models["today"][0]["calls"] >= 1
            assert bank.recall("heron").plan["embedding"]["pending"] == 0


def test_embedder_is_not_asked_without_a_budget_unless_local(tmp_path: Path, opened: Opened) -> None:
    def asked(texts: list[str]) -> list[list[float]]:
        raise AssertionError

    workspace = pieria.Workspace(tmp_path, {"budget_calls_per_day": 0}, embedder=asked)
    with workspace, pytest.raises(BudgetError):
        workspace.open("b").use_embedder()
    bank = opened(embedder="hashing:64", budget_calls_per_day=0)
    bank.remember_many([HERON])
    bank.recall("who nests?")
    assert bank.stats().models["total"] == []
