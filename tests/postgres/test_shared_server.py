"""Many banks, threads and processes on one server: they see only their own rows and wait only where necessary."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.contract.store_helpers import ALL, HandClock, apply, memory, tie, triple
from tests.contract.test_copy import held_by, lived_in
from tests.contract.test_vectors import drawn, near, well
from tests.postgres.conftest import Admin, Opened

import pieria
from pieria.errors import ClosedError, ForkedError, UnreachableError, UnsuitableError
from pieria.record.changeset import Changeset
from pieria.record.fact import FactQuery
from pieria.store.copy import copy
from pieria.store.postgres import PostgresStore, bank_names
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.protocol import Store
from pieria.store.sqlite import SQLiteStore

BANKS = 8


def fill(store: Store, name: str) -> None:
    """Write the same ids, words and names to every bank, and one word of its own."""
    apply(
        store, memory(f"heron {name}", "m", tags=["bird"]), memory("stork", "n", session="s"),
        links=[tie("l", "m", "n", label=name)], facts=[triple("f", "Heron", "lives in", name)],
    )  # fmt: skip


def sees_its_own_alone(store: Store, name: str) -> None:
    with store.reading() as reader:
        assert reader.count(ALL) == {"total": 2}
        assert {each.text for each in reader.select(ALL)} == {f"heron {name}", "stork"}
        found = reader.text(["heron"], ALL, 100, 100)
        assert found.frequencies == {"heron": 1}
        assert len(found.candidates) == 1
        assert [link.label for link in reader.links()] == [name]
        assert [fact.object for fact in reader.facts(FactQuery(), ALL)] == [name]
        assert reader.head().seq == 1
        assert [change.seq for change in reader.changes()] == [1]
        assert reader.count(ALL, "tags") == {"bird": 1}
        for table in ("content", "state", "link", "fact", "journal"):
            assert len(list(reader.dump(table))) == {"content": 2, "state": 2}.get(table, 1)


@pytest.mark.parametrize("row_security", [False, True])
def test_banks_with_the_same_ids_see_only_their_own(opened: Opened, owner: str, row_security: bool) -> None:
    names = [f"bank {number}" for number in range(BANKS)]
    stores = {name: opened(name, url=owner, row_security=row_security) for name in names}
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: fill(stores[name], name), names))
        list(threads.map(lambda name: sees_its_own_alone(stores[name], name), names))
    assert bank_names(owner) == sorted(names)
    with stores["bank 3"].writing() as writer:
        writer.rebuild_index(lambda content: content.text.split(), 7, None, False)
    apply(stores["bank 4"], memory("another", "x"), erase=["m"])
    for name in names[5:]:
        sees_its_own_alone(stores[name], name)
        assert all(finding.well for finding in stores[name].check())


def test_row_security_limits_statements_without_a_bank(opened: Opened, owner: str) -> None:
    stores = [opened(name, url=owner, row_security=True) for name in ("one", "other")]
    for store in stores:
        fill(store, store.bank)
    for store in stores:
        for table in ("content", "state", "posting", "label", "counter", "journal", "link", "fact"):
            with store.looking() as session:
                assert session.execute(f"SELECT DISTINCT bank FROM {table}").fetchall() == [(store.number,)]
    with psycopg.connect(owner) as outside:
        assert outside.execute("SELECT count(*) FROM pieria.content").fetchone() == (0,)
    assert stores[0].describe()["row_security"] is True
    later = opened("later", url=owner)
    fill(later, "later")
    sees_its_own_alone(later, "later")
    with pytest.raises(UnsuitableError, match="superuser"):
        opened(row_security=True)


def test_secured_bank_can_be_copied_and_indexed(
    opened: Opened, owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = opened("bank", url=owner, row_security=True)
    with (
        closing(SQLiteStore(tmp_path / "bank.db", clock=HandClock())) as before,
        closing(SQLiteStore(tmp_path / "again.db", clock=HandClock())) as again,
    ):
        lived_in(before)
        copy(before, server)
        copy(server, again)
        assert held_by(before) == held_by(server) == held_by(again)
    monkeypatch.setattr(indexing, "OUTGROWN", 100)
    assert server.repair(server.check(), lambda _: ()) == [indexing.CHECK]
    assert len(near(server, drawn(1)[0], want=30).candidates) == 30
    well(server)


def test_thread_without_a_free_connection_may_try_again(opened: Opened) -> None:
    store = opened(connections=1, busy_seconds=0.2)
    other = opened("other", connections=1, busy_seconds=0.2)

    def read() -> int:
        with other.reading() as reader:
            return reader.head().seq

    with store.reading() as reader, ThreadPoolExecutor(1) as threads:
        reader.head()
        refused = threads.submit(read).exception()
        assert isinstance(refused, UnreachableError) and refused.retryable
        # A thread that already has a connection never waits for a second one.
        assert read() == 0
    assert read() == 0


def test_stores_of_a_process_share_their_connections(opened: Opened, admin: Admin) -> None:
    stores = [opened(f"bank {number}", connections=2) for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda store: fill(store, store.bank), stores))
    held = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pieria' AND datname = current_database()"
    assert 1 <= len(admin.execute(held).fetchall()) <= 2
    for store in stores:
        store.close()
    with pytest.raises(ClosedError), stores[0].reading():
        raise AssertionError("it is closed")
    with opened("bank 0", connections=2).reading() as reader:
        assert reader.totals()["versions"] == 2


def in_a_child(work: Callable[[], None]) -> int:
    """Fork a child that does the work. Return its process id for `ended_well`."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended_well(pid: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_forked_child_is_refused_and_opens_its_own(opened: Opened, bare_database: str) -> None:
    store = opened()
    apply(store, memory("heron", "m"))

    def work() -> None:
        for use in (store.reading, store.writing):
            with pytest.raises(ForkedError), use():
                raise AssertionError("it is the parent's")
        with pytest.raises(ForkedError):
            store.wait(0, 60)
        store.close()
        with pytest.raises(ForkedError, match="bank notes was opened in process") as refused:
            bank.count()
        assert "pieria.open" in str(refused.value.hint)
        bank.close()
        own = opened()
        apply(own, memory("of the child", "n"))
        with own.reading() as reader:
            assert reader.count(ALL) == {"total": 2}
        own.close()

    with pieria.open("notes", data=bare_database) as bank, store.reading() as reader:
        assert reader.count(ALL) == {"total": 1}
        assert ended_well(in_a_child(work))
        assert reader.count(ALL) == {"total": 1}
        assert bank.count() == 0
    apply(store, memory("of the parent", "o"))
    with store.reading() as reader:
        assert [change.seq for change in reader.changes()] == [1, 2, 3]


