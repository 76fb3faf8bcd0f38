"""The files of a server after a purge hold nothing of the text, or the receipt names what is left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.contract.making import apply, memory
from tests.postgres.conftest import Opened
from tests.postgres.test_refusals import Admin, as_user, made_user
from tests.servers import Server, own_server

import pieria
from pieria.errors import RefusedError
from pieria.store.postgres import PostgresStore, erasure
from pieria.store.postgres import vector_indexes as indexing
from pieria.store.postgres.store import BEYOND, NOT_FLUSHED
from pieria.store.protocol import Embedded, Finding, Store

SAID = "Zquorvex keeps the wimblefrotz in the snarkwell cupboard."
LONG = "Brillowig waits by the yabberlint. " * 4_000
WORDS = ("Zquorvex", "zquorvex", "wimblefrotz", "snarkwell", "Brillowig", "brillowig", "yabberlint", "quuxfile")
HASTY = {"fsync": "off"}
RIGHTS = (
    "GRANT pg_checkpoint TO {user}",
    "GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO {user}",
)


@contextmanager
def a_bank(url: str, folder: Path, name: str = "notes") -> Iterator[pieria.Bank]:
    with pieria.open(name, data=url, settings={"local": str(folder), "embedder": "none"}) as bank:
        yield bank


def remember(server: Server, url: str, bank: pieria.Bank, *, others: int = 200) -> list[str]:
    """Remember the text among others, in short and long memories, so that base files and WAL hold it in plain."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE pieria.content ALTER COLUMN text SET STORAGE EXTERNAL")
        connection.execute("ALTER TABLE pieria.terms ALTER COLUMN terms SET STORAGE EXTERNAL")
    bank.remember_many([{"text": f"Heron {n} waits by weir {n * 7}.", "tags": [f"t{n % 7}"]} for n in range(others)])
    short = bank.remember(SAID, title="Brillowig", tags=["yabberlint"], source="quuxfile", entities=["Zquorvex"])
    bank.update(short.id, text=SAID + " Still.")
    bank.facts.add("Zquorvex", "keeps", "wimblefrotz", memory=short.id)
    long = bank.remember(LONG)
    with psycopg.connect(server.url, autocommit=True, dbname=psycopg.conninfo.conninfo_to_dict(url)["dbname"]) as owner:
        owner.execute("ANALYZE")
        owner.execute("CHECKPOINT")
    assert server.files_with(*WORDS) == {"base", "pg_wal"}
    return [short.id, long.id]


def purge_finding(store: Store) -> Finding:
    return next(finding for finding in store.check(thorough=False) if finding.check == "purge")


def erased(store: PostgresStore, id: str = "m") -> None:
    apply(store, memory("the harbour is closed", id))
    apply(store, erase=[id])


# --- what is left in the files


@pytest.mark.parametrize(("version", "others"), [(18, 200), (18, 0), (16, 200)])
def test_purge_leaves_nothing_in_the_servers_files(version: int, others: int, tmp_path: Path) -> None:
    with own_server(HASTY, version) as server:
        with a_bank(server.url, tmp_path) as bank:
            ids = remember(server, server.url, bank, others=others)
            assert bank.purge(ids).unreached == (BEYOND,)
            assert purge_finding(bank.core.store).well
        server.stop()
        assert server.files_with(*WORDS) == set()
        server.start()


def test_removed_bank_leaves_nothing_in_the_servers_files(tmp_path: Path) -> None:
    with own_server(HASTY) as server:
        with a_bank(server.url, tmp_path) as bank:
            remember(server, server.url, bank)
        store = PostgresStore(server.url, "notes")
        assert store.remove(lambda reader: None) == []
        server.stop()
        assert server.files_with(*WORDS) == set()
        server.start()


def test_purged_fact_leaves_nothing_in_the_servers_files(tmp_path: Path) -> None:
    with own_server(HASTY) as server, psycopg.connect(server.url, autocommit=True) as admin:
        with a_bank(server.url, tmp_path) as bank:
            heron = bank.remember("Heron by the weir.").id
            fact = bank.facts.add("Zquorvex", "keeps", "wimblefrotz", source="quuxfile", memory=heron)
            bank.facts.add("Zquorvex", "keeps", "wimblefrotz", valid_from="2020-01-01", memory=heron)
            admin.execute("ANALYZE")
            admin.execute("CHECKPOINT")
            assert server.files_with(*WORDS) == {"base", "pg_wal"}
            filed = "SELECT relfilenode FROM pg_class WHERE oid = 'pieria.content'::regclass"
            before = admin.execute(filed).fetchone()
            drawn_from, beyond = bank.facts.purge(fact.id).unreached
            assert heron in drawn_from and beyond == BEYOND
            # A table without erased rows is not rewritten.
            assert admin.execute(filed).fetchone() == before
        server.stop()
        assert server.files_with(*WORDS) == set()
        server.start()


