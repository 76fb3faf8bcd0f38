"""Waiting for a change: every writer wakes it, and nothing else does."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tests.contract.conftest import Opens
from tests.contract.making import apply, memory

from pieria.store.protocol import Store

LONG = 60.0
"""Seconds. A wait that does not end would fail the test by its time limit."""


def seq(store: Store) -> int:
    with store.reading() as reader:
        return reader.head().seq


def test_wait_ends_with_its_time_or_a_past_change(store: Store) -> None:
    apply(store, memory())
    assert store.wait(0, LONG)
    assert store.wait(seq(store) - 1, 0)
    assert not store.wait(seq(store), 0)
    assert not store.wait(seq(store), 0.05)


def test_change_of_another_store_ends_the_wait(opens: Opens) -> None:
    one, other = opens(), opens()
    with ThreadPoolExecutor() as threads:
        for n in range(3):
            waiting = threads.submit(one.wait, seq(one), LONG)
            apply(other, memory(f"m{n}", f"m{n}"))
            assert waiting.result(LONG)


def test_other_banks_and_rollbacks_end_no_wait(opens: Opens) -> None:
    one, again, other = opens(), opens(), opens(name="other")
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(one.wait, 0, 0.5)
        apply(other, memory())
        with suppress(ZeroDivisionError), again.writing():
            raise ZeroDivisionError
        assert not waiting.result(LONG)
        waiting = threads.submit(one.wait, 0, LONG)
        apply(other, memory("b", "b"))
        apply(one, memory())
        assert waiting.result(LONG)


def test_closing_the_store_ends_its_waits(opens: Opens) -> None:
    store = opens()
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(store.wait, 0, LONG)
        store.close()
        error = waiting.exception(LONG)
        assert type(error).__name__ == "ClosedError" if error else not waiting.result(LONG)
