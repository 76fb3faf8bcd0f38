"""Many clients, slow requests and unfinished bodies: no call fails, nothing is lost, and memory stays bounded."""

import random
import socket
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.doors.http.conftest import PATIENCE, READS, WRITES, Process, started

import pieria
from pieria.doors.http.tokens import Tokens

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
CLIENTS, CALLS = 32, 30
PHRASE = "the quick brown fox jumps over the lazy dog "
LONG, QUESTION = (PHRASE * 30_000)[:1_000_000], (PHRASE * 1_000)[:20_000]
CONNECTIONS, BODY = 60, 8 << 20
MIB = 1 << 20


def call(chance: random.Random, number: int) -> tuple[str, dict[str, str]]:
    """Return a random call; four in five read."""
    text = f"Note {number}: " + " ".join(chance.choices(PHRASE.split(), k=18))
    if chance.random() < 0.2:
        return chance.choice([("memories", {"text": text}), (f"tools/{WRITES}", {"content": text})])
    return chance.choice(["recall", f"tools/{READS}"]), {"query": text[-30:]}


def test_calls_of_many_clients_at_once_all_succeed() -> None:
    with pieria.open("notes") as bank:
        tokens = Tokens(bank.data)
        bank.remember_many({"text": f"Note {n}: {PHRASE}"} for n in range(2_000))
    shown = [tokens.create(f"client {n}", "write", ["notes"])[1] for n in range(CLIENTS)]
    statuses: set[int] = set()
    written: list[str] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        with server.client(headers={"Authorization": f"Bearer {shown[number]}"}) as client:
            for turn in range(CALLS):
                path, body = call(chance, number * CALLS + turn)
                answer = client.post(f"/v1/banks/notes/{path}", json=body)
                statuses.add(answer.status_code)
                if "query" not in body and answer.is_success:
                    written.append(answer.json().get("memory_id") or answer.json()["id"])

    with started("--rate", "0") as server:
        workers = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert server.stop() == 0
    assert statuses <= {200, 201}
    assert len(written) == len(set(written)) > 100
    with pieria.open("notes") as bank:
        assert bank.count() == 2_000 + len(written)
        assert all(bank.get(id) for id in written)
        assert bank.doctor().well


def test_slow_or_unfinished_requests_hold_up_no_other() -> None:
    """While eight slow requests are at work, one client gets many quick ones answered."""
    with pieria.open("notes") as bank:
        bank.remember_many({"text": LONG} for _ in range(12))
        bank.remember("We chose JWT for all new APIs.", id="jwt")
    with started("--rate", "0") as server, server.client() as client:
        slow = [threading.Thread(target=ask_slowly, args=(server,)) for _ in range(8)]
        for thread in slow:
            thread.start()
        answered = 0
        while any(thread.is_alive() for thread in slow):
            assert client.get("/v1/banks/notes/memories/jwt").status_code == 200
            assert client.post("/v1/banks/notes/memories", json={"text": "a quick note"}).status_code == 201
            answered += 1
        for thread in slow:
            thread.join()
        assert answered > len(slow)
        for method in ("GET /health", "POST /v1/banks/notes/recall"):
            assert grown_by_unfinished_bodies(server, method) < (64 + 100) * MIB


def ask_slowly(server: Process) -> None:
    with server.client() as client:
        assert client.post("/v1/banks/notes/recall", json={"query": QUESTION}).status_code == 200


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
        assert client.post("/v1/banks/notes/recall", json={"query": "JWT"}).status_code == 200
    return grown


def resident(server: Process) -> int:
    return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096