def test_role_without_rights_is_told_of_the_log(tmp_path: Path) -> None:
    with own_server(HASTY) as server, psycopg.connect(server.url, autocommit=True) as admin:
        user = made_user(admin, "CREATE DATABASE memory OWNER {user}")
        url = as_user(server.url, user).replace("/postgres?", "/memory?")
        with psycopg.connect(server.url, dbname="memory", autocommit=True) as inside:
            inside.execute("CREATE EXTENSION vector")
            with a_bank(url, tmp_path) as bank:
                ids = remember(server, url, bank)
                assert bank.purge(ids[:1]).unreached == (NOT_FLUSHED, BEYOND)
                assert bank.purge(ids[1:], dry_run=True).unreached == (NOT_FLUSHED, BEYOND)
                assert bank.purge(ids[1:]).unreached == (NOT_FLUSHED, BEYOND)
                finding = purge_finding(bank.core.store)
                assert finding.well
                assert "may not empty it" in finding.detail
                assert server.files_with(*WORDS) == {"pg_wal"}
                for right in RIGHTS:
                    inside.execute(right.format(user=user))
                assert not purge_finding(bank.core.store).well
                assert bank.doctor(repair=True).repaired == ("purge",)
                assert bank.purge(bank.remember("heron").id).unreached == (BEYOND,)
        server.stop()
        assert server.files_with(*WORDS) == set()
        server.start()


def test_log_that_the_server_keeps_is_named(tmp_path: Path) -> None:
    with own_server(HASTY) as server, psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('standby', true)")
        store = PostgresStore(server.url, "notes", busy_seconds=30)
        erased(store)
        [left] = store.scrub()
        assert "write-ahead log" in left
        assert "replication slot standby" in left
        assert not purge_finding(store).well
        admin.execute("SELECT pg_drop_replication_slot('standby')")
        assert store.scrub() == []
        store.close()


def test_settings_that_log_what_is_written_are_named(bare_database: str, admin: Admin) -> None:
    PostgresStore(bare_database, "notes").close()
    database = psycopg.conninfo.conninfo_to_dict(bare_database)["dbname"]
    admin.execute(f"ALTER DATABASE {database} SET log_statement = 'all'")
    store = PostgresStore(f"{bare_database}&connect_timeout=9", "notes")
    assert [line for line in store.copies() if "log_statement = all" in line]
    store.close()


# --- transactions that block an erasure


def test_snapshot_of_another_role_is_named(opened: Opened, admin: Admin, bare_database: str) -> None:
    store = opened(busy_seconds=0.3)
    apply(store, memory("the harbour is closed", "m"))
    role = made_user(admin, "GRANT USAGE ON SCHEMA pieria TO {user}", "GRANT SELECT ON pieria.content TO {user}")
    with psycopg.connect(as_user(bare_database, role)) as reporter:
        reporter.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reporter.execute("SELECT count(*) FROM pieria.content")
        apply(store, erase=["m"])
        [left] = store.scrub()
        assert f"pid {reporter.info.backend_pid} (role {role}, since 20" in left
        assert "may still read" in left
        assert reporter.execute("SELECT text FROM pieria.content").fetchall() == [("the harbour is closed",)]
        finding = purge_finding(store)
        assert not finding.well
        assert "content" in finding.detail
        assert f"pid {reporter.info.backend_pid} (role {role}" in finding.detail
    assert store.repair(store.check(), lambda content: []) == ["purge"]
    assert purge_finding(store).well
    admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_ordinary_owner_names_snapshots_of_others(admin: Admin, bare_database: str) -> None:
    """The server shows an ordinary role the other sessions, but not the start of their snapshots."""
    admin.execute("CREATE EXTENSION vector SCHEMA public")
    database = psycopg.conninfo.conninfo_to_dict(bare_database)["dbname"]
    role = made_user(admin, f"ALTER DATABASE {database} OWNER TO {{user}}")
    store = PostgresStore(as_user(bare_database, role), "notes", busy_seconds=0.3)
    apply(store, memory("the harbour is closed", "m"))
    with psycopg.connect(bare_database) as reporter:
        reporter.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reporter.execute("SELECT count(*) FROM pieria.content")
        apply(store, erase=["m"])
        [left] = store.scrub()
        assert f"pid {reporter.info.backend_pid} (role postgres, {erasure.UNTOLD})" in left
    assert store.repair(store.check(), lambda content: []) == ["purge"]
    store.close()


