"""Removing a bank from a server: from all tables and indexes, beside other banks, in one transaction."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.store_helpers import apply, everything, memory
from tests.contract.test_copy import lived_in
from tests.contract.test_vectors import drawn, enter, with_vector
from tests.postgres.conftest import Admin, Opened
from tests.postgres.test_vector_index import index_of

from pieria import Workspace
from pieria.errors import BusyError, NotFoundError, StorageError
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.protocol import Reader
from pieria.toolsets.host import Banks

CUT_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database() AND state = %s"
)


def left_of(admin: Admin, number: int) -> dict[str, int]:
    """Return the number of rows of a bank in each table that has any."""
    tables = admin.execute(
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'bank'"
        " WHERE c.relnamespace = 'pieria'::regnamespace AND c.relkind = 'r'"
    ).fetchall()
    counts = {str(table): admin.execute(f"SELECT FROM {table} WHERE bank = {number}").rowcount for (table,) in tables}
    return {table: rows for table, rows in counts.items() if rows}


@pytest.mark.parametrize("row_security", [False, True])
def test_removed_bank_leaves_no_row(opened: Opened, owner: str, admin: Admin, row_security: bool) -> None:
    store = opened("gone", url=owner, row_security=row_security)
    other = opened("other", url=owner, row_security=row_security)
    lived_in(store)
    apply(other, memory("theirs"))
    theirs = everything(other)
    assert len(left_of(admin, store.number)) > 12
    store.remove(lambda reader: None)
    assert left_of(admin, store.number) == {}
    assert everything(other) == theirs
    assert opened("gone", url=owner, row_security=row_security).number > other.number


def test_removed_bank_leaves_no_vector_index(
    opened: Opened, bare_database: str, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "OUTGROWN", 10)
    indexed = opened()
    vectors = [with_vector(memory(f"m{n}", f"m{n}"), vector) for n, vector in enumerate(drawn(1, 20))]
    apply(indexed, *vectors, space=enter(indexed))
    indexed.repair(indexed.check(), lambda _: ())
    admin.execute("SELECT pg_advisory_lock(%s, %s)", (indexing.BUILDING, indexed.number))
    with pytest.raises(BusyError, match="building an index"):
        indexed.remove(lambda reader: None)
    assert index_of(bare_database, indexed)
    admin.execute("SELECT pg_advisory_unlock(%s, %s)", (indexing.BUILDING, indexed.number))
    indexed.remove(lambda reader: None)
    assert index_of(bare_database, indexed) == []


def test_removal_cut_in_the_middle_leaves_all_or_names_the_rest(opened: Opened, admin: Admin) -> None:
    store = opened("notes")
    lived_in(store)
    before = everything(store)

    def cutting(state: str) -> list[str]:
        def cut(reader: Reader) -> None:
            admin.execute(CUT_OTHERS, (state,))

        return opened("notes").remove(cut)

    with pytest.raises(StorageError):
        cutting("idle in transaction")
    assert everything(opened("notes")) == before
    [left] = cutting("idle")
    assert "doctor --repair" in left
    assert left_of(admin, store.number) == {}


def test_waiting_for_a_change_ends_with_the_removal(opened: Opened) -> None:
    held, store = opened(), opened()
    seq = apply(held, memory()).change.seq
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(held.wait, seq, 60)
        store.remove(lambda reader: None)
        assert store.is_over
        assert waiting.exception(30) is None or isinstance(waiting.exception(), NotFoundError)
    with pytest.raises(NotFoundError, match="bank"):
        held.wait(seq, 60)


def test_process_elsewhere_lets_go_of_a_removed_bank(opened: Opened, bare_database: str) -> None:
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
