"""Updating the planner's statistics while others lock the tables: no caller waits without end."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.contract.making import apply, memory
from tests.postgres.conftest import Opened
from tests.postgres.test_refusals import CUT, Admin

from pieria.record.changeset import Changeset, Write
from pieria.store.postgres import PostgresStore, bank_names
from pieria.store.postgres import maintenance as tidying


def erased(store: PostgresStore) -> None:
    apply(store, memory("the harbour is closed", "m"))
    apply(store, erase=["m"])


def herons(number: int = 9) -> Iterator[Write]:
    """Return enough memories to trigger new statistics."""
    return (memory(f"heron {each}", f"m{each}") for each in range(number))


@contextmanager
def at_a_table(admin: Admin, table: str) -> Iterator[None]:
    """Hold the lock that an index build holds for hours."""
    with admin.transaction():
        admin.execute(f"LOCK TABLE pieria.{table} IN SHARE UPDATE EXCLUSIVE MODE")
        yield


def test_whoever_writes_much_does_not_wait_for_an_index_that_is_built(
    opened: Opened, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "MANY", 4)
    store = opened()
    with at_a_table(admin, "embedded"):
        writing = threading.Thread(target=apply, args=(store, *herons()), daemon=True)
        writing.start()
        writing.join(60)
        assert not writing.is_alive()


def test_a_bank_that_has_grown_is_counted_though_its_tables_were_tidied_up(
    opened: Opened, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ANALYZE gives the server the number of rows in a table, but not per bank."""
    monkeypatch.setattr(tidying, "MANY", 4)
    store, other = opened(), opened("other")
    apply(store, *herons())
    for table in ("state", "embedded"):
        admin.execute(f"ANALYZE pieria.{table}")
    store.scrub()
    with other.writing() as writer:
        writer.apply(Changeset(who="test", what="remember", writes=list(herons(500))))
        admin.execute("UPDATE pg_class SET reltuples = 509 WHERE oid = 'pieria.state'::regclass")
    [[explained]] = admin.execute(f"EXPLAIN (FORMAT JSON) SELECT FROM pieria.state WHERE bank = {other.number}")
    assert explained[0]["Plan"]["Plan Rows"] > 100  # type: ignore[index]


def test_what_was_written_is_not_told_as_failed_when_no_connection_is_left_to_count(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "MANY", 4)
    store, other = opened(connections=1, busy_seconds=0.2), opened("other", connections=1)
    enough = threading.Event()

    def read() -> None:
        with other.reading() as reader:
            reader.head()
            enough.wait(10)

    reading = threading.Thread(target=read)
    with store.writing() as writer:
        writer.head()
        # The reader is next when the writer gives its connection back, and keeps it.
        reading.start()
        while not store._pool._waiting:
            time.sleep(0.01)
        writer.apply(Changeset(who="test", what="remember", writes=list(herons())))
    enough.set()
    reading.join()


def test_connections_cut_while_idle_are_noticed_by_nobody_who_only_asks(
    opened: Opened, admin: Admin, bare_database: str
) -> None:
    store = opened()
    erased(store)
    for ask in (lambda: opened("another"), store.scrub, lambda: bank_names(bare_database)):
        admin.execute(CUT)
        ask()
