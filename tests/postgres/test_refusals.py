"""The errors for a server that is missing or not set up as required."""

import subprocess
import sys
import traceback
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from tests.contract.store_helpers import ALL, apply, memory
from tests.postgres.conftest import CUT, PASSWORD, Admin, Opened, as_user, made_user
from tests.servers import Server

import pieria
from pieria.errors import (
    BusyError,
    PieriaError,
    ReadOnlyError,
    RefusedError,
    StorageError,
    UnreachableError,
    UnsuitableError,
)
from pieria.record.changeset import Changeset
from pieria.store.postgres import PostgresStore, driver


def secret_free(problem: PieriaError) -> None:
    """Check that nothing shown of the error holds the password, and that a hint says what to do."""
    shown = [str(problem), repr(problem), str(problem.as_dict()), *traceback.format_exception(problem)]
    assert PASSWORD not in "".join(shown) + str(problem.hint)
    assert problem.hint


def count(store: PostgresStore) -> int:
    with store.reading() as reader:
        return reader.count(ALL)["total"]


def test_missing_server_is_unreachable() -> None:
    for place in ("127.0.0.1:9/db", "/db?host=/nowhere/at/all"):
        with pytest.raises(UnreachableError) as refused:
            PostgresStore(f"postgresql://heron:{PASSWORD}@{place}", "bank")
        assert refused.value.retryable
        secret_free(refused.value)
    with pytest.raises(StorageError) as wrong:
        PostgresStore(f"postgresql://heron:{PASSWORD}@host:notaport/db?nothing=such", "bank")
    secret_free(wrong.value)


def test_unreadable_address_is_never_quoted() -> None:
    for address in (
        f"postgresql://heron:%zz{PASSWORD}@127.0.0.1:9/db",
        f"postgresql://heron:{PASSWORD}%00@127.0.0.1:9/db",
        f"postgresql://heron@127.0.0.1:9/db?password=%zz{PASSWORD}",
        f"postgresql://heron@127.0.0.1:9/db?{PASSWORD}",
        f"postgresql://heron:{PASSWORD}\ud800@127.0.0.1:9/db",
        f"postgresql://heron:{PASSWORD}[@127.0.0.1:9/db",
        f"postgresql://heron:{PASSWORD}@127.0.0.1:9/db?connect_timeout={PASSWORD}",
        f"POSTGRESQL://heron:{PASSWORD}@127.0.0.1:9/db",
    ):
        with pytest.raises(StorageError) as refused:
            pieria.open("bank", data=address)
        secret_free(refused.value)


def test_wrong_password_is_refused_and_not_shown(own: Server) -> None:
    with psycopg.connect(own.url, autocommit=True) as admin:
        user = made_user(admin)
        own.allow(f"local all {user} scram-sha-256")
        with pytest.raises(RefusedError, match="password") as refused:
            PostgresStore(as_user(own.url, user, PASSWORD + "!"), "bank")
        assert not refused.value.retryable
        secret_free(refused.value)


def test_user_without_rights_is_told_what_is_missing(opened: Opened, admin: Admin, bare_database: str) -> None:
    user = made_user(admin)
    url = as_user(bare_database, user)
    with pytest.raises(UnsuitableError, match="pgvector") as unsuitable:
        opened(url=url)
    assert "CREATE EXTENSION vector" in str(unsuitable.value.hint)
    assert admin.execute("SELECT to_regnamespace('pieria')").fetchone() == (None,)
    admin.execute("CREATE EXTENSION vector SCHEMA public")
    with pytest.raises(RefusedError, match="permission denied") as refused:
        opened(url=url)
    secret_free(refused.value)
    admin.execute(f"DROP ROLE {user}")


