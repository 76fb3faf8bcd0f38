"""How soon `pieria mcp` answers, and what a tool call costs beyond its own work."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from benchmarks.filled import Say
from benchmarks.rows import Row, below, quantile
from pieria.toolsets import Banks, Host, called, registry
from pieria.toolsets.host import paths_of_user
from pieria.workspace import Workspace

TOOL = "mnemosyne_scratchpad_read"
"""It does almost nothing, so its time is the transport's."""
CALLS, WARM = 300, 30
ROUNDS = 5
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
SERVER = "from pieria.doors.cli import main; main()"
BARE = "import mcp.server.lowlevel"


def rows(data: Path, say: Say) -> Iterator[Row]:
    yield from _starting(data, say)
    yield _calling(data, say)


class _Client:
    """A minimal JSON-RPC client over pipes, so that its own work adds no time."""

    def __init__(self, data: Path) -> None:
        line = [sys.executable, "-c", SERVER, "mcp", "--toolset", "mnemosyne", "--data", str(data)]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            reply = json.loads(line)
            if reply.get("id") == self._number:
                return reply["result"]
        raise RuntimeError(f"the server closed without answering {method}")

    def begin(self) -> None:
        self.ask("initialize", HELLO)
        self._send({"method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


def _starting(data: Path, say: Say) -> Iterator[Row]:
    """Measure our start and the bare import in turn, so that the machine's load affects both."""
    ours, ends, bare = [], [], []
    for number in range(ROUNDS):
        begun = time.perf_counter()
        with _Client(data) as client:
            client.ask("initialize", HELLO)
            ours.append(1000 * (time.perf_counter() - begun))
            ended = time.perf_counter()
        ends.append(1000 * (time.perf_counter() - ended))
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", BARE], check=True)  # noqa: S603
        bare.append(1000 * (time.perf_counter() - begun))
        say("starting a server", number + 1, ROUNDS)
    yield below("pieria mcp, start to initialize", ours, 1_000.0)
    yield below("pieria mcp, from the end of its input to its own", ends, 2_000.0)
    ratio = statistics.median(one / other for one, other in zip(ours, bare, strict=True))
    detail = {"bare_ms": round(statistics.median(bare), 1)}
    yield Row(
        f"pieria mcp, start to initialize, times `{BARE}`", round(ratio, 2), "times", "≤ 1.6", ratio <= 1.6, detail
    )


def _calling(data: Path, say: Say) -> Row:
    """Measure a call over the pipe and the same call in process, in turn."""
    piped, plain = [], []
    arguments = {"name": TOOL, "arguments": {}}
    with _Client(data) as client, Workspace(data) as workspace:
        client.begin()
        host = Host(Banks(workspace, "bench"), "default", "bench", paths_of_user(workspace))
        for number in range(WARM + CALLS):
            begun = time.perf_counter()
            client.ask("tools/call", arguments)
            between = time.perf_counter()
            called(registry(), TOOL, {}, lambda: host)
            if number >= WARM:
                piped.append(1000 * (between - begun))
                plain.append(1000 * (time.perf_counter() - between))
            say("calling tools", number + 1, WARM + CALLS)
    over = statistics.median(piped) - statistics.median(plain)
    detail = {"stdio_p95_ms": round(quantile(piped, 0.95), 3), "python_p50_ms": round(statistics.median(plain), 3)}
    return Row("a tool over stdio, beyond the call in Python, p50", round(over, 3), "ms", "< 3", over < 3, detail)
