"""`pieria serve` as a process: it reports when it serves, ends in order, and keeps all that it acknowledged."""

import json
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

import httpx2
import pytest
from tests.doors.http.conftest import ENTRY, PATIENCE, SOURCE, Process, started, until

import pieria
from pieria.doors.http.tokens import Tokens

MEMORIES = "/v1/banks/notes/memories"


def test_a_server_serves_does_jobs_and_ends_in_order() -> None:
    with pieria.open("notes") as bank:
        job = bank.jobs.add("archive")
        with started() as server:
            assert server.url.startswith("http://127.0.0.1:")
            with server.client() as client:
                assert client.get("/health").json() == {"status": "ok"}
                assert client.post(MEMORIES, json={"text": "We chose JWT."}).status_code == 201
                until(lambda: bank.jobs.get(job.id).state == "done")
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
                until(lambda: takes_nothing_new(server))
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


@pytest.mark.slow
def test_taken_ports_and_open_hosts_without_token_are_refused(home: Path) -> None:
    refusal = refused("--host", "0.0.0.0", "--port", "0")  # noqa: S104 - that others could reach it is the point
    assert refusal.returncode == 2
    assert "there is no token" in refusal.stderr and "pieria token create" in refusal.stderr
    _, secret = Tokens(home / "data").create("laptop", "read")
    with started("--host", "0.0.0.0") as server:  # noqa: S104
        second = refused("--port", str(server.port))
        assert second.returncode == 1
        assert f"error: another program has port {server.port} of 127.0.0.1" in second.stderr
        assert "hint: Stop that program, or choose another port with --port." in second.stderr
        url = f"http://127.0.0.1:{server.port}"
        assert httpx2.get(f"{url}/v1/banks", timeout=PATIENCE).status_code == 401
        shown = {"Authorization": f"Bearer {secret}"}
        assert httpx2.get(f"{url}/v1/banks", headers=shown, timeout=PATIENCE).json() == {"banks": []}
        (home / "data" / "tokens.json").unlink()
        assert httpx2.get(f"{url}/v1/banks", timeout=PATIENCE).status_code == 401


@pytest.mark.slow
def test_wrong_options_are_refused() -> None:
    for arguments, said in (
        (["--port", "70000"], "--port: expected a whole number from 0 to 65,535, got 70000"),
        (["--port", "x"], "--port: expected a whole number"),
        (["--host", "192.0.2.7"], "--host: expected an address of this machine"),
        (["--host", "::", "--port", "0"], "there is no token"),
        (["--rate", "-1"], "--rate: expected a number from 0"),
    ):
        refusal = refused(*arguments)
        assert refusal.returncode == 2 and said in refusal.stderr, arguments


def refused(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [*ENTRY, "serve", *arguments], capture_output=True, check=False, text=True, timeout=PATIENCE, env=environment
    )


@pytest.mark.slow
def test_a_killed_server_has_kept_all_it_acknowledged() -> None:
    acknowledged: list[str] = []
    enough = threading.Event()
    with started("--rate", "0") as server:

        def write(number: int) -> None:
            with server.client() as client:
                for n in range(1_000):
                    try:
                        answer = client.post(MEMORIES, json={"text": f"{number}: {n}"})
                    except httpx2.HTTPError:
                        return
                    if answer.status_code == 201:
                        acknowledged.append(answer.json()["id"])
                    if len(acknowledged) >= 60:
                        enough.set()

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        assert enough.wait(PATIENCE)
        server.process.kill()
        for writer in writers:
            writer.join(PATIENCE)
    with pieria.open("notes") as bank:
        kept = {memory.id for memory in bank.list(limit=10_000)}
        assert bank.doctor().well
    assert set(acknowledged) <= kept
    assert len(kept) <= len(acknowledged) + 4
