"""Many clients, slow requests and unfinished bodies: no call fails, nothing is lost, and memory stays bounded."""

import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.doors.http.conftest import PATIENCE, READS, WRITES, Process, started

import pieria

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
CLIENTS, CALLS = 32, 10
PHRASE = "the quick brown fox jumps over the lazy dog "
CONNECTIONS, BODY = 60, 8 << 20
MIB = 1 << 20
BANK = "/v1/banks/notes"


def begun(work: Callable[[int], None], number: int) -> list[threading.Thread]:
    workers = [threading.Thread(target=work, args=(each,)) for each in range(number)]
    for worker in workers:
        worker.start()
    return workers


def test_calls_of_many_clients_at_once_all_succeed() -> None:
    with pieria.open("notes") as bank:
        bank.remember_many({"text": f"Note {n}: {PHRASE}"} for n in range(2_000))
    written: list[str] = []

    def work(number: int) -> None:
        with server.client() as client:
            for turn in range(CALLS):
                text = f"Client {number} says {turn}: {PHRASE}"
                kept = client.post(f"{BANK}/memories", json={"text": text})
                also = client.post(f"{BANK}/tools/{WRITES}", json={"content": text})
                for path in ("recall", f"tools/{READS}"):
                    assert client.post(f"{BANK}/{path}", json={"query": text[:30]}).status_code == 200
                written.extend((kept.json()["id"], also.json()["memory_id"]))

    with started("--rate", "0") as server:
        for worker in begun(work, CLIENTS):
            worker.join()
        assert server.stop() == 0
    assert len(written) == 2 * CLIENTS * CALLS
    with pieria.open("notes") as bank:
        assert all(bank.get(id) for id in written)
        assert bank.doctor().well


def test_slow_or_unfinished_requests_hold_up_no_other() -> None:
    """While eight slow requests are at work, one client gets many quick ones answered."""

    def ask_slowly(_: int) -> None:
        with server.client() as client:
            question = {"query": (PHRASE * 1_000)[:20_000]}
            assert client.post(f"{BANK}/recall", json=question).status_code == 200

    with pieria.open("notes") as bank:
        bank.remember_many({"text": (PHRASE * 30_000)[:1_000_000]} for _ in range(12))
    with started("--rate", "0") as server, server.client() as client:
        slow = begun(ask_slowly, 8)
        answered = 0
        while any(thread.is_alive() for thread in slow):
            assert client.post(f"{BANK}/memories", json={"text": "a quick note"}).status_code == 201
            answered += 1
        assert answered > len(slow)
        for method in ("GET /health", f"POST {BANK}/recall"):
            assert grown_by_unfinished_bodies(server, method) < (64 + 100) * MIB


def grown_by_unfinished_bodies(server: Process, method: str) -> int:
    """Return by how many bytes the server grows with many bodies that miss their last byte."""
    before = resident(server)
    head = f"{method} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n"
    with ExitStack() as stack, server.client() as client:
        for _ in range(CONNECTIONS):
            made = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            with suppress(ConnectionResetError, BrokenPipeError):
                made.sendall(head.encode() + b" " * (BODY - 1))
        grown = resident(server) - before
        assert client.post(f"{BANK}/recall", json={"query": "JWT"}).status_code == 200
    return grown


def resident(server: Process) -> int:
    return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096
