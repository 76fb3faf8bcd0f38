"""The budget of work: these tests check that spent time is reported, and measure nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, thread_time

import pytest

import pieria
from pieria.errors import LimitError
from pieria.runtime import effort


def spend(seconds: float) -> None:
    began = thread_time()
    while thread_time() - began < seconds:
        pass


def test_work_that_is_spent_or_due_is_late() -> None:
    assert not effort.is_late()
    assert not effort.is_over()
    effort.check()
    with effort.limited(1e-9), pytest.raises(LimitError, match="processor time of one request") as caught:
        assert effort.is_late()
        effort.check()
    assert caught.value.code == "limit"
    effort.check()
    with effort.limited(100 * effort.EARLY):
        assert not effort.is_late()
    with effort.limited(0.1):
        spend(0.1 * effort.EARLY)
        assert effort.is_late()
    with effort.limited(1e-9), ThreadPoolExecutor() as other_thread:
        assert not other_thread.submit(effort.is_over).result()
    with effort.until(perf_counter() + 1_000):
        with effort.until(perf_counter()):
            assert effort.is_late()
        assert not effort.is_late()
    with effort.until(perf_counter()), effort.until(perf_counter() + 1_000):
        assert effort.is_late()


def test_slow_work_is_reported_once() -> None:
    told: list[float] = []
    with effort.limited(None, told.append):
        effort.pause()
        assert told == []
        spend(effort.SLOW)
        assert not effort.is_late()
        assert told == []
        with effort.until(perf_counter() + 1_000):
            assert not effort.is_late()
        effort.pause()
    assert [0 < seconds <= 1_000 for seconds in told] == [True]


def test_a_statement_without_end_is_broken_off(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT count(*) FROM n"
    with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
        bank.remember("heron")
        with pytest.raises(LimitError), effort.limited(0.1), bank.core.store.reading() as reader:
            reader._session.execute(endless).fetchone()  # type: ignore[attr-defined]
        assert bank.count() == 1
