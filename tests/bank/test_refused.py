"""Texts that a model refuses for good block no other text, and are reported."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.bank.background_queue import rested
from tests.bank.embedding_server import Requests, server
from tests.bank.test_vectors import embedded, finding, letters
from tests.bank.test_vectors import opened as open_with
from tests.waiting import SOON, soon

from pieria import Bank
from pieria.errors import AdapterError


@pytest.fixture
def requests() -> Requests:
    return Requests(unwanted="toad")


@pytest.fixture
def bank(opened: Callable[..., Bank], requests: Requests) -> Iterator[Bank]:
    with server(requests) as (address, _):
        yield opened("b", embedder="server:m", embedder_url=address)


def texts(count: int, *refused: int) -> list[dict[str, str]]:
    return [{"text": f"toad {n}" if n in refused else f"apple {n}"} for n in range(count)]


def test_one_refused_text_holds_up_no_other(bank: Bank, requests: Requests, caplog: pytest.LogCaptureFixture) -> None:
    bank.remember_many(texts(100, 0, 70, 71))
    assert embedded(bank) == {f"apple {n}": 1 for n in range(100) if n not in (0, 70, 71)}
    assert (bank.stats().pending, caplog.text.count("is set aside")) == ({"vectors": 3}, 3)
    assert "toad" not in caplog.text and finding(bank).well
    told = finding(bank, "vectors")
    assert "vectors not yet made: 3; 3 texts were refused" in told.detail and "not that" in told.detail
    assert told.remedy
    plan = bank.recall("apple").plan["embedding"]
    assert (plan["pending"], "set aside" in plan["note"]) == (3, True)
    asked = len(requests)
    bank.remember("a pear")
    soon(lambda: "a pear" in embedded(bank))
    assert not bank.sync(SOON)
    assert [request.texts for request in requests[asked:]] == [["a pear"]]


def test_more_refused_texts_than_a_step_reads_hold_up_no_other(bank: Bank) -> None:
    bank.remember_many(texts(150, *range(140)))
    one, two = bank.list(limit=2, order="oldest")
    bank.remember("a pear")
    soon(lambda: "a pear" in embedded(bank))
    assert (len(embedded(bank)), bank.stats().pending) == (11, {"vectors": 140})
    # A purged or changed text is no longer waited for.
    bank.purge(one.id)
    bank.update(two.id, text="a plum")
    soon(lambda: "a plum" in embedded(bank))


def test_window_over_a_refused_turn_is_set_aside_with_it(bank: Bank) -> None:
    bank.remember_many([{**item, "session": "s"} for item in texts(9, 4)])
    windows = embedded(bank, "window")
    assert len(embedded(bank)) == 8 and {"apple 0", "apple 8"} <= windows.keys() and "toad 4" not in windows


def test_new_opening_tries_refused_texts_again(bank: Bank, opened: Callable[..., Bank], requests: Requests) -> None:
    bank.remember_many(texts(2, 0))
    requests.unwanted = None
    url = bank.doctor().settings["embedder_url"][0]
    bank.close()
    again = opened("b", embedder="server:m", embedder_url=url)
    assert again.sync(SOON)
    assert embedded(again) == {"toad 0": 1, "apple 1": 1}


def test_model_that_refuses_everything_sets_nothing_aside(bank: Bank, requests: Requests) -> None:
    requests.failing.set()
    bank.remember_many(texts(70, 0))
    with pytest.raises(AdapterError, match="out of order"):
        bank.sync(SOON)
    assert not finding(bank).well
    requests.failing.clear()
    assert not bank.sync(SOON)
    assert len(embedded(bank)) == 69


def test_function_that_fails_once_loses_no_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stumbles = [True]

    def stumbling(given: list[str]) -> list[list[float]]:
        if stumbles:
            stumbles.pop()
            raise RuntimeError("once")
        return letters(given)

    with open_with(tmp_path, stumbling) as bank:
        bank.remember_many([{"text": "an apple"}])
        assert (stumbles, embedded(bank)) == ([], {"an apple": 1})
        # A memory that has nothing to embed is not waited for.
        memory = bank.remember("a pear")
        assert bank.sync(SOON)
        rested()
        caplog.clear()
        with bank.core.store.writing() as writer:
            note = "INSERT INTO pending (row, what, seq) VALUES (?, 'window', 1)"
            writer._session.execute(note, (memory.row,))  # type: ignore[attr-defined]
        assert bank.stats().pending == {"vectors": 1}
        assert bank.sync(SOON)
        assert bank.stats().pending == {"vectors": 0}
        assert not caplog.records
