"""Removing a bank from a server: from all tables and indexes, beside other banks, in one transaction."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.contract.making import apply, everything, memory
from tests.contract.test_copying import lived_in
from tests.contract.test_vectors import drawn, enter, with_vector
from tests.postgres.conftest import Opened
from tests.postgres.test_sharing import owner  # noqa: F401 - a fixture
from tests.postgres.test_vector_index import index_of

from pieria import Workspace
from pieria.errors import BusyError, NotFoundError, StorageError
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.protocol import Reader
from pieria.toolsets.host import Banks

Admin = psycopg.Connection[tuple[object, ...]]


def left_of(admin: Admin, number: int) -> dict[str, int]:
    """Return the number of rows of a bank in each table."""
    tables = admin.execute(
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'bank'"
        " WHERE c.relnamespace = 'pieria'::regnamespace AND c.relkind = 'r'"
    ).fetchall()
    counted = {}
    for (table,) in tables:
        [(counted[str(table)],)] = admin.execute(
            f"SELECT count(*) FROM {table} WHERE bank = %s".encode(), (number,)
        ).fetchall()
    return counted  # type: ignore[return-value]


@pytest.mark.parametrize("row_security", [False, True])
def test_no_line_is_left_of_it_in_any_table_and_others_have_all_of_theirs(
    opened: Opened,
    owner: str,  # noqa: F811
    admin: Admin,
    row_security: bool,
) -> None:
    store = opened("gone", url=owner, row_security=row_security)
    other = opened("other", url=owner, row_security=row_security)
    lived_in(store)
    apply(other, memory("theirs"))
    theirs = everything(other)
    before = left_of(admin, store.number)
    assert sum(1 for number in before.values() if number) > 12
    store.remove(lambda reader: None)
    assert not any(left_of(admin, store.number).values())
    assert everything(other) == theirs
    assert opened("gone", url=owner, row_security=row_security).number > other.number


def test_its_index_goes_as_well_unless_somebody_is_building_it(
    opened: Opened, bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "OUTGROWN", 10)
    indexed, database = opened(), bare_database
    vectors = [with_vector(memory(f"m{n}", f"m{n}"), vector) for n, vector in enumerate(drawn(1, 20))]
    apply(indexed, *vectors, space=enter(indexed))
    indexed.repair(indexed.check(), lambda _: ())
    assert index_of(database, indexed)
    with psycopg.connect(database) as builder:
        builder.execute("SELECT pg_advisory_lock(%s, %s)", (indexing.BUILDING, indexed.number))
        with pytest.raises(BusyError, match="building an index"):
            indexed.remove(lambda reader: None)
        assert index_of(database, indexed)
        builder.execute("SELECT pg_advisory_unlock(%s, %s)", (indexing.BUILDING, indexed.number))
    indexed.remove(lambda reader: None)
    assert index_of(database, indexed) == []


def test_a_removal_that_is_cut_in_the_middle_leaves_it_whole(opened: Opened, admin: Admin) -> None:
    store = opened("notes")
    lived_in(store)
    before = everything(store)

    def cut(reader: Reader) -> None:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                      " AND datname = current_database() AND state = 'idle in transaction'")  # fmt: skip

    with pytest.raises(StorageError):
        store.remove(cut)
    assert everything(opened("notes")) == before


def test_a_removal_that_is_cut_while_it_tidies_up_is_told_as_one_and_names_what_is_left(
    opened: Opened, admin: Admin
) -> None:
    store = opened("notes")
    lived_in(store)

    def cut_who_tidies_up(reader: Reader) -> None:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                      " AND datname = current_database() AND state = 'idle'")  # fmt: skip

    [left] = store.remove(cut_who_tidies_up)
    assert "doctor --repair" in left
    assert store.is_over
    assert not any(left_of(admin, store.number).values())


def test_whoever_waits_for_a_change_hears_at_once_that_it_is_gone(opened: Opened) -> None:
    held, store = opened(), opened()
    seq = apply(held, memory()).change.seq
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(held.wait, seq, 60)
        store.remove(lambda reader: None)
        assert waiting.exception(30) is None or isinstance(waiting.exception(), NotFoundError)
    with pytest.raises(NotFoundError, match="bank"):
        held.wait(seq, 60)


def test_a_server_elsewhere_lets_go_of_it_and_does_not_make_it_anew_by_looking(
    opened: Opened, bare_database: str
) -> None:
    with Workspace(bare_database, {"user": "maya"}) as workspace:
        banks = Banks(workspace, "test")
        held = banks.opened("notes", None)
        held.remember("We chose JWT.")
        held.remember("I like herons.", scope="user")
        opened("@maya").remove(lambda reader: None)
        # A caller that reaches the user's bank through another bank gets the error once, and then works without it.
        with pytest.raises(NotFoundError):
            held.recall("JWT")
        assert held.recall("JWT")
        opened("notes").remove(lambda reader: None)
        with pytest.raises(NotFoundError, match="notes"):
            held.remember("lost?")
        assert not banks.has("notes")
        assert not banks.open_names()
        assert workspace.banks() == []
