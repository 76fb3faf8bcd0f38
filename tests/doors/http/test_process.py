"""`pieria serve` as a process: it ends in order, keeps all that it acknowledged, and stays within bounds under load."""

import json
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.conftest import Ask, ask
from tests.doors.http.conftest import PATIENCE, READS, WRITES, Process, started
from tests.waiting import soon

import pieria
from pieria.doors.http.tokens import Tokens
from pieria.doors.serve_address import address, noted

__all__ = ["ask"]
MEMORIES = "/v1/banks/notes/memories"


def test_a_server_serves_does_jobs_and_ends_in_order() -> None:
    with pieria.open("notes") as bank:
        job = bank.jobs.add("archive")
        with started() as server:
            assert server.url.startswith("http://127.0.0.1:")
            with server.client() as client:
                assert client.get("/health").json() == {"status": "ok"}
                assert client.post(MEMORIES, json={"text": "We chose JWT."}).status_code == 201
                soon(lambda: bank.jobs.get(job.id).state == "done")
                assert 'pieria_jobs{bank="notes",state="done"} 1' in client.get("/metrics").text
            assert server.stop() == 0
            assert server.process.stderr is not None and server.process.stderr.read() == b""
        assert [memory.text for memory in bank.list()] == ["We chose JWT."]


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_calls_finish_and_ends_streams(by: signal.Signals) -> None:
    """Another writer blocks the call, so that it is running when the signal comes."""
    with started() as server, server.client() as client, pieria.open("notes") as bank:
        bank.remember("before")
        with client.stream("GET", "/v1/events", params={"bank": "notes"}) as events:
            with bank.core.store.writing():
                asking = asking_in_parts(server, "during")
                server.process.send_signal(by)
                soon(lambda: takes_nothing_new(server))
            with asking:
                assert asking.recv(1 << 16).startswith(b"HTTP/1.1 201")
            assert [*events.iter_lines()][:1] == ["retry: 2000"]
        assert server.process.wait(PATIENCE) == 0
        assert {memory.text for memory in bank.list()} == {"before", "during"}


def asking_in_parts(server: Process, text: str) -> socket.socket:
    """Send the body only after the server answered 100."""
    body = json.dumps({"text": text}).encode()
    head = f"POST {MEMORIES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    asking = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    asking.sendall(f"{head}Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
    assert asking.recv(1 << 16).startswith(b"HTTP/1.1 100")
    asking.sendall(body)
    return asking


def takes_nothing_new(server: Process) -> bool:
    try:
        httpx2.get(f"{server.url}/health", timeout=PATIENCE)
    except httpx2.ConnectError:
        return True
    except httpx2.TransportError:
        # The request was in the accept queue when the socket was closed.
        pass
    return False


def test_what_cannot_be_served_is_refused(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(host: str, port: int, **_: object) -> list[Any]:
        return [(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, 0, "", (host, port))]

    # Tests may look up no other machine's address.
    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, code, said in (
            (["--port", str(port)], 1, f"error: another program has port {port} of 127.0.0.1"),
            (["--port", str(port)], 1, "hint: Stop that program, or choose another port with --port."),
            (["--port", "70000"], 2, "--port: expected a whole number from 0 to 65,535, got 70000"),
            (["--port", "x"], 2, "--port: expected a whole number"),
            (["--host", "0.0.0.0", "--port", "0"], 2, "there is no token"),  # noqa: S104 - it is refused
            (["--host", "::", "--port", "0"], 2, "pieria token create"),
            (["--host", "192.0.2.7"], 2, "--host: expected an address of this machine"),
            (["--rate", "-1"], 2, "--rate: expected a number from 0"),
        ):
            refused = ask("serve", *arguments)
            assert (arguments, refused.code, said in refused.err) == (arguments, code, True), refused.err


def test_a_second_server_of_a_folder_says_which_is_first(ask: Ask, home: Path) -> None:
    (home / "data").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as first:
        url = f"http://127.0.0.1:{first.getsockname()[1]}"
        with noted(home / "data", url):
            said = ask("serve", "--port", url.rpartition(":")[2]).failed(1)
            assert f"error: a server of {home / 'data'} already runs at {url}" in said and "stop it first" in said
            with started() as second:
                assert second.stop() == 0
                assert second.process.stderr is not None
                assert f"another server of this folder runs at {url}" in second.process.stderr.read().decode()
            assert address(home / "data") == url


@pytest.mark.slow
def test_other_machines_need_a_token(home: Path) -> None:
    _, secret = Tokens(home / "data").create("laptop", "read")
    with started("--host", "0.0.0.0") as server:  # noqa: S104 - that others could reach it is the point
        url = f"http://127.0.0.1:{server.port}"
        assert httpx2.get(f"{url}/v1/banks", timeout=PATIENCE).status_code == 401
        shown = {"Authorization": f"Bearer {secret}"}
        assert httpx2.get(f"{url}/v1/banks", headers=shown, timeout=PATIENCE).json() == {"banks": []}
        (home / "data" / "tokens.json").unlink()
        assert httpx2.get(f"{url}/v1/banks", timeout=PATIENCE).status_code == 401


CLIENTS, CALLS = 32, 10
PHRASE = "the quick brown fox jumps over the lazy dog "
MIB = 1 << 20
CONNECTIONS, BODY = 60, 8 * MIB
BANK = "/v1/banks/notes"


@pytest.mark.slow
@pytest.mark.timeout(300)
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
        with ThreadPoolExecutor(CLIENTS) as threads:
            list(threads.map(work, range(CLIENTS)))
        assert server.stop() == 0
    assert len(written) == 2 * CLIENTS * CALLS
    with pieria.open("notes") as bank:
        assert all(bank.get(id) for id in written) and bank.doctor().well


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_slow_or_unfinished_requests_hold_up_no_other() -> None:
    """While eight slow requests are at work, one client gets many quick ones answered."""

    def ask_slowly() -> None:
        with server.client() as client:
            question = {"query": (PHRASE * 1_000)[:20_000]}
            assert client.post(f"{BANK}/recall", json=question).status_code == 200

    with pieria.open("notes") as bank:
        bank.remember_many({"text": (PHRASE * 30_000)[:1_000_000]} for _ in range(12))
    with started("--rate", "0") as server, server.client() as client:
        with ThreadPoolExecutor(8) as threads:
            slow, answered = [threads.submit(ask_slowly) for _ in range(8)], 0
            while not all(each.done() for each in slow):
                assert client.post(f"{BANK}/memories", json={"text": "a quick note"}).status_code == 201
                answered += 1
        assert answered > len(slow) and not any(each.exception() for each in slow)
        for method in ("GET /health", f"POST {BANK}/recall"):
            assert grown_by_unfinished_bodies(server, method) < (64 + 100) * MIB


def grown_by_unfinished_bodies(server: Process, method: str) -> int:
    """Return by how many bytes the server grows with many bodies that miss their last byte."""
    pages = Path(f"/proc/{server.process.pid}/statm")
    before = int(pages.read_text().split()[1])
    head = f"{method} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n"
    with ExitStack() as stack, server.client() as client:
        for _ in range(CONNECTIONS):
            made = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            with suppress(ConnectionResetError, BrokenPipeError):
                made.sendall(head.encode() + b" " * (BODY - 1))
        grown = int(pages.read_text().split()[1]) - before
        assert client.post(f"{BANK}/recall", json={"query": "JWT"}).status_code == 200
    return grown * 4096