def test_writer_of_another_database_is_waited_for(opened: Opened, admin: Admin, server: str) -> None:
    store = opened(busy_seconds=0.3)
    with psycopg.connect(server) as elsewhere:
        elsewhere.execute("CREATE TEMPORARY TABLE somewhere (n integer)")
        erased(store)
        [left] = store.scrub()
        assert f"pid {elsewhere.info.backend_pid} " in left
    assert store.repair(store.check(), lambda content: []) == ["purge"]


def test_prepared_transaction_is_named() -> None:
    with own_server({**HASTY, "max_prepared_transactions": "2"}) as server, psycopg.connect(server.url) as other:
        store = PostgresStore(server.url, "notes", busy_seconds=0.3)
        other.execute("CREATE TABLE elsewhere (n integer)")
        other.execute("PREPARE TRANSACTION 'half'")
        other.rollback()
        erased(store)
        [left] = store.scrub()
        assert "prepared transaction half (role postgres" in left
        other.autocommit = True
        other.execute("ROLLBACK PREPARED 'half'")
        assert store.repair(store.check(), lambda content: []) == ["purge"]
        store.close()


def test_table_in_use_is_named_and_rewritten_later(opened: Opened, admin: Admin) -> None:
    store = opened(busy_seconds=0.3)
    erased(store)
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.terms IN SHARE UPDATE EXCLUSIVE MODE")
        [left] = store.scrub()
    assert left.startswith("terms: others use it")
    assert store.repair(store.check(), lambda content: []) == ["purge"]


def test_role_that_owns_nothing_leaves_it_to_the_owner(opened: Opened, admin: Admin, bare_database: str) -> None:
    owner = opened()
    role = made_user(
        admin,
        "GRANT USAGE ON SCHEMA pieria TO {user}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pieria TO {user}",
    )
    store = PostgresStore(as_user(bare_database, role), "bank", busy_seconds=0.3)
    erased(store)
    [left] = store.scrub()
    assert "permission denied" in left
    assert "as its owner" in left
    assert not purge_finding(owner).well
    assert owner.repair(owner.check(), lambda content: []) == ["purge"]
    assert purge_finding(store).well
    store.close()
    admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_migration_lets_those_who_delete_note_it(opened: Opened, admin: Admin, bare_database: str) -> None:
    """The bank comes from an older version, with a purge in its past and a role that may read and write the tables."""
    store = opened()
    erased(store)
    assert store.scrub() == []
    admin.execute("DROP TABLE pieria.erasure; DELETE FROM pieria.migration WHERE name = 'erasure'")
    role = made_user(
        admin,
        "GRANT USAGE ON SCHEMA pieria TO {user}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pieria TO {user}",
    )
    with pytest.raises(RefusedError):
        PostgresStore(as_user(bare_database, role), "bank")
    again = opened()
    assert "content" in purge_finding(again).detail
    assert again.repair(again.check(), lambda content: []) == ["purge"]
    other = PostgresStore(as_user(bare_database, role), "bank")
    erased(other, "n")
    other.close()
    admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_purge_that_was_held_up_is_finished_by_a_job(admin: Admin, bare_database: str, tmp_path: Path) -> None:
    with a_bank(bare_database, tmp_path) as bank:
        memory = bank.remember("the harbour is closed")
        with admin.transaction():
            admin.execute("LOCK TABLE pieria.terms IN SHARE UPDATE EXCLUSIVE MODE")
            assert any(line.startswith("terms: others use it") for line in bank.purge(memory.id).unreached)
        [job] = bank.jobs.list(kinds="scrub")
        bank.jobs.worker().run(once=True)
        assert bank.jobs.get(job.id).state == "done"
        assert purge_finding(bank.core.store).well
        bank.purge(bank.remember("nobody is in the way").id)
        assert len(bank.jobs.list(kinds="scrub")) == 1


