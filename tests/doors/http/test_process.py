"""`pieria serve` as a process: it reports when it serves, ends in order, and keeps all that it acknowledged."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.doors.http.conftest import ENTRY, PATIENCE, SOURCE, Process, started

import pieria
from pieria.doors.http.tokens import Tokens

MEMORIES = "/v1/banks/notes/memories"


def test_it_answers_from_the_moment_it_says_so_and_ends_in_order() -> None:
    with started() as server:
        assert server.url.startswith("http://127.0.0.1:")
        with server.client() as client:
            assert client.get("/health").json() == {"status": "ok"}
            assert client.post(MEMORIES, json={"text": "We chose JWT."}).status_code == 201
        assert server.stop() == 0
        assert server.process.stderr is not None and server.process.stderr.read() == b""
    with pieria.open("notes") as bank:
        assert [memory.text for memory in bank.list()] == ["We chose JWT."]


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_calls_under_way_are_finished_and_listeners_sent_away(by: signal.Signals) -> None:
    """Another writer blocks the call, so that it is running when the signal comes."""
    with started() as server, server.client() as client, pieria.open("notes") as bank:
        bank.remember("before")
        with client.stream("GET", "/v1/events", params={"bank": "notes"}) as events:
            with bank.core.store.writing():
                asking = _asking(server, "during")
                server.process.send_signal(by)
                _until(lambda: _takes_nothing_new(server))
            with asking:
                assert asking.recv(1 << 16).startswith(b"HTTP/1.1 201")
            assert [*events.iter_lines()][:1] == ["retry: 2000"]
        assert server.process.wait(PATIENCE) == 0
        assert {memory.text for memory in bank.list()} == {"before", "during"}


def _asking(server: Process, text: str) -> socket.socket:
    """Send a call in two parts: the body only after the server answered 100."""
    body = json.dumps({"text": text}).encode()
    head = f"POST {MEMORIES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    asking = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    asking.sendall(f"{head}Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
    assert asking.recv(1 << 16).startswith(b"HTTP/1.1 100")
    asking.sendall(body)
    return asking


def _takes_nothing_new(server: Process) -> bool:
    try:
        httpx2.get(f"{server.url}/health", timeout=PATIENCE)
    except httpx2.ConnectError:
        return True
    except httpx2.TransportError:
        # The request was in the accept queue when the socket was closed.
        pass
    return False


def test_two_servers_do_not_share_a_port() -> None:
    with started() as server:
        second = _refused("--port", str(server.port))
        assert second.returncode == 1
        assert f"error: another program has port {server.port} of 127.0.0.1" in second.stderr
        assert "hint: Stop that program, or choose another port with --port." in second.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - that others could reach it is the point
def test_others_do_not_reach_it_before_there_is_a_token(host: str) -> None:
    refused = _refused("--host", host, "--port", "0")
    assert refused.returncode == 2
    assert "there is no token" in refused.stderr
    assert "pieria token create" in refused.stderr


def test_with_a_token_others_reach_it_and_nobody_without(home: Path) -> None:
    _, secret = Tokens(home / "data").create("laptop", "read")
    with started("--host", "0.0.0.0") as server:  # noqa: S104
        url = f"http://127.0.0.1:{server.port}"
        assert httpx2.get(f"{url}/v1/banks", timeout=PATIENCE).status_code == 401
        shown = {"Authorization": f"Bearer {secret}"}
        assert httpx2.get(f"{url}/v1/banks", headers=shown, timeout=PATIENCE).json() == {"banks": []}
        (home / "data" / "tokens.json").unlink()
        assert httpx2.get(f"{url}/v1/banks", timeout=PATIENCE).status_code == 401


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "70000"], "--port: expected a whole number from 0 to 65,535, got 70000"),
        (["--port", "x"], "--port: expected a whole number"),
        (["--host", "192.0.2.7"], "--host: expected an address of this machine"),
        (["--rate", "-1"], "--rate: expected a number from 0"),
    ],
)
def test_what_cannot_be_served_is_said(arguments: list[str], said: str) -> None:
    refused = _refused(*arguments)
    assert refused.returncode == 2
    assert said in refused.stderr


def _refused(*arguments: str) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [*ENTRY, "serve", *arguments], capture_output=True, check=False, text=True, timeout=PATIENCE, env=environment
    )


def test_killed_it_has_lost_nothing_that_it_acknowledged() -> None:
    acknowledged: list[str] = []
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

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 60:
            time.sleep(0.01)
        server.process.kill()
        for writer in writers:
            writer.join(PATIENCE)
    with pieria.open("notes") as bank:
        kept = {memory.id for memory in bank.list(limit=10_000)}
        assert bank.doctor().well
    assert set(acknowledged) <= kept
    assert len(kept) <= len(acknowledged) + 4


def test_jobs_are_done_while_it_serves() -> None:
    with pieria.open("notes") as bank:
        bank.remember("We chose JWT.")
        job = bank.jobs.add("archive")
        with started() as server, server.client() as client:
            assert client.get(MEMORIES).status_code == 200
            _until(lambda: bank.jobs.get(job.id).state == "done")
            text = client.get("/metrics").text
            assert 'pieria_jobs{bank="notes",state="done"} 1' in text


def _until(done: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
