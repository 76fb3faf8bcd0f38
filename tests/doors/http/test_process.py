"""`pieria serve` as a process: it reports when it serves, ends in order, and keeps all that it acknowledged."""

import json
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.conftest import Ask, ask
from tests.doors.http.conftest import PATIENCE, Process, started
from tests.waiting import soon

import pieria
from pieria.doors.http.tokens import Tokens

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