# --- what it costs


def test_large_table_is_left_to_repair(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "BYTES_A_SECOND", 0)
    store = opened()
    erased(store)
    left = store.scrub()
    assert any(line.startswith("content (") and "doctor --repair` does it" in line for line in left)
    assert "the server's write-ahead log: it is emptied once the tables are rewritten" in left
    assert not purge_finding(store).well
    assert store.repair(store.check(), lambda content: []) == ["purge"]
    assert purge_finding(store).well


def test_repair_keeps_the_vector_index(opened: Opened, admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened()
    apply(store, memory("the harbour is closed", "m"), memory("heron", "n"))
    with store.writing() as writer:
        space = writer.set_space("hash", 3)
        writer.put_vectors(space.number, [Embedded(row, "passage", 0, 0, 5, (1.0, 0.0, 0.0)) for row in (1, 2)], 1)
    monkeypatch.setattr(indexing, "OUTGROWN", 1)
    with store._pool.connect() as connection:
        [built] = indexing.build(connection, store.number)
    apply(store, erase=["m"])
    assert [line for line in store.scrub() if line.startswith("embedded")]
    assert "purge" in store.repair(store.check(), lambda content: [])
    indexed = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    assert admin.execute(indexed, (f"pieria.{built}",)).fetchone() == (True,)


def test_one_rewrite_serves_purges_of_all_banks(opened: Opened, admin: Admin) -> None:
    one, other = opened(), opened("other")
    erased(one)
    erased(other)
    assert one.scrub() == []
    assert purge_finding(other).well
    filed = "SELECT relfilenode FROM pg_class WHERE oid = 'pieria.content'::regclass"
    before = admin.execute(filed).fetchone()
    assert other.scrub() == []
    assert admin.execute(filed).fetchone() == before


def test_who_waits_for_another_rewrite_need_not_do_it(opened: Opened, admin: Admin) -> None:
    store = opened(busy_seconds=0.3)
    erased(store)
    admin.execute(f"SELECT pg_advisory_lock({erasure.LOCK})")
    [left] = store.scrub()
    assert "another process is rewriting" in left
    patient = opened(busy_seconds=30)
    done: list[list[str]] = []
    scrubbing = threading.Thread(target=lambda: done.append(patient.scrub()))
    scrubbing.start()
    admin.execute("DELETE FROM pieria.erasure")
    admin.execute(f"SELECT pg_advisory_unlock({erasure.LOCK})")
    scrubbing.join(30)
    assert done == [[]]


def test_purge_while_tables_are_rewritten_is_not_forgotten(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened()
    erased(store)
    rewritten = erasure._Finish._rewritten

    def meanwhile(self: Any, table: erasure.Waiting) -> list[str]:
        left = rewritten(self, table)
        if table.relation == "content":
            erased(store, "n")
        return left

    monkeypatch.setattr(erasure._Finish, "_rewritten", meanwhile)
    store.scrub()
    store._clock.move(hours=1)  # type: ignore[attr-defined]
    assert "content" in purge_finding(store).detail


def test_secured_tables_are_rewritten_too(bare_database: str, admin: Admin) -> None:
    admin.execute("CREATE EXTENSION vector SCHEMA public")
    database = psycopg.conninfo.conninfo_to_dict(bare_database)["dbname"]
    role = made_user(admin, f"ALTER DATABASE {database} OWNER TO {{user}}")
    store = PostgresStore(as_user(bare_database, role), "notes", row_security=True)
    erased(store)
    assert store.scrub() == []
    assert store.remove(lambda reader: None) == []


def test_tables_that_are_not_rewritten_hold_no_words(opened: Opened, admin: Admin) -> None:
    opened()
    found = admin.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'pieria' AND data_type = 'text' AND table_name = ANY(%s)",
        (list(erasure.WORDLESS),),
    ).fetchall()
    assert set(found) == {
        ("counter", "name"), ("journal", "who"), ("journal", "what"), ("journal", "ids"), ("ledger", "day"),
        ("ledger", "step"), ("ledger", "model"), ("pending", "what"), ("purged", "id"), ("space", "name"),
        ("quarantine", "what"), ("quarantine", "held"), ("told", "id"), ("told", "session"),
    }  # fmt: skip
