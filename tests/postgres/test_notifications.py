"""Change notifications from a server: for many banks at once, after a lost connection, and in forked children."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from tests.contract.store_helpers import apply, memory
from tests.postgres.conftest import Admin, Opened
from tests.waiting import soon

from pieria.errors import ClosedError
from pieria.store.postgres import PostgresStore
from pieria.store.postgres.driver import connected
from pieria.store.postgres.notifications import Following

LONG = 60.0
LISTENING = "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN pieria' AND datname = current_database()"

Waiting = Callable[..., Future[bool]]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as executor:
        yield executor


@pytest.fixture
def waiting(threads: ThreadPoolExecutor, admin: Admin) -> Waiting:
    """Return a function that lets a store wait for a change, and returns once the process listens."""

    def waits(store: PostgresStore, since: int = 0) -> Future[bool]:
        begun = threads.submit(store.wait, since, LONG)
        soon(lambda: listening(admin))
        return begun

    return waits


def listening(admin: Admin) -> list[int]:
    return [int(str(pid)) for (pid,) in admin.execute(LISTENING).fetchall()]


def listener_of(store: PostgresStore) -> threading.Thread:
    thread = store._pool.following._thread
    assert thread is not None
    return thread


def test_one_connection_listens_for_many_banks(opened: Opened, waiting: Waiting, admin: Admin) -> None:
    stores = [opened(f"bank{n}") for n in range(12)]
    begun = [waiting(store) for store in stores]
    assert len(listening(admin)) == 1
    apply(stores[7], memory())
    assert begun[7].result(LONG)
    assert not any(other.done() for n, other in enumerate(begun) if n != 7)
    for store in stores:
        apply(store, memory("another", "another"))
    assert all(other.result(LONG) for other in begun)


def test_lost_connection_misses_no_change(opened: Opened, waiting: Waiting, admin: Admin) -> None:
    reader, writer = opened("bank"), opened("bank")
    for n in range(3):
        begun = waiting(reader, n)
        cut = listening(admin)
        admin.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) pid", (cut,))
        apply(writer, memory(f"m{n}", f"m{n}"))
        assert begun.result(LONG)
        with reader.reading() as moment:
            assert moment.head().seq == n + 1
    soon(lambda: listening(admin))
    assert set(listening(admin)).isdisjoint(cut)


def test_last_store_to_close_ends_the_listening(opened: Opened, waiting: Waiting) -> None:
    one, other = opened("bank"), opened("other")
    begun = waiting(one)
    listener = listener_of(one)
    one.close()
    assert not begun.result(LONG)
    assert listener_of(other) is listener
    other.close()
    listener.join(LONG)
    assert not listener.is_alive()
    with pytest.raises(ClosedError):
        other.wait(0, 0)


def test_both_sides_of_a_fork_are_woken(opened: Opened, waiting: Waiting) -> None:
    store, writer = opened("bank"), opened("bank")
    first = waiting(store)
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
    second = waiting(store, 1)
    apply(writer, memory("b", "b"))
    assert second.result(LONG)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_foreign_notifications_end_nothing(opened: Opened, waiting: Waiting, admin: Admin) -> None:
    store = opened("bank")
    begun = waiting(store)
    listener = listener_of(store)
    for said in ("", "hello", "1", "1 x", f"{store.number} 99999999999999999999"):
        admin.execute("SELECT pg_notify('pieria', %s)", (said,))
    apply(store, memory("heron", "m"))
    assert begun.result(LONG)
    assert listener_of(store) is listener and listener.is_alive()


def test_closing_does_not_wait_for_a_silent_server(threads: ThreadPoolExecutor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=60"
        following = Following(lambda: connected(address))
        begun = threads.submit(following.wait, 1, 0, LONG, lambda: 0, lambda: following._closed)
        with silent.accept()[0]:
            listener = following._thread
            threads.submit(following.close).result(30)
        assert not begun.result(LONG)
    assert listener is not None
    listener.join(LONG)
    assert not listener.is_alive()
