"""Servers over stdio as processes: called line by line here, or by the official client."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[3]
PATIENCE = 30.0
PIERIA = ("-m", "pieria", "mcp")
ODD = ("-m", "tests.doors.mcp.odd.server")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ERAS = ("legacy", "auto")


class Piped:
    """A server that is called in lines. stderr is read as well, so that a full pipe never blocks the server."""

    def __init__(self, command: list[str], env: dict[str, str], folder: Path, *, read: bool = True) -> None:
        pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process: Any = subprocess.Popen(command, env=env, cwd=folder, **pipes)
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.written = b""
        self.said = b""
        self._number = 0
        self._listening: list[threading.Thread] = []
        self._listen(self._hear)
        if read:
            self.read_from_now_on()

    def read_from_now_on(self) -> None:
        self._listen(self._read)

    def _listen(self, how: Callable[[], None]) -> None:
        self._listening.append(threading.Thread(target=how, daemon=True))
        self._listening[-1].start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.written += line
            self.lines.put(line)
        self.lines.put(None)

    def _hear(self) -> None:
        while part := os.read(self.process.stderr.fileno(), 1 << 16):
            self.said += part

    def write(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None, *, id: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "id": id, "params": params}
        self.write(json.dumps({name: value for name, value in message.items() if value is not None}).encode())

    def ask(self, method: str, params: Any = None) -> Any:
        """Return the answer, and skip other messages before it."""
        self._number += 1
        self.send(method, params, id=self._number)
        while (answer := self.next()).get("id") != self._number:
            pass
        return answer

    def next(self) -> Any:
        line = self.lines.get()
        assert line is not None, f"the server ended: {self.said.decode()}"
        return json.loads(line)

    def begun(self) -> "Piped":
        self.ask("initialize", INITIALIZE)
        self.send("notifications/initialized")
        return self

    def call(self, tool: str, /, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def end(self) -> None:
        self.process.stdin.close()

    def close(self) -> None:
        """Stop the server and read the rest of its output."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for listening in self._listening:
            listening.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                stream.close()


Start = Callable[..., Piped]


def environment_of(home: Path) -> dict[str, str]:
    source = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    return {**os.environ, "HOME": str(home), "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}


def begun_in(folder: Path, *args: str, odd: bool = False, read: bool = True, python: tuple[str, ...] = ()) -> Piped:
    """Return a server on the data folder there, started in a folder without project settings."""
    data = [str(folder / "data")] if odd else ["--data", str(folder / "data")]
    command = [sys.executable, *python, *(ODD if odd else PIERIA), *data, *args]
    return Piped(command, environment_of(folder), folder, read=read)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Piped] = []

    def begin(*args: str, **how: Any) -> Piped:
        started.append(begun_in(tmp_path, *args, **how))
        return started[-1]

    yield begin
    for server in started:
        server.close()


def parameters_in(folder: Path, *args: str) -> StdioServerParameters:
    command = [*PIERIA, "--data", str(folder / "data"), *args]
    return StdioServerParameters(command=sys.executable, args=command, env=environment_of(folder), cwd=str(folder))


def asked(server: Any, questions: Callable[[Client], Awaitable[None]], mode: Any = "auto") -> None:
    """Let the official client ask a server in this process, or start one with these parameters."""

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server, mode=mode) as client:
                await questions(client)

    anyio.run(run)
