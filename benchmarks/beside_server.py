"""Measure what runs beside a server: `python -m benchmarks.beside_server`.

Three servers of one data folder start, as agents start them, and answer a recall. Then it times a prompt's hook and
`pieria recall`, beside the servers and without them. A time is the median, and comes with its multiple of the time that
bare Python takes in the same run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from pieria.capture.install.commands import CONTEXT, Commands

SERVERS, TIMES, FEW = 3, 50, 5
QUESTION = "When does the deploy run?"
TEXTS = ("The deploy runs on Friday at noon.", "Maya prefers green tea.", "Backups go to the second disk each night.")
PIERIA = (sys.executable, "-m", "pieria")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Server:
    """`pieria mcp`, after its answer to `initialize`."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process: Any = subprocess.Popen([*PIERIA, "mcp"], env=environment, cwd=folder, text=True, **pipes)
        self.ask("initialize", INITIALIZE)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        return json.loads(self.process.stdout.readline())

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    @property
    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1_024

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def timed(command: Sequence[str], times: int, environment: dict[str, str], folder: Path, given: str = "") -> float:
    taken = []
    for _ in range(times):
        begun = perf_counter()
        subprocess.run(command, env=environment, cwd=folder, input=given, capture_output=True, text=True, check=True)
        taken.append(perf_counter() - begun)
    return median(taken)


def main() -> int:
    with TemporaryDirectory() as made:
        folder = Path(made)
        environment = {**os.environ, "PIERIA_DATA": str(folder / "data"), "PIERIA_BANK": "beside"}
        for text in TEXTS:
            subprocess.run([*PIERIA, "remember", text, "--quiet"], env=environment, check=True, capture_output=True)
        servers = [Server(environment, folder) for _ in range(SERVERS)]
        for server in servers:
            server.ask("tools/call", {"name": "recall", "arguments": {"query": QUESTION}})
        sizes = [round(server.megabytes) for server in servers]
        hook = Commands("claude-code", folder / "data" / "spool").argv(CONTEXT)
        payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": made, "prompt": QUESTION}
        asked = (environment, folder, json.dumps(payload))
        bare = timed([sys.executable, "-I", "-S", "-c", "pass"], TIMES, environment, folder)
        beside = {"hook": timed(hook, TIMES, *asked), "recall": timed([*PIERIA, "recall", QUESTION], FEW, *asked)}
        for server in servers:
            server.end()
        alone = {"hook": timed(hook, FEW, *asked), "recall": timed([*PIERIA, "recall", QUESTION], FEW, *asked)}
    sys.stdout.write(f"resident: {' + '.join(map(str, sizes))} = {sum(sizes)} MB; bare Python {bare * 1_000:.0f} ms\n")
    for name, taken in beside.items():
        line = f"{name}: {taken * 1_000:.0f} ms, {taken / bare:.1f} times; alone {alone[name] * 1_000:.0f} ms\n"
        sys.stdout.write(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
