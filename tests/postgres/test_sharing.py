"""Many banks, threads and processes on one server: they see only their own rows and wait only where necessary."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import psycopg
import pytest
from tests.contract.making import ALL, apply, everything, memory, tie, triple
from tests.postgres.conftest import Opened
from tests.postgres.test_refusals import Admin, as_user, made_user

import pieria
from pieria.errors import ClosedError, ForkedError, UnreachableError, UnsuitableError
from pieria.record.changeset import Changeset
from pieria.record.fact import FactQuery
from pieria.store.postgres import PostgresStore, bank_names
from pieria.store.protocol import Store

BANKS = 12


@pytest.fixture
def owner(admin: Admin, bare_database: str) -> Iterator[str]:
    """Yield the address for an ordinary user who may create a schema."""
    admin.execute("CREATE EXTENSION vector SCHEMA public")
    user = made_user(admin)
    database = psycopg.conninfo.conninfo_to_dict(bare_database)["dbname"]
    admin.execute(f"GRANT CREATE ON DATABASE {database} TO {user}")
    yield as_user(bare_database, user)
    admin.execute(f"DROP OWNED BY {user} CASCADE")
    admin.execute(f"DROP ROLE {user}")


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
def test_banks_that_say_the_same_see_nothing_of_each_other(opened: Opened, owner: str, row_security: bool) -> None:
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


def test_with_row_security_a_statement_without_the_bank_sees_but_its_own(opened: Opened, owner: str) -> None:
    stores = [opened(name, url=owner, row_security=True) for name in ("one", "other")]
    for store in stores:
        fill(store, store.bank)
    for store, table in product(stores, ("content", "state", "posting", "label", "counter", "journal", "link", "fact")):
        with store.looking() as session:
            found = session.execute(f"SELECT DISTINCT bank FROM {table}").fetchall()
            assert found == [(store.number,)]
    with psycopg.connect(owner) as outside:
        assert outside.execute("SELECT count(*) FROM pieria.content").fetchone() == (0,)
    assert stores[0].describe()["row_security"] is True
    later = opened("later", url=owner)
    fill(later, "later")
    sees_its_own_alone(later, "later")


def test_row_security_that_would_not_hold_is_refused(opened: Opened) -> None:
    with pytest.raises(UnsuitableError, match="superuser"):
        opened(row_security=True)


def test_a_thread_that_finds_no_connection_free_may_try_again(opened: Opened) -> None:
    store = opened(connections=1, busy_seconds=0.2)
    other = opened("other", connections=1, busy_seconds=0.2)
    refused: list[UnreachableError] = []

    def read() -> None:
        try:
            with other.reading() as reader:
                reader.head()
        except UnreachableError as problem:
            refused.append(problem)

    with store.reading() as reader:
        reader.head()
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        assert [problem.retryable for problem in refused] == [True]
        # A thread that already has a connection never waits for a second one.
        with other.reading() as beside:
            assert beside.head().seq == 0
    read()
    assert len(refused) == 1


def test_stores_of_a_process_share_their_connections(opened: Opened, admin: Admin) -> None:
    stores = [opened(f"bank {number}", connections=2) for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda store: fill(store, store.bank), stores))
    held = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pieria' AND datname = current_database()"
    found = admin.execute(held).fetchone()
    assert found is not None
    assert 1 <= int(str(found[0])) <= 2
    for store in stores:
        store.close()
    with pytest.raises(ClosedError), stores[0].reading():
        raise AssertionError("it is closed")
    with opened("bank 0", connections=2).reading() as reader:
        assert reader.totals()["versions"] == 2


def in_a_child(work: Callable[[], None]) -> int:
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_forked_child_is_refused_and_opens_its_own(opened: Opened) -> None:
    store = opened()
    apply(store, memory("heron", "m"))

    def work() -> None:
        for use in (store.reading, store.writing):
            with pytest.raises(ForkedError), use():
                raise AssertionError("it is the parent's")
        with pytest.raises(ForkedError):
            store.wait(0, 60)
        store.close()
        own = opened()
        apply(own, memory("of the child", "n"))
        with own.reading() as reader:
            assert reader.count(ALL) == {"total": 2}
        own.close()

    with store.reading() as reader:
        assert reader.count(ALL) == {"total": 1}
        assert in_a_child(work) == 0
        assert reader.count(ALL) == {"total": 1}
    apply(store, memory("of the parent", "o"))
    with store.reading() as reader:
        assert [change.seq for change in reader.changes()] == [1, 2, 3]


def test_a_bank_on_a_server_is_refused_in_a_forked_child(bare_database: str) -> None:
    with pieria.open("notes", data=bare_database) as bank:
        bank.remember("by the parent")

        def work() -> None:
            with pytest.raises(ForkedError, match="bank notes was opened in process") as refused:
                bank.count()
            assert "pieria.open" in str(refused.value.hint)
            bank.close()
            with pieria.open("notes", data=bare_database) as own:
                own.remember("by the child")

        assert in_a_child(work) == 0
        assert {memory.text for memory in bank.list()} == {"by the parent", "by the child"}


def test_a_child_that_leaves_a_transaction_of_its_parent_breaks_nothing(opened: Opened) -> None:
    store = opened()
    apply(store, memory("heron", "m"), memory("stork", "n"))
    child = -1
    try:
        with store.reading() as reader, store.writing() as writer:
            lines = reader.dump("content")
            next(lines)
            child = os.fork()
            if child:
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
                assert len(list(lines)) == 1
                writer.apply(Changeset(who="parent", what="remember", writes=[memory("goose", "o")]))
            else:
                lines.close()  # type: ignore[attr-defined]
                for each in (reader, writer):
                    with pytest.raises(ForkedError):
                        each.head()
    except ForkedError:
        os._exit(1 if child else 0)
    with store.reading() as reader:
        assert [change.who for change in reader.changes()][-1] == "parent"


def test_many_make_the_schema_and_a_bank_at_once(bare_database: str) -> None:
    """Each bank is opened in a separate process."""

    def work() -> None:
        store = PostgresStore(bare_database, "bank")
        apply(store, memory("heron", f"m{os.getpid()}"))
        store.close()

    children = []
    for _ in range(6):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 6
    store = PostgresStore(bare_database, "bank")
    with store.reading() as reader:
        assert reader.count(ALL) == {"total": 6}
        assert [change.seq for change in reader.changes()] == [1, 2, 3, 4, 5, 6]
    assert len(everything(store)["content"]) == 6
    store.close()
