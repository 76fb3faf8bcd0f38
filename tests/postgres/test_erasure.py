"""The files of a server after a purge hold nothing of the text, or the receipt names what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.contract.store_helpers import HandClock, apply, memory
from tests.contract.test_vectors import drawn, enter, with_vector
from tests.postgres.conftest import Admin, Opened, as_user, made_user
from tests.postgres.test_vector_index import index_of
from tests.servers import Server, own_server

import pieria
from pieria.errors import RefusedError
from pieria.store.postgres import PostgresStore, erasure
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.postgres.store import BEYOND, NOT_FLUSHED
from pieria.store.protocol import Finding, Store

SAID = "Zquorvex keeps the wimblefrotz in the snarkwell cupboard."
LONG = "Brillowig waits by the yabberlint. " * 4_000
WORDS = ("Zquorvex", "zquorvex", "wimblefrotz", "snarkwell", "Brillowig", "brillowig", "yabberlint", "quuxfile")
RIGHTS = ("GRANT pg_checkpoint TO {user}", "GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO {user}")
FILED = "SELECT relfilenode FROM pg_class WHERE oid = 'pieria.content'::regclass"


def a_bank(url: str, folder: Path) -> pieria.Bank:
    return pieria.open("notes", data=url, settings={"local": str(folder)})


def purge_finding(store: Store) -> Finding:
    return next(finding for finding in store.check(thorough=False) if finding.check == "purge")


def is_purged(store: Store) -> bool:
    return purge_finding(store).well


def repaired(store: Store) -> list[str]:
    return store.repair(store.check(), lambda content: [])


def erased(store: PostgresStore, id: str = "m") -> None:
    apply(store, memory("the harbour is closed", id))
    apply(store, erase=[id])


@contextmanager
def snapshot(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Hold a snapshot of the contents in another session."""
    with psycopg.connect(url) as reporter:
        reporter.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reporter.execute("SELECT count(*) FROM pieria.content")
        yield reporter


@contextmanager
def in_use(admin: Admin) -> Iterator[None]:
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.terms IN SHARE UPDATE EXCLUSIVE MODE")
        yield


