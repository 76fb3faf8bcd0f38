"""Slow or large requests: other requests are still served, and memory stays bounded."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.doors.http.conftest import PATIENCE, Process, started

import pieria

PHRASE = "the quick brown fox jumps over the lazy dog "
LONG, QUESTION = (PHRASE * 30_000)[:1_000_000], (PHRASE * 1_000)[:20_000]
AT_ONCE, CONNECTIONS = 8, 60
BODY = 8 << 20
MIB = 1 << 20


@pytest.fixture
def server(home: object) -> Iterator[Process]:
    with pieria.open("notes", settings={"durability": "off"}) as bank:
        for _ in range(12):
            bank.remember(LONG)
        bank.remember("We chose JWT for all new APIs.", id="jwt")
    with started("--rate", "0") as running:
        yield running


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_slow_recalls_do_not_hold_up_others(server: Process, capsys: pytest.CaptureFixture[str]) -> None:
    """While eight slow requests are at work, one client gets many quick ones answered."""
    taken: list[float] = []

    def ask() -> None:
        with server.client() as client:
            began = time.monotonic()
            answer = client.post("/v1/banks/notes/recall", json={"query": QUESTION})
            taken.append(time.monotonic() - began)
            assert answer.status_code == 200

    with server.client() as client:
        client.post("/v1/banks/notes/recall", json={"query": "JWT"})
        slow = [threading.Thread(target=ask) for _ in range(AT_ONCE)]
        for thread in slow:
            thread.start()
        waits: list[tuple[float, str]] = []
        while any(thread.is_alive() for thread in slow):
            for method, path, body in (
                ("GET", "/health", None),
                ("GET", "/v1/banks/notes/memories/jwt", None),
                ("POST", "/v1/banks/notes/memories", {"text": "a quick note"}),
            ):
                began = time.monotonic()
                assert client.request(method, path, json=body).is_success
                waits.append((time.monotonic() - began, path))
        for thread in slow:
            thread.join()
    with capsys.disabled():
        print(f"\nslow: {min(taken):.2f} to {max(taken):.2f} s; others: {len(waits)}, longest {max(waits)}")  # noqa: T201
    assert len(waits) > 3 * AT_ONCE


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("method", ["GET /health", "POST /v1/banks/notes/recall"])
def test_unfinished_bodies_take_little_memory(server: Process, method: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = _resident(server)
    head = f"{method} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n"
    url = server.client().base_url
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            made = stack.enter_context(socket.create_connection((url.host, url.port), PATIENCE))
            with suppress(ConnectionResetError, BrokenPipeError):
                made.sendall(head.encode() + b" " * (BODY - 1))
        most = _resident(server)
        with server.client() as client:
            assert client.get("/health").status_code == 200
            assert client.post("/v1/banks/notes/recall", json={"query": "JWT"}).status_code == 200
    with capsys.disabled():
        print(f"\n{method}: {before // MIB} MiB before, {most // MIB} MiB with {CONNECTIONS} unfinished")  # noqa: T201
    assert most - before < (64 + 100) * MIB


def _resident(server: Process) -> int:
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096
