"""The process: its start, its end, its output, and that the bank stays sound in every case."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.doors.mcp.conftest import INITIALIZE, Piped, Start

import pieria

ENDS_WITHIN = 20.0
"""The promise is two seconds, measured by `python -m benchmarks speed`; a busy machine is no failure."""
HEAVY = ("numpy", "onnxruntime", "pieria.bank", "pieria.workspace", "pieria.settings", "pieria.store", "sqlite3")


def seconds_to_end(server: Piped) -> float:
    before = time.monotonic()
    server.process.wait(2 * ENDS_WITHIN)
    return time.monotonic() - before


def whole(tmp_path: Path, name: str) -> int:
    """Return the number of memories in a sound bank."""
    with pieria.open(name, data=tmp_path / "data") as bank:
        assert bank.doctor().well
        return int(bank.count())


@pytest.mark.parametrize("begun", [False, True])
def test_it_ends_soon_after_its_client(start: Start, begun: bool) -> None:
    server = start()
    if begun:
        server.begun().call("mnemosyne_remember", content="tea")
    server.end()
    assert seconds_to_end(server) < ENDS_WITHIN
    assert server.process.returncode == 0


def test_what_was_asked_before_the_client_ended_is_still_answered(start: Start) -> None:
    server = start().begun()
    server.call("mnemosyne_remember", content="tea")
    # The first call loads more than the server waits for a client that is gone.
    server.call("mnemosyne_recall", query="tea")
    server.send("tools/call", {"name": "mnemosyne_recall", "arguments": {"query": "tea"}}, id="last")
    server.end()
    answer = server.next()
    assert answer["id"] == "last"
    assert answer["result"]["structuredContent"]["count"] == 1


def test_a_whole_conversation_may_come_at_once(tmp_path: Path, environment: dict[str, str]) -> None:
    call = {"name": "mnemosyne_get_stats", "arguments": {"no": 1}}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": call},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pieria", "mcp", "--data", str(tmp_path / "data")],
        input="".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines).encode(),
        capture_output=True, check=True, timeout=30, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 2, 3]


def test_it_ends_in_time_with_a_call_that_does_not(start: Start) -> None:
    server = start(odd=True).begun()
    server.send("tools/call", {"name": "odd_sleep", "arguments": {"seconds": 60}}, id="long")
    time.sleep(1)
    server.end()
    assert seconds_to_end(server) < ENDS_WITHIN


@pytest.mark.slow
def test_a_client_that_leaves_while_it_writes_leaves_the_bank_whole(start: Start, tmp_path: Path) -> None:
    server = start(odd=True).begun()
    server.call("odd_fill", count=10)
    server.send("tools/call", {"name": "odd_fill", "arguments": {"count": 200_000}}, id="long")
    time.sleep(1)
    server.end()
    assert seconds_to_end(server) < ENDS_WITHIN
    assert whole(tmp_path, "odd") >= 10


def test_a_server_that_is_killed_while_it_writes_leaves_the_bank_whole(start: Start, tmp_path: Path) -> None:
    server = start(odd=True).begun()
    server.call("odd_fill", count=10)
    server.send("tools/call", {"name": "odd_fill", "arguments": {"count": 200_000}}, id="long")
    time.sleep(1)
    server.process.kill()
    server.process.wait()
    assert whole(tmp_path, "odd") >= 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    server = start(odd=True).begun()
    server.call("odd_fill", count=10)
    server.process.send_signal(number)
    assert seconds_to_end(server) < ENDS_WITHIN
    assert server.process.returncode == 128 + number
    assert whole(tmp_path, "odd") == 10


def test_a_client_that_does_not_read_gets_its_answers_once_it_does(start: Start) -> None:
    server = start(odd=True, read=False)
    server.send("initialize", INITIALIZE, id=0)
    server.send("notifications/initialized")
    for number in range(1, 31):
        server.send("tools/call", {"name": "odd_echo", "arguments": {"letters": 20_000}}, id=number)
    time.sleep(2)
    server.read_from_now_on()
    assert sorted(server.next()["id"] for _ in range(31)) == list(range(31))


def test_a_client_that_does_not_read_and_leaves_does_not_hold_it(start: Start) -> None:
    server = start(odd=True, read=False)
    server.send("initialize", INITIALIZE, id=0)
    server.send("notifications/initialized")
    for number in range(1, 31):
        server.send("tools/call", {"name": "odd_echo", "arguments": {"letters": 20_000}}, id=number)
        server.write(b"no message")
    time.sleep(2)
    server.end()
    assert seconds_to_end(server) < ENDS_WITHIN


def test_a_client_that_stops_reading_for_good_ends_it(start: Start) -> None:
    server = start(odd=True, read=False)
    server.send("initialize", INITIALIZE, id=0)
    assert server.process.stdout is not None
    server.process.stdout.readline()
    server.process.stdout.close()
    server.send("notifications/initialized")
    server.send("tools/call", {"name": "odd_echo", "arguments": {"letters": 1}}, id=1)
    server.process.wait(2 * ENDS_WITHIN)
    server.close()
    assert b"Traceback" not in server.said


def test_nothing_but_protocol_comes_from_stdout(start: Start) -> None:
    server = start(odd=True).begun()
    assert server.call("odd_say")["structuredContent"] == {"printed": True}
    server.end()
    server.process.wait(2 * ENDS_WITHIN)
    server.close()
    assert server.lines.get(timeout=10) is None
    for line in server.written.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"
    for said in (b"printed by", b"written by", b"written to the descriptor"):
        assert said in server.said


def test_the_engine_is_not_there_before_the_greeting_is_answered(start: Start) -> None:
    server = start(python=("-X", "importtime"))
    server.ask("initialize", INITIALIZE)
    time.sleep(1)
    loaded = imported(server)
    assert "mcp.server.lowlevel.server" in loaded
    assert not [name for name in HEAVY if name in loaded]
    server.send("notifications/initialized")
    deadline = time.monotonic() + 30
    while "pieria.workspace" not in imported(server):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def imported(server: Piped) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in server.said.decode().splitlines() if "|" in line}


def test_it_starts_no_process(start: Start) -> None:
    server = start().begun()
    server.call("mnemosyne_remember", content="tea")
    server.call("mnemosyne_recall", query="tea")
    tasks = Path(f"/proc/{server.process.pid}/task")
    assert [child for task in tasks.iterdir() for child in (task / "children").read_text().split()] == []


def test_jobs_are_done_while_it_runs(start: Start) -> None:
    server = start(odd=True).begun()
    assert server.call("odd_job")["structuredContent"] == {"before": {}}
    deadline = time.monotonic() + 20
    while not (done := server.call("odd_job")["structuredContent"]["before"]).get("done"):
        assert time.monotonic() < deadline, done
        time.sleep(0.2)


def test_a_wrong_line_is_refused_before_anything_is_served(tmp_path: Path, environment: dict[str, str]) -> None:
    def ran(*args: str) -> Any:
        return subprocess.run(
            [sys.executable, "-m", "pieria", "mcp", *args],
            input=b"", capture_output=True, check=False, timeout=30, env=environment, cwd=tmp_path,
        )  # fmt: skip

    for args, said in (
        (("--toolset", "mnemosine"), b"Did you mean mnemosyne?"),
        (("--bank", "a/b"), b"--bank"),
        (("--session", ""), b"--session"),
    ):
        done = ran(*args)
        assert done.returncode == 2, done.stderr
        assert done.stdout == b""
        assert said in done.stderr, done.stderr