def remember(server: Server, url: str, bank: pieria.Bank, *, others: int) -> list[str]:
    """Remember the text among others, in short and long memories, so that base files and WAL hold it in plain."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE pieria.content ALTER COLUMN text SET STORAGE EXTERNAL")
        connection.execute("ALTER TABLE pieria.terms ALTER COLUMN terms SET STORAGE EXTERNAL")
        database = connection.info.dbname
    bank.remember_many([{"text": f"Heron {n} waits by weir {n * 7}.", "tags": [f"t{n % 7}"]} for n in range(others)])
    short = bank.remember(SAID, title="Brillowig", tags=["yabberlint"], source="quuxfile", entities=["Zquorvex"])
    bank.update(short.id, text=SAID + " Still.")
    bank.facts.add("Zquorvex", "keeps", "wimblefrotz", memory=short.id)
    long = bank.remember(LONG)
    flush(server, database)
    return [short.id, long.id]


def flush(server: Server, database: str = "postgres") -> None:
    with psycopg.connect(server.url, autocommit=True, dbname=database) as owner:
        owner.execute("ANALYZE")
        owner.execute("CHECKPOINT")
    assert server.files_with(*WORDS) == {"base", "pg_wal"}


def check_files(server: Server) -> None:
    server.stop()
    assert server.files_with(*WORDS) == set()
    server.start()


@pytest.mark.slow
@pytest.mark.parametrize("version", [18, 16])
def test_no_file_of_the_server_holds_purged_words(version: int, tmp_path: Path) -> None:
    with own_server({"fsync": "off"}, version) as server:
        for others in (0, 200):
            with a_bank(server.url, tmp_path) as bank:
                ids = remember(server, server.url, bank, others=others)
                assert bank.purge(ids).unreached == (BEYOND,)
                assert is_purged(bank.core.store)
            check_files(server)
        with a_bank(server.url, tmp_path) as bank, psycopg.connect(server.url, autocommit=True) as admin:
            heron = bank.remember("Heron by the weir.").id
            fact = bank.facts.add("Zquorvex", "keeps", "wimblefrotz", source="quuxfile", memory=heron)
            bank.facts.add("Zquorvex", "keeps", "wimblefrotz", valid_from="2020-01-01", memory=heron)
            flush(server)
            before = admin.execute(FILED).fetchone()
            drawn_from, beyond = bank.facts.purge(fact.id).unreached
            assert heron in drawn_from and beyond == BEYOND
            # A table without erased rows is not rewritten.
            assert admin.execute(FILED).fetchone() == before
        check_files(server)
        with a_bank(server.url, tmp_path) as bank:
            remember(server, server.url, bank, others=0)
        store = PostgresStore(server.url, "notes")
        assert store.remove(lambda reader: None) == []
        check_files(server)


@pytest.mark.slow
def test_role_that_may_not_empty_the_log_names_it(own: Server, tmp_path: Path) -> None:
    with psycopg.connect(own.url, autocommit=True) as admin:
        user = made_user(admin, "CREATE DATABASE memory OWNER {user}")
    url = as_user(own.url, user).replace("/postgres?", "/memory?")
    with psycopg.connect(own.url, dbname="memory", autocommit=True) as inside:
        inside.execute("CREATE EXTENSION vector")
        with a_bank(url, tmp_path) as bank:
            ids = remember(own, url, bank, others=50)
            for some, dry_run in ((ids[:1], False), (ids[1:], True), (ids[1:], False)):
                assert bank.purge(some, dry_run=dry_run).unreached == (NOT_FLUSHED, BEYOND)
            finding = purge_finding(bank.core.store)
            assert finding.well and "may not empty it" in finding.detail
            assert own.files_with(*WORDS) == {"pg_wal"}
            for right in RIGHTS:
                inside.execute(right.format(user=user))
            assert not is_purged(bank.core.store)
            assert bank.doctor(repair=True).repaired == ("purge",)
            assert bank.purge(bank.remember("heron").id).unreached == (BEYOND,)
    check_files(own)


def test_kept_log_and_prepared_transaction_are_named(own: Server) -> None:
    with (
        psycopg.connect(own.url, autocommit=True) as other,
        closing(PostgresStore(own.url, "notes", busy_seconds=30)) as store,
        closing(PostgresStore(own.url, "notes", busy_seconds=0.3)) as hasty,
    ):
        other.execute("SELECT pg_create_physical_replication_slot('standby', true)")
        erased(store)
        [left] = store.scrub()
        assert "write-ahead log" in left and "replication slot standby" in left
        assert not is_purged(store)
        other.execute("SELECT pg_drop_replication_slot('standby')")
        assert store.scrub() == []
        other.execute("BEGIN; CREATE TABLE elsewhere (n integer); PREPARE TRANSACTION 'half'")
        erased(hasty, "n")
        [left] = hasty.scrub()
        assert "prepared transaction half (role postgres" in left
        other.execute("ROLLBACK PREPARED 'half'")
        assert repaired(hasty) == ["purge"]


def test_settings_that_log_statements_are_named(opened: Opened, bare_database: str, admin: Admin) -> None:
    opened("notes").close()
    admin.execute(f"ALTER DATABASE {admin.info.dbname} SET log_statement = 'all'")
    store = opened("notes", url=f"{bare_database}&connect_timeout=9")
    assert [line for line in store.copies() if "log_statement = all" in line]


def test_snapshot_of_another_role_is_named(opened: Opened, admin: Admin, bare_database: str) -> None:
    store = opened(busy_seconds=0.3)
    apply(store, memory("the harbour is closed", "m"))
    role = made_user(admin, "GRANT USAGE ON SCHEMA pieria TO {user}", "GRANT SELECT ON pieria.content TO {user}")
    with snapshot(as_user(bare_database, role)) as reporter:
        apply(store, erase=["m"])
        who = f"pid {reporter.info.backend_pid} (role {role}"
        [left] = store.scrub()
        assert f"{who}, since 20" in left and "may still read" in left
        assert reporter.execute("SELECT text FROM pieria.content").fetchall() == [("the harbour is closed",)]
        finding = purge_finding(store)
        assert not finding.well and "content" in finding.detail and who in finding.detail
    assert repaired(store) == ["purge"]
    assert is_purged(store)
    admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_ordinary_owner_names_snapshots_of_others(opened: Opened, owner: str, bare_database: str) -> None:
    """The server shows an ordinary role the other sessions, but not the start of their snapshots."""
    store = opened(url=owner, busy_seconds=0.3)
    apply(store, memory("the harbour is closed", "m"))
    with snapshot(bare_database) as reporter:
        apply(store, erase=["m"])
        [left] = store.scrub()
        assert f"pid {reporter.info.backend_pid} (role postgres, {erasure.UNTOLD})" in left
    assert repaired(store) == ["purge"]


def test_users_of_tables_and_databases_are_waited_for(opened: Opened, admin: Admin, server: str) -> None:
    store = opened(busy_seconds=0.3)
    erased(store)
    with psycopg.connect(server) as elsewhere:
        elsewhere.execute("CREATE TEMPORARY TABLE somewhere (n integer)")
        [left] = store.scrub()
        assert f"pid {elsewhere.info.backend_pid} " in left
    assert repaired(store) == ["purge"]
    erased(store, "n")
    with in_use(admin):
        [left] = store.scrub()
    assert left.startswith("terms: others use it")
    assert repaired(store) == ["purge"]


def test_role_without_tables_leaves_a_purge_to_the_owner(opened: Opened, deputy: Callable[[], str]) -> None:
    owner = opened()
    store = opened(url=deputy(), busy_seconds=0.3)
    erased(store)
    [left] = store.scrub()
    assert "permission denied" in left and "as its owner" in left
    assert not is_purged(owner)
    assert repaired(owner) == ["purge"]
    assert is_purged(store)


def test_migrated_bank_notes_erasures_of_all_roles(opened: Opened, admin: Admin, deputy: Callable[[], str]) -> None:
    """The bank comes from an older version, with a purge in its past and a role that may read and write the tables."""
    store = opened()
    erased(store)
    assert store.scrub() == []
    admin.execute("DROP TABLE pieria.erasure; DELETE FROM pieria.migration WHERE name = 'erasure'")
    url = deputy()
    with pytest.raises(RefusedError):
        opened(url=url)
    again = opened()
    assert "content" in purge_finding(again).detail
    assert repaired(again) == ["purge"]
    erased(opened(url=url), "n")


def test_purge_that_was_held_up_is_finished_by_a_job(
    admin: Admin, bare_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_bank(bare_database, tmp_path) as bank:
        memory = bank.remember("the harbour is closed")
        with in_use(admin), monkeypatch.context() as hasty:
            hasty.setattr(bank.core.store, "_busy_seconds", 0.3)
            assert any(line.startswith("terms: others use it") for line in bank.purge(memory.id).unreached)
        [job] = bank.jobs.list(kinds="scrub")
        bank.jobs.worker().run(once=True)
        assert bank.jobs.get(job.id).state == "done"
        assert is_purged(bank.core.store)
        bank.purge(bank.remember("nobody is in the way").id)
        assert len(bank.jobs.list(kinds="scrub")) == 1


def test_large_table_is_left_to_repair(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "BYTES_A_SECOND", 0)
    store = opened()
    erased(store)
    left = store.scrub()
    assert any(line.startswith("content (") and "doctor --repair` does it" in line for line in left)
    assert "the server's write-ahead log: it is emptied once the tables are rewritten" in left
    assert not is_purged(store)
    assert repaired(store) == ["purge"]
    assert is_purged(store)


def test_repair_keeps_the_vector_index(
    opened: Opened, admin: Admin, bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "OUTGROWN", 10)
    store = opened()
    vectors = [with_vector(memory(f"m{n}", f"m{n}"), vector) for n, vector in enumerate(drawn(1, 20))]
    apply(store, *vectors, space=enter(store))
    repaired(store)
    built = index_of(bare_database, store)
    assert [is_valid for _, is_valid in built] == [True]
    apply(store, erase=["m1"])
    assert [line for line in store.scrub() if line.startswith("embedded")]
    assert "purge" in repaired(store)
    assert index_of(bare_database, store) == built


def test_one_rewrite_serves_purges_of_all_banks(opened: Opened, owner: str, admin: Admin) -> None:
    one, other = opened("one", url=owner, row_security=True), opened("other", url=owner)
    erased(one)
    erased(other)
    assert one.scrub() == []
    assert is_purged(other)
    before = admin.execute(FILED).fetchone()
    assert other.scrub() == []
    assert admin.execute(FILED).fetchone() == before
    assert one.remove(lambda reader: None) == []


def test_waiting_for_another_rewrite_saves_ones_own(opened: Opened, admin: Admin) -> None:
    store, patient = opened(busy_seconds=0.3), opened(busy_seconds=30)
    erased(store)
    admin.execute(f"SELECT pg_advisory_lock({erasure.LOCK})")
    [left] = store.scrub()
    assert "another process is rewriting" in left
    with ThreadPoolExecutor(1) as threads:
        scrubbing = threads.submit(patient.scrub)
        admin.execute("DELETE FROM pieria.erasure")
        admin.execute(f"SELECT pg_advisory_unlock({erasure.LOCK})")
        assert scrubbing.result(30) == []


def test_purge_in_a_rewrite_is_not_forgotten(opened: Opened, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    store, rewritten = opened(), erasure._Finish._rewritten
    erased(store)

    def meanwhile(self: Any, table: erasure.Waiting) -> list[str]:
        left = rewritten(self, table)
        if table.relation == "content":
            erased(store, "n")
        return left

    monkeypatch.setattr(erasure._Finish, "_rewritten", meanwhile)
    store.scrub()
    clock.move(hours=1)
    assert "content" in purge_finding(store).detail


def test_tables_that_are_not_rewritten_hold_no_words(opened: Opened, admin: Admin) -> None:
    opened()
    found = admin.execute(
        "SELECT table_name || '.' || column_name FROM information_schema.columns"
        " WHERE table_schema = 'pieria' AND data_type = 'text' AND table_name = ANY(%s)",
        (list(erasure.WORDLESS),),
    ).fetchall()
    known = (
        "counter.name journal.who journal.what journal.ids ledger.day ledger.step ledger.model pending.what purged.id "
        "space.name quarantine.what quarantine.held told.id told.session"
    )
    assert {column for (column,) in found} == set(known.split())
