"""Waits for locks end, and the error says who held the lock."""

from pathlib import Path

import pytest
from tests.contract.making import apply, memory
from tests.postgres.conftest import Opened
from tests.postgres.test_refusals import Admin

import pieria
from pieria.errors import BusyError
from pieria.store.postgres import PostgresStore, driver


def pid_of(admin: Admin) -> int:
    return admin.info.backend_pid


def test_read_of_a_locked_table_names_the_holder(opened: Opened, admin: Admin) -> None:
    store = opened(busy_seconds=0.2)
    apply(store, memory("heron", "m"))
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.content IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(BusyError) as refused, store.reading() as reader:
            reader.history("m")
    assert refused.value.retryable
    assert f"waited 0.2 s for pid {pid_of(admin)} (role postgres, since " in refused.value.message
    assert "holds the table content" in refused.value.message
    with store.reading() as reader:
        assert len(reader.history("m")) == 1


def test_write_to_a_locked_table_names_the_holder(opened: Opened, admin: Admin) -> None:
    store = opened(busy_seconds=0.2)
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.posting IN SHARE MODE")
        with pytest.raises(BusyError, match="holds the table posting"):
            apply(store, memory("heron", "m"))
    apply(store, memory("heron", "m"))


def test_writer_of_the_same_bank_is_named(opened: Opened) -> None:
    one, other = opened(), opened(busy_seconds=0.2)
    with one.writing() as writer:
        pid = writer._session.execute("SELECT pg_backend_pid()").fetchone()[0]
        with pytest.raises(BusyError, match=rf"pid {pid} .* holds the bank's turn to write"), other.writing():
            raise AssertionError("it is not its turn")


def test_recall_waits_for_a_lock_until_its_deadline(admin: Admin, bare_database: str, tmp_path: Path) -> None:
    settings = {"local": str(tmp_path), "embedder": "none", "busy_seconds": 3600}
    with pieria.open("notes", data=bare_database, settings=settings) as bank:
        bank.remember("heron by the lake")
        with admin.transaction():
            admin.execute("LOCK TABLE pieria.content IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(BusyError, match="holds the table content") as refused:
                bank.recall("heron", deadline_ms=200)
        assert refused.value.retryable
        assert [hit.memory.text for hit in bank.recall("heron", deadline_ms=60_000)] == ["heron by the lake"]


def test_opening_waits_for_a_lock_no_longer_than_others(
    opened: Opened, admin: Admin, bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().close()
    monkeypatch.setattr(driver, "SET_UP", driver.SET_UP.replace("'5s'", "'200ms'"))
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.bank IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(BusyError):
            PostgresStore(f"{bare_database}&connect_timeout=9", "bank")