def test_child_may_leave_a_transaction_of_its_parent(opened: Opened) -> None:
    store = opened()
    apply(store, memory("heron", "m"), memory("stork", "n"))
    child = -1
    try:
        with store.reading() as reader, store.writing() as writer:
            lines = reader.dump("content")
            next(lines)
            child = os.fork()
            if child:
                assert ended_well(child)
                assert len(list(lines)) == 1
                writer.apply(Changeset("remember", "parent", writes=[memory("goose", "o")]))
            else:
                lines.close()  # type: ignore[attr-defined]
                for each in (reader, writer):
                    with pytest.raises(ForkedError):
                        each.head()
    except ForkedError:
        os._exit(1 if child else 0)
    with store.reading() as reader:
        assert reader.changes()[-1].who == "parent"


def test_processes_make_the_schema_and_a_bank_at_once(opened: Opened, bare_database: str) -> None:
    def work() -> None:
        with closing(PostgresStore(bare_database, "bank")) as store:
            apply(store, memory("heron", f"m{os.getpid()}"))

    children = [in_a_child(work) for _ in range(6)]
    assert all([ended_well(pid) for pid in children])
    with opened().reading() as reader:
        assert reader.count(ALL) == {"total": 6}
        assert [change.seq for change in reader.changes()] == [1, 2, 3, 4, 5, 6]
        assert len(list(reader.dump("content"))) == 6
