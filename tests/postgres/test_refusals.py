"""The errors for a server that is missing or not set up as required."""

import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from tests.contract.making import ALL, apply, memory
from tests.postgres.conftest import Opened
from tests.servers import own_server

import pieria
from pieria.errors import (
    BusyError,
    NewerVersionError,
    PieriaError,
    ReadOnlyError,
    RefusedError,
    StorageError,
    UnreachableError,
    UnsuitableError,
)
from pieria.record.changeset import Changeset
from pieria.store.postgres import PostgresStore, driver

PASSWORD = "osprey-on-the-weir"
CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'pieria' AND datname = current_database()
"""
Admin = psycopg.Connection[tuple[object, ...]]


def as_user(url: str, user: str, password: str = PASSWORD) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{parts.netloc.rpartition('@')[2]}"))


def made_user(admin: Admin, *rights: str) -> str:
    name = f"pieria_{uuid4().hex[:8]}"
    admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    for right in rights:
        admin.execute(right.format(user=name))
    return name


def secret_free(problem: PieriaError) -> None:
    told = f"{problem} {problem.hint} {problem.as_dict()}"
    assert PASSWORD not in told
    assert problem.hint


@pytest.mark.parametrize("host", ["127.0.0.1:9", "/nowhere/at/all"])
def test_a_server_that_is_not_there_is_unreachable(host: str) -> None:
    address = f"postgresql://heron:{PASSWORD}@{host}/db"
    if host.startswith("/"):
        address = f"postgresql://heron:{PASSWORD}@/db?host={host}"
    with pytest.raises(UnreachableError) as refused:
        PostgresStore(address, "bank")
    assert refused.value.retryable
    secret_free(refused.value)


def test_an_address_that_is_none_is_refused(opened: Opened) -> None:
    with pytest.raises(StorageError) as refused:
        opened(url=f"postgresql://heron:{PASSWORD}@host:notaport/db?nothing=such")
    secret_free(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://heron:%zz{PASSWORD}@127.0.0.1:9/db",
        f"postgresql://heron:{PASSWORD}%00@127.0.0.1:9/db",
        f"postgresql://heron@127.0.0.1:9/db?password=%zz{PASSWORD}",
        f"postgresql://heron@127.0.0.1:9/db?{PASSWORD}",
        f"postgresql://heron:{PASSWORD}\ud800@127.0.0.1:9/db",
        f"postgresql://heron:{PASSWORD}[@127.0.0.1:9/db",
        f"postgresql://heron:{PASSWORD}@127.0.0.1:9/db?connect_timeout={PASSWORD}",
        f"POSTGRESQL://heron:{PASSWORD}@127.0.0.1:9/db",
    ],
)
def test_nothing_is_quoted_of_an_address_that_the_driver_cannot_read(address: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError) as refused:
        pieria.open("bank", data=address, settings={"local": str(tmp_path)})
    secret_free(refused.value)
    assert PASSWORD not in "".join(traceback.format_exception(refused.value))


def test_a_database_that_is_not_there_is_named(opened: Opened, server: str) -> None:
    with pytest.raises(UnsuitableError, match="heron_lake"):
        opened(url=urlunsplit(urlsplit(server)._replace(path="/heron_lake")))


def test_a_wrong_password_is_refused_and_told_to_nobody() -> None:
    with own_server() as server, psycopg.connect(server.url, autocommit=True) as admin:
        user = made_user(admin)
        server.allow(f"local all {user} scram-sha-256")
        with pytest.raises(RefusedError, match="password") as refused:
            PostgresStore(as_user(server.url, user, PASSWORD + "!"), "bank")
        assert not refused.value.retryable
        secret_free(refused.value)
        assert PASSWORD not in repr(refused.value)


def test_a_user_who_may_make_nothing_is_refused(opened: Opened, admin: Admin, bare_database: str) -> None:
    admin.execute("CREATE EXTENSION vector SCHEMA public")
    user = made_user(admin)
    with pytest.raises(RefusedError, match="permission denied") as refused:
        opened(url=as_user(bare_database, user))
    secret_free(refused.value)
    admin.execute(f"DROP ROLE {user}")


def test_a_user_who_may_not_make_the_extension_is_told_who_can(
    opened: Opened, admin: Admin, bare_database: str
) -> None:
    user = made_user(admin)
    with pytest.raises(UnsuitableError, match="pgvector") as refused:
        opened(url=as_user(bare_database, user))
    assert "CREATE EXTENSION vector" in str(refused.value.hint)
    assert admin.execute("SELECT to_regnamespace('pieria')").fetchone() == (None,)
    admin.execute(f"DROP ROLE {user}")


def test_an_older_server_is_refused(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "OLDEST_SERVER", 990_000)
    with pytest.raises(UnsuitableError, match="99 or newer"):
        opened()


def test_an_older_extension_is_refused(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    opened()
    monkeypatch.setattr(driver, "OLDEST_VECTORS", (99, 1))
    with pytest.raises(UnsuitableError, match=r"99\.1 or newer"):
        opened()


def test_a_database_in_another_encoding_is_refused(opened: Opened, server: str) -> None:
    name = f"pieria_latin_{uuid4().hex[:8]}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            with pytest.raises(UnsuitableError, match="LATIN1"):
                opened(url=urlunsplit(urlsplit(server)._replace(path=f"/{name}")))
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_statement_that_takes_too_long_may_be_tried_again(opened: Opened) -> None:
    store = opened()
    apply(store, memory("heron", "m"))
    with pytest.raises(BusyError) as refused, store.looking() as session, driver.translated("read", store.where):
        session.execute("SET LOCAL statement_timeout = 150")
        session.execute("SELECT pg_sleep(60)")
    assert refused.value.retryable
    with store.reading() as reader:
        assert reader.count(ALL) == {"total": 1}


def test_a_writer_that_waits_too_long_for_its_turn_may_try_again(opened: Opened) -> None:
    one, other = opened(), opened(busy_seconds=0.1)
    elsewhere = opened("elsewhere", busy_seconds=0.1)
    with one.writing() as writer:
        writer.head()
        with pytest.raises(BusyError), other.writing():
            raise AssertionError("it is not its turn")
        apply(elsewhere, memory("no bank waits for another", "m"))
    apply(other, memory("now it is", "m"))


def test_a_server_that_takes_no_writes_says_so(opened: Opened, bare_database: str) -> None:
    apply(opened(), memory("heron", "m"))
    store = opened(url=f"{bare_database}&options=-c%20default_transaction_read_only%3Don")
    with store.reading() as reader:
        assert reader.count(ALL) == {"total": 1}
    with pytest.raises(ReadOnlyError):
        opened("another", url=f"{bare_database}&options=-c%20default_transaction_read_only%3Don")


def test_a_newer_schema_is_left_alone(opened: Opened, admin: Admin) -> None:
    apply(opened(), memory("heron", "m"))
    admin.execute("INSERT INTO pieria.migration VALUES (9000, 'post', 'of_tomorrow', 'x')")
    with pytest.raises(NewerVersionError, match="9000"):
        opened()


def remembered(text: str, id: str) -> Changeset:
    return Changeset(who="test", what="remember", writes=[memory(text, id)])


def test_what_failed_is_not_half_there(opened: Opened, admin: Admin) -> None:
    store = opened()
    apply(store, memory("heron", "m"))
    with pytest.raises(UnreachableError) as refused, store.writing() as writer:
        pid = writer._session.execute("SELECT pg_backend_pid()").fetchone()[0]
        writer.apply(remembered("lost", "n"))
        admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
        writer.apply(remembered("lost too", "o"))
    assert refused.value.retryable
    with store.reading() as reader:
        assert reader.head().seq == 1
        assert reader.count(ALL) == {"total": 1}
    apply(store, memory("goes on", "p"))


def test_connections_cut_while_idle_are_noticed_by_nobody(opened: Opened, admin: Admin) -> None:
    store = opened()
    apply(store, memory("heron", "m"))
    admin.execute(CUT)
    with store.reading() as reader:
        assert reader.count(ALL) == {"total": 1}


def test_a_server_that_was_restarted_is_gone_for_a_moment_only() -> None:
    with own_server() as server:
        store = PostgresStore(server.url, "bank")
        apply(store, memory("heron", "m"))
        server.stop()
        with pytest.raises(UnreachableError), store.reading():
            raise AssertionError("there is no server")
        server.start()
        apply(store, memory("stork", "n"))
        server.restart("immediate")
        with store.reading() as reader:
            assert reader.count(ALL) == {"total": 2}
        store.close()


def test_without_the_driver_a_bank_on_a_server_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pieria.errors import UnsuitableError\n"
        "import pieria.store.postgres as postgres\n"
        "try: postgres.PostgresStore\n"
        "except UnsuitableError as problem: print(problem.hint)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 'pip install "pieria[postgres]"' in said.stdout


def test_nobody_pays_for_the_driver_who_has_no_bank_on_a_server() -> None:
    code = "import sys, pieria, pieria.store.postgres; print('psycopg' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "False"
