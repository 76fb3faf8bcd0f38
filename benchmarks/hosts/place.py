"""A made-up home in which hosts run after `pieria setup`, and a second server whose traffic is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pieria.workspace import Workspace

PIERIA = (sys.executable, "-P", "-m", "pieria")
TOOLS = 9
"""Tools of the toolset that setup's entry serves."""
SENTENCE = "The staging database is called heron."
QUESTION = "What is the staging database called?"
ORDERS = 20_000
"""Memories of the file whose import is the long call."""
LONG_TOOL = "mnemosyne_import"
PATIENCE = 240.0
"""Seconds for one run of a host."""
FOREIGN = ("PIERIA_", "ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "MCP_", "XDG_")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`well` is None for what was not tried, or what the host cannot do."""

    host: str
    what: str
    well: bool | None
    detail: str


class Place:
    """Holds the home, a project in it, and the file of the long call."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "home" / "project"
        self.traffic = folder / "traffic.jsonl"
        self.orders = self.home / "orders.jsonl"
        self.project.mkdir(parents=True)
        usual = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        models = {name: os.environ[name] for name in ("PIERIA_MODELS",) if name in os.environ}
        self.environment = {**usual, **models, "HOME": str(self.home)}
        self._banks = 0
        texts = ({"text": f"Order {number} left depot {number % 97} by van {number % 31}."} for number in range(ORDERS))
        with Workspace(folder / "made", embedder="none") as workspace, workspace.open("made") as bank:
            bank.remember_many(list(texts))
            bank.export(self.orders)

    def run(
        self, command: Sequence[str], *, env: dict[str, str] | None = None, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        there: dict[str, Any] = {"cwd": self.project, "env": env or self.environment, "stdin": subprocess.DEVNULL}
        return subprocess.run(command, check=check, capture_output=True, text=True, timeout=PATIENCE, **there)

    def set_up(self, host: str) -> str:
        """Let `pieria setup` connect a host, and return the outcome of its trial."""
        for folder in (".claude", ".codex"):
            (self.home / folder).mkdir(exist_ok=True)
        reply = json.loads(self.run([*PIERIA, "setup", "--host", host, "--yes"]).stdout)
        return str(reply["hosts"][0]["check"]["detail"])

    def long_server(self) -> tuple[str, list[str]]:
        """Return the command of a server with a long call, on a new bank with one memory."""
        self._banks += 1
        self.run([*PIERIA, "remember", "One order.", "--bank", self.long_bank], check=True)
        self.traffic.write_text("")
        served = [*PIERIA, "mcp", "--toolset", "mnemosyne", "--bank", self.long_bank]
        return sys.executable, [str(Path(__file__).with_name("tee.py")), str(self.traffic), *served]

    @property
    def long_bank(self) -> str:
        return f"long{self._banks}"

    def messages(self, sender: str, method: str) -> list[dict[str, Any]]:
        """Return the messages of a sender so far."""
        found = [line["message"] for line in self._lines() if line["from"] == sender]
        return [message for message in found if message.get("method") == method]

    def signals(self) -> str:
        """Return the signals that the host sent to the server."""
        return ", ".join(line["message"]["signal"] for line in self._lines() if "signal" in line["message"])

    def _lines(self) -> list[dict[str, Any]]:
        """Return the traffic so far. Its last line may be half written."""
        written = self.traffic.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in written if line.endswith("\n")]

    def is_long_call_running(self) -> bool:
        """Say whether the server has reported progress, or has worked on a call without for a while."""
        if self.messages("server", "notifications/progress"):
            return True
        calls = self.messages("host", "tools/call")
        return any("progressToken" not in call["params"].get("_meta", {}) for call in calls) and _after(3.0)

    def kept(self) -> int:
        """Return how many memories the bank of the last long server holds, after a check of the bank."""
        self.run([*PIERIA, "doctor", "--bank", self.long_bank], check=True)
        return int(json.loads(self.run([*PIERIA, "count", "--bank", self.long_bank], check=True).stdout)["count"])


def _after(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> bool:
    """Return whether the condition came true before the process ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if condition():
            return True
        time.sleep(0.05)
    return False
