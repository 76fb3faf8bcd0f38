"""The budget of work: these tests check that spent time is reported, and measure nothing."""

import threading
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


def test_work_that_nobody_limits_is_never_late() -> None:
    assert not effort.is_late()
    assert not effort.is_over()
    effort.check()


def test_spent_work_is_late_and_then_refused() -> None:
    with effort.limited(1e-9), pytest.raises(LimitError, match="processor time of one request") as caught:
        assert effort.is_late()
        effort.check()
    assert caught.value.code == "limit"
    effort.check()


def test_work_is_late_before_it_is_over() -> None:
    with effort.limited(100 * effort.EARLY):
        assert not effort.is_late()
    with effort.limited(0.1):
        spend(0.1 * effort.EARLY)
        assert effort.is_late()


def test_an_answer_that_is_due_is_late() -> None:
    with effort.until(perf_counter() + 1_000):
        assert not effort.is_late()
        with effort.until(perf_counter()):
            assert effort.is_late()
        assert not effort.is_late()


def test_the_earlier_moment_counts() -> None:
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
    assert len(told) == 1
    assert 0 < told[0] <= 1_000


def test_another_thread_has_its_own_time() -> None:
    seen: list[bool] = []
    with effort.limited(1e-9):
        thread = threading.Thread(target=lambda: seen.append(effort.is_over()))
        thread.start()
        thread.join()
    assert seen == [False]


ENDLESS = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT count(*) FROM n"


def test_a_statement_without_end_is_broken_off(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
        bank.remember("heron")
        with pytest.raises(LimitError), effort.limited(0.1), bank.core.store.reading() as reader:
            reader._session.execute(ENDLESS).fetchone()  # type: ignore[attr-defined]
        assert bank.count() == 1
