"""Texts that a model refuses for good block no other text, and are reported."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bank.embedding_server import Requests, server
from tests.bank.resting import rested
from tests.bank.test_embedding import SOON, embedded, finding, letters, opened, soon

import pieria
from pieria import Bank
from pieria.errors import AdapterError


@pytest.fixture
def requests() -> Requests:
    return Requests(unwanted="toad")


@pytest.fixture
def bank(tmp_path: Path, requests: Requests) -> Iterator[Bank]:
    with (
        server(requests) as (address, _),
        pieria.open("b", data=tmp_path, settings={"embedder": "server:m", "embedder_url": address}) as bank,
    ):
        yield bank


def texts(count: int, *refused: int) -> list[dict[str, str]]:
    return [{"text": f"toad {n}" if n in refused else f"apple {n}"} for n in range(count)]


def test_one_text_that_is_refused_holds_up_no_other(
    bank: Bank, requests: Requests, caplog: pytest.LogCaptureFixture
) -> None:
    bank.remember_many(texts(200, 0, 70, 71))
    assert embedded(bank) == {f"apple {n}": 1 for n in range(200) if n not in (0, 70, 71)}
    assert bank.stats().pending == {"vectors": 3}
    assert caplog.text.count("is set aside") == 3
    assert "toad" not in caplog.text
    asked = len(requests)
    bank.remember("a pear")
    soon(lambda: "a pear" in embedded(bank))
    assert not bank.sync(SOON)
    assert [request.texts for request in requests[asked:]] == [["a pear"]]


def test_what_is_refused_is_told_and_does_not_make_the_model_ill(bank: Bank) -> None:
    bank.remember_many(texts(3, 1))
    assert finding(bank).well
    told = finding(bank, "vectors")
    assert "vectors not yet made: 1; 1 texts were refused" in told.detail
    assert "not that" in told.detail
    assert told.remedy
    plan = bank.recall("apple").plan["embedding"]
    assert (plan["pending"], "set aside" in plan["note"]) == (1, True)


def test_more_refused_texts_than_a_step_reads_hold_up_no_other(bank: Bank) -> None:
    bank.remember_many(texts(150, *range(140)))
    bank.remember("a pear")
    soon(lambda: "a pear" in embedded(bank))
    assert len(embedded(bank)) == 11
    assert bank.stats().pending == {"vectors": 140}


def test_a_window_over_a_refused_turn_is_set_aside_with_it(bank: Bank) -> None:
    bank.remember_many([{**item, "session": "s"} for item in texts(9, 4)])
    windows = embedded(bank, "window")
    assert len(embedded(bank)) == 8
    assert {"apple 0", "apple 8"} <= windows.keys()
    assert "toad 4" not in windows


def test_a_text_that_was_changed_or_purged_is_no_longer_waited_for(bank: Bank) -> None:
    one, two = bank.remember_many(texts(2, 0, 1))
    bank.purge(one.id)
    bank.update(two.id, text="a pear")
    soon(lambda: "a pear" in embedded(bank))


def test_a_bank_opened_anew_tries_them_again(tmp_path: Path, requests: Requests) -> None:
    with server(requests) as (address, _):
        settings = {"embedder": "server:m", "embedder_url": address}
        with pieria.open("b", data=tmp_path, settings=settings) as bank:
            bank.remember_many(texts(2, 0))
        requests.unwanted = None
        with pieria.open("b", data=tmp_path, settings=settings) as bank:
            assert bank.sync(SOON)
            assert embedded(bank) == {"toad 0": 1, "apple 1": 1}


def test_a_model_that_refuses_everything_sets_nothing_aside(bank: Bank, requests: Requests) -> None:
    requests.failing.set()
    bank.remember_many(texts(70, 0))
    with pytest.raises(AdapterError, match="out of order"):
        bank.sync(SOON)
    assert not finding(bank).well
    requests.failing.clear()
    assert not bank.sync(SOON)
    assert len(embedded(bank)) == 69


def test_a_function_that_stumbles_once_loses_no_text(tmp_path: Path) -> None:
    stumbles = [True]

    def stumbling(given: list[str]) -> list[list[float]]:
        if stumbles:
            stumbles.pop()
            raise RuntimeError("once")
        return letters(given)

    with opened(tmp_path, stumbling) as bank:
        bank.remember_many([{"text": "an apple"}])
        assert (stumbles, embedded(bank)) == ([], {"an apple": 1})


def test_what_has_nothing_to_embed_is_not_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path) as bank, caplog.at_level(logging.WARNING):
        memory = bank.remember("an apple")
        assert bank.sync(SOON)
        rested()
        with bank.core.store.writing() as writer:
            note = "INSERT INTO pending (row, what, seq) VALUES (?, 'window', 1)"
            writer._session.execute(note, (memory.row,))  # type: ignore[attr-defined]
        assert bank.stats().pending == {"vectors": 1}
        assert bank.sync(SOON)
        assert bank.stats().pending == {"vectors": 0}
        assert not caplog.records