def test_older_server_or_extension_is_refused(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, pytest.raises(UnsuitableError, match="99 or newer"):
        patched.setattr(driver, "OLDEST_SERVER", 990_000)
        opened()
    opened()
    monkeypatch.setattr(driver, "OLDEST_VECTORS", (99, 1))
    with pytest.raises(UnsuitableError, match=r"99\.1 or newer"):
        opened()


def test_missing_or_foreign_database_is_named(opened: Opened, server: str) -> None:
    name = f"pieria_latin_{uuid4().hex[:8]}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            for database, said in (("heron_lake", "heron_lake"), (name, "LATIN1")):
                with pytest.raises(UnsuitableError, match=said):
                    opened(url=urlunsplit(urlsplit(server)._replace(path=f"/{database}")))
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_read_only_server_says_so(opened: Opened, bare_database: str) -> None:
    apply(opened(), memory("heron", "m"))
    read_only = f"{bare_database}&options=-c%20default_transaction_read_only%3Don"
    assert count(opened(url=read_only)) == 1
    with pytest.raises(ReadOnlyError):
        opened("another", url=read_only)


def test_slow_statement_may_be_tried_again(opened: Opened) -> None:
    store = opened()
    apply(store, memory("heron", "m"))
    with pytest.raises(BusyError) as refused, store.looking() as session, driver.translated("read", store.where):
        session.execute("SET LOCAL statement_timeout = 150")
        session.execute("SELECT pg_sleep(60)")
    assert refused.value.retryable
    assert count(store) == 1


def test_writer_that_waits_too_long_learns_who_writes(opened: Opened) -> None:
    one, other = opened(), opened(busy_seconds=0.1)
    elsewhere = opened("elsewhere", busy_seconds=0.1)
    with one.writing() as writer:
        pid = writer._session.execute("SELECT pg_backend_pid()").fetchone()[0]
        with pytest.raises(BusyError, match=rf"pid {pid} .* holds the bank's turn to write"), other.writing():
            raise AssertionError("it is not its turn")
        apply(elsewhere, memory("no bank waits for another", "m"))
    apply(other, memory("now it is", "m"))


def test_call_that_waits_for_a_table_names_the_holder(opened: Opened, admin: Admin) -> None:
    store = opened(busy_seconds=0.2)
    apply(store, memory("heron", "m"))
    held = rf"waited 0\.2 s for pid {admin.info.backend_pid} \(role postgres, since .* holds the table content"
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.content IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(BusyError, match=held) as refused, store.reading() as reader:
            reader.history("m")
    assert refused.value.retryable
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.posting IN SHARE MODE")
        with pytest.raises(BusyError, match="holds the table posting"):
            apply(store, memory("heron", "n"))
    apply(store, memory("heron", "n"))
    assert count(store) == 2


def test_recall_waits_for_a_lock_until_its_deadline(admin: Admin, bare_database: str) -> None:
    with pieria.open("notes", data=bare_database, settings={"busy_seconds": 3600}) as bank:
        bank.remember("heron by the lake")
        with admin.transaction():
            admin.execute("LOCK TABLE pieria.content IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(BusyError, match="holds the table content") as refused:
                bank.recall("heron", deadline_ms=200)
        assert refused.value.retryable
        assert [hit.memory.text for hit in bank.recall("heron", deadline_ms=60_000)] == ["heron by the lake"]


def test_opening_waits_for_a_lock_only_so_long(
    opened: Opened, admin: Admin, bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().close()
    monkeypatch.setattr(driver, "SET_UP", driver.SET_UP.replace("'5s'", "'200ms'"))
    with admin.transaction():
        admin.execute("LOCK TABLE pieria.bank IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(BusyError):
            opened(url=f"{bare_database}&connect_timeout=9")


def test_lost_connection_leaves_no_half_change(opened: Opened, admin: Admin) -> None:
    store = opened()
    apply(store, memory("heron", "m"))
    with pytest.raises(UnreachableError) as refused, store.writing() as writer:
        pid = writer._session.execute("SELECT pg_backend_pid()").fetchone()[0]
        writer.apply(Changeset("remember", writes=[memory("lost", "n")]))
        admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
        writer.apply(Changeset("remember", writes=[memory("lost too", "o")]))
    assert refused.value.retryable
    with store.reading() as reader:
        assert reader.head().seq == 1
    assert count(store) == 1
    apply(store, memory("goes on", "p"))
    # Connections that are cut while they are idle are replaced.
    admin.execute(CUT)
    assert count(store) == 2


def test_restarted_server_is_gone_only_for_a_moment(own: Server) -> None:
    store = PostgresStore(own.url, "bank")
    apply(store, memory("heron", "m"))
    own.stop()
    with pytest.raises(UnreachableError), store.reading():
        raise AssertionError("there is no server")
    own.start()
    apply(store, memory("stork", "n"))
    own.restart("immediate")
    assert count(store) == 2
    store.close()


def test_driver_is_loaded_for_a_server_or_said_to_be_missing() -> None:
    code = (
        "import sys, pieria, pieria.store.postgres as postgres; print('psycopg' in sys.modules)\n"
        "sys.modules['psycopg'] = None\n"
        "try: postgres.PostgresStore\n"
        "except pieria.errors.UnsuitableError as problem: print(problem.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    is_loaded, hint = done.stdout.splitlines()
    assert is_loaded == "False" and 'pip install "pieria[postgres]"' in hint
