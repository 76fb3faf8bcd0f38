"""Updating the planner's statistics while others lock the tables: no caller waits without end."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.store_helpers import apply, memory
from tests.postgres.conftest import CUT, Admin, Opened
from tests.waiting import soon

from pieria.record.changeset import Changeset, Write
from pieria.store.postgres import bank_names
from pieria.store.postgres import maintenance as tidying


def herons(number: int = 9) -> Iterator[Write]:
    return (memory(f"heron {each}", f"m{each}") for each in range(number))


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few memories trigger new statistics."""
    monkeypatch.setattr(tidying, "MANY", 4)


def test_large_write_does_not_wait_for_an_index_build(opened: Opened, admin: Admin) -> None:
    store = opened()
    with ThreadPoolExecutor(1) as threads, admin.transaction():
        # The lock that an index build holds for hours.
        admin.execute("LOCK TABLE pieria.embedded IN SHARE UPDATE EXCLUSIVE MODE")
        threads.submit(apply, store, *herons()).result(60)


def test_statistics_follow_a_bank_that_has_grown(opened: Opened, admin: Admin) -> None:
    """ANALYZE gives the server the number of rows in a table, but not per bank."""
    store, other = opened(), opened("other")
    apply(store, *herons())
    for table in ("state", "embedded"):
        admin.execute(f"ANALYZE pieria.{table}")
    store.scrub()
    with other.writing() as writer:
        writer.apply(Changeset("remember", writes=list(herons(500))))
        admin.execute("UPDATE pg_class SET reltuples = 509 WHERE oid = 'pieria.state'::regclass")
    [[explained]] = admin.execute(f"EXPLAIN (FORMAT JSON) SELECT FROM pieria.state WHERE bank = {other.number}")
    assert explained[0]["Plan"]["Plan Rows"] > 100  # type: ignore[index]


def test_write_succeeds_without_a_connection_for_statistics(opened: Opened) -> None:
    store, other = opened(connections=1, busy_seconds=0.2), opened("other", connections=1)
    enough = threading.Event()

    def read() -> None:
        with other.reading() as reader:
            reader.head()
            enough.wait(10)

    with ThreadPoolExecutor(1) as threads:
        with store.writing() as writer:
            writer.head()
            # The reader is next when the writer gives its connection back, and keeps it.
            reading = threads.submit(read)
            soon(lambda: store._pool._waiting)
            writer.apply(Changeset("remember", writes=list(herons())))
        enough.set()
        reading.result(60)


def test_connections_cut_while_idle_are_replaced(opened: Opened, admin: Admin, bare_database: str) -> None:
    store = opened()
    apply(store, memory("the harbour is closed", "m"))
    apply(store, erase=["m"])
    for ask in (lambda: opened("another"), store.scrub, lambda: bank_names(bare_database)):
        admin.execute(CUT)
        ask()
