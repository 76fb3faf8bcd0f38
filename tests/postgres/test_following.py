"""Change notifications from a server: across processes, for many banks at once, and after a lost connection."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import psycopg
import pytest
from tests.contract.making import apply, memory
from tests.postgres.conftest import Opened

from pieria.errors import ClosedError
from pieria.store.postgres import PostgresStore
from pieria.store.postgres.driver import connected
from pieria.store.postgres.notifications import Following

LONG = 60.0
ELSEWHERE = """
import sys
from datetime import UTC, datetime
from tests.contract.making import apply, memory
from pieria.store.postgres import PostgresStore
store = PostgresStore(sys.argv[1], sys.argv[2])
apply(store, memory("from elsewhere", "elsewhere"))
store.close()
"""


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as executor:
        yield executor


def seq(store: PostgresStore) -> int:
    with store.reading() as reader:
        return reader.head().seq


def listening(database: str) -> list[int]:
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN pieria' AND datname = current_database()"
        )
        return [pid for (pid,) in found]


def until_listening(database: str) -> list[int]:
    pause = threading.Event()
    for _ in range(600):
        if found := listening(database):
            return found
        pause.wait(0.1)
    raise AssertionError("nobody listens")


def listener_of(store: PostgresStore) -> threading.Thread:
    thread = store._pool.following._thread
    assert thread is not None
    return thread


def test_change_of_another_process_ends_the_wait(
    opened: Opened, threads: ThreadPoolExecutor, bare_database: str
) -> None:
    store = opened("bank")
    waiting = threads.submit(store.wait, 0, LONG)
    until_listening(bare_database)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [sys.executable, "-c", ELSEWHERE, bare_database, store.bank], check=True, env=environment, timeout=LONG
    )
    assert waiting.result(LONG)


def test_one_connection_listens_for_many_banks(opened: Opened, threads: ThreadPoolExecutor, bare_database: str) -> None:
    stores = [opened(f"bank{n}") for n in range(12)]
    waiting = [threads.submit(store.wait, 0, LONG) for store in stores]
    assert len(until_listening(bare_database)) == 1
    apply(stores[7], memory())
    assert waiting[7].result(LONG)
    assert not any(other.done() for n, other in enumerate(waiting) if n != 7)
    for store in stores:
        apply(store, memory("another", "another"))
    assert all(other.result(LONG) for other in waiting)


def test_lost_connection_misses_no_change(opened: Opened, threads: ThreadPoolExecutor, bare_database: str) -> None:
    reader, writer = opened("bank"), opened("bank")
    seen = 0
    for n in range(3):
        waiting: Future[bool] = threads.submit(reader.wait, seen, LONG)
        cut = until_listening(bare_database)
        with psycopg.connect(bare_database) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) pid", (cut,))
        apply(writer, memory(f"m{n}", f"m{n}"))
        assert waiting.result(LONG)
        seen = seq(reader)
        assert seen == n + 1
    assert set(until_listening(bare_database)).isdisjoint(cut)


def test_last_store_to_close_ends_the_listening(
    opened: Opened, threads: ThreadPoolExecutor, bare_database: str
) -> None:
    one, other = opened("bank"), opened("other")
    waiting = threads.submit(one.wait, 0, LONG)
    until_listening(bare_database)
    listener = listener_of(one)
    one.close()
    assert not waiting.result(LONG)
    assert listener_of(other) is listener
    other.close()
    listener.join(LONG)
    assert not listener.is_alive()
    with pytest.raises(ClosedError):
        other.wait(0, 0)


def test_both_sides_of_a_fork_are_woken(opened: Opened, threads: ThreadPoolExecutor, bare_database: str) -> None:
    store, writer = opened("bank"), opened("bank")
    first = threads.submit(store.wait, 0, LONG)
    until_listening(bare_database)
    child = os.fork()
    if not child:
        woken = False
        try:
            own = opened("bank")
            woken = own.wait(0, LONG) and own.wait(1, LONG)
        finally:
            os._exit(0 if woken else 1)
    apply(writer, memory())
    assert first.result(LONG)
    second = threads.submit(store.wait, 1, LONG)
    apply(writer, memory("b", "b"))
    assert second.result(LONG)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_foreign_notifications_end_nothing(opened: Opened, threads: ThreadPoolExecutor, bare_database: str) -> None:
    store = opened("bank")
    waiting = threads.submit(store.wait, 0, LONG)
    until_listening(bare_database)
    listener = listener_of(store)
    with psycopg.connect(bare_database, autocommit=True) as other:
        for said in ("", "hello", "1", "1 x", f"{store.number} 99999999999999999999"):
            other.execute("SELECT pg_notify('pieria', %s)", (said,))
    apply(store, memory("heron", "m"))
    assert waiting.result(LONG)
    assert listener_of(store) is listener
    assert listener.is_alive()


def test_closing_does_not_wait_for_a_silent_server(threads: ThreadPoolExecutor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=60"
        following = Following(lambda: connected(address))
        waiting = threads.submit(following.wait, 1, 0, LONG, lambda: 0, lambda: following._closed)
        with silent.accept()[0]:
            listener = following._thread
            threads.submit(following.close).result(30)
        assert not waiting.result(LONG)
    assert listener is not None
    listener.join(LONG)
    assert not listener.is_alive()
