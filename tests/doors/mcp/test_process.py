"""The process: its start, its end, its output, and that the bank stays sound in every case."""

import json
import signal
from pathlib import Path

import pytest
from mcp import Client
from tests.doors.mcp.conftest import INITIALIZE, Piped, Start, asked, parameters_in
from tests.waiting import soon

import pieria

PATIENCE = 40.0
"""The promise is two seconds, measured by `python -m benchmarks speed`; a busy machine is no failure."""
HEAVY = ("numpy", "onnxruntime", "pieria.bank", "pieria.workspace", "pieria.settings", "pieria.store", "sqlite3")


def sound(tmp_path: Path) -> int:
    """Return the number of memories in the sound bank of the odd server."""
    with pieria.open("odd", data=tmp_path / "data") as bank:
        assert bank.doctor().well
        return int(bank.count())


def filling(start: Start) -> Piped:
    server = start(odd=True).begun()
    server.call("odd_fill", count=10)
    server.send("tools/call", {"name": "odd_fill", "arguments": {"count": 200_000}}, id="long")
    soon(lambda: b"filling 200000" in server.said)
    return server


def talking(start: Start) -> Piped:
    """Return a server that is asked more than a pipe holds by a client that does not read."""
    server = start(odd=True, read=False)
    server.send("initialize", INITIALIZE, id=0)
    server.send("notifications/initialized")
    for number in range(1, 31):
        server.send("tools/call", {"name": "odd_echo", "arguments": {"letters": 20_000}}, id=number)
    return server


def test_a_server_writes_only_protocol_until_its_client_ends(start: Start, tmp_path: Path) -> None:
    server = start(odd=True).begun()
    assert server.call("odd_say")["structuredContent"] == {"printed": True}
    server.call("odd_fill", count=10)
    assert server.call("odd_job")["structuredContent"] == {"before": {}}
    soon(lambda: server.call("odd_job")["structuredContent"]["before"].get("done"))
    tasks = Path(f"/proc/{server.process.pid}/task")
    assert [child for task in tasks.iterdir() for child in (task / "children").read_text().split()] == []
    server.end()
    assert server.process.wait(PATIENCE) == 0
    server.close()
    assert [line for line in server.written.splitlines() if json.loads(line)["jsonrpc"] != "2.0"] == []
    assert all(said in server.said for said in (b"printed by", b"written by", b"written to the descriptor"))
    assert sound(tmp_path) == 10


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_recalls_by_meaning(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    dark = "Maya prefers a dark colour scheme in her editor."

    async def remembers(client: Client) -> None:
        for text in (dark, "Omar drinks green tea in the morning.", "The payment service is deployed on Fridays."):
            await client.call_tool("remember", {"text": text})
        await recalls(client)

    async def recalls(client: Client) -> None:
        """The query shares no word with the answer; on a busy machine the model may not be loaded yet."""
        found: list[str] = []
        while found[:1] != [dark]:
            reply = await client.call_tool("recall", {"query": "Which theme does she like for programming?"})
            found = [hit["text"] for hit in reply.structured_content["memories"]]

    async def only_recalls(client: Client) -> None:
        assert "only reads" in (client.instructions or "")
        await recalls(client)

    asked(parameters_in(tmp_path), remembers, mode)
    asked(parameters_in(tmp_path, "--read-only"), only_recalls, mode)


@pytest.mark.slow
def test_a_server_ends_after_its_client_and_answers_first(start: Start) -> None:
    silent = start()
    silent.end()
    server = start().begun()
    server.call("remember", text="tea")
    # The first call loads more than the server waits for a client that is gone.
    server.call("recall", query="tea")
    server.send("tools/call", {"name": "recall", "arguments": {"query": "tea"}}, id="last")
    server.end()
    answer = server.next()
    assert (answer["id"], len(answer["result"]["structuredContent"]["memories"])) == ("last", 1)
    assert silent.process.wait(PATIENCE) == server.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_wrong_options_are_refused(start: Start) -> None:
    for args, said in (
        (("--toolset", "mnemosine"), b"Did you mean mnemosyne?"),
        (("--bank", "a/b"), b"--bank"),
        (("--session", ""), b"--session"),
    ):
        refused = start(*args)
        assert refused.process.wait(PATIENCE) == 2
        refused.close()
        assert (refused.written, said in refused.said) == (b"", True), refused.said


@pytest.mark.slow
@pytest.mark.parametrize("how", ["left", "killed", "SIGINT", "SIGTERM"])
def test_a_server_that_ends_while_it_writes_leaves_a_sound_bank(start: Start, tmp_path: Path, how: str) -> None:
    server = filling(start)
    if how == "left":
        server.end()
    else:
        server.process.send_signal(signal.SIGKILL if how == "killed" else signal.Signals[how])
    codes = {"left": 0, "killed": -signal.SIGKILL, "SIGINT": 128 + signal.SIGINT, "SIGTERM": 128 + signal.SIGTERM}
    assert server.process.wait(PATIENCE) == codes[how] and sound(tmp_path) >= 10


@pytest.mark.slow
def test_a_call_that_does_not_end_does_not_hold_the_server(start: Start) -> None:
    server = start(odd=True).begun()
    server.send("tools/call", {"name": "odd_sleep", "arguments": {"seconds": 60}}, id="long")
    soon(lambda: b"sleeping" in server.said)
    server.end()
    server.process.wait(PATIENCE)


@pytest.mark.slow
def test_a_client_that_does_not_read_is_answered_later_or_left(start: Start) -> None:
    server, left = talking(start), talking(start)
    server.read_from_now_on()
    assert sorted(server.next()["id"] for _ in range(31)) == list(range(31))
    for _ in range(30):
        left.write(b"no message")
    left.end()
    left.process.wait(PATIENCE)
    closed = start(odd=True, read=False)
    closed.send("initialize", INITIALIZE, id=0)
    closed.process.stdout.readline()
    closed.process.stdout.close()
    closed.send("notifications/initialized")
    closed.send("tools/call", {"name": "odd_echo", "arguments": {"letters": 1}}, id=1)
    closed.process.wait(PATIENCE)
    closed.close()
    assert b"Traceback" not in closed.said


@pytest.mark.slow
def test_the_engine_is_loaded_after_the_greeting(start: Start) -> None:
    server = start(python=("-X", "importtime"))
    server.ask("initialize", INITIALIZE)
    loaded = imported(server)
    soon(lambda: "mcp.server.lowlevel.server" in imported(server))
    assert not [name for name in HEAVY if name in loaded]
    server.send("notifications/initialized")
    soon(lambda: "pieria.workspace" in imported(server))


def imported(server: Piped) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in server.said.decode().splitlines() if "|" in line}
