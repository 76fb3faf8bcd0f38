"""Claude Code in a terminal: what it shows of a long call, and its key that cancels one."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.hosts.agents import AGENTS, SERVERS_ALLOWED, long_call, long_servers
from benchmarks.hosts.model import ScriptedModel
from benchmarks.hosts.place import PATIENCE, Outcome, Place

NAME = "Claude Code, terminal"
ESCAPE, ENTER = b"\x1b", b"\r"
SIZE = struct.pack("HHHH", 40, 120, 0, 0)
_CONTROL = re.compile(rb"\x1b\[[0-9;?>=<]*[a-zA-Z]|\x1b\][^\x07]*\x07|\x1b[78=>]")
NOTICES = 8


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, SIZE)
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder, start_new_session=True
        )
        os.close(theirs)
        self._shown = b""

    @property
    def text(self) -> str:
        return _CONTROL.sub(b"", self._shown).decode("utf-8", "replace")

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def read_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Read what the program shows, and return whether the condition came true in time."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            if select.select([self._ours], [], [], 0.1)[0]:
                self._shown += os.read(self._ours, 1 << 16)
        return True

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def try_terminal(program: Path, place: Place) -> Iterator[Outcome]:
    agent = AGENTS[0]
    place.set_up(agent.host)
    _answer_first_questions(place)
    with ScriptedModel([long_call(place)]) as model:
        environment = {**place.environment, **agent.environment(model.address), "TERM": "xterm-256color"}
        command = [str(program), "--allowedTools", SERVERS_ALLOWED, *long_servers(place.long_server())]
        terminal = Terminal(command, environment, place.project)
        try:
            terminal.read_until(lambda: bool(place.messages("host", "resources/list")), PATIENCE)
            terminal.read_until(lambda: False, 3.0)
            terminal.press(b"Please import it.")
            terminal.read_until(lambda: False, 1.0)
            terminal.press(ENTER)
            terminal.read_until(lambda: len(place.messages("server", "notifications/progress")) > NOTICES, PATIENCE)
            terminal.read_until(lambda: "%" in terminal.text, 10.0)
            shows = re.search(r"⎿\s*(\d+%)", terminal.text)
            yield Outcome(NAME, "progress", shows is not None, f"it shows {shows[1] if shows else 'nothing'}")
            terminal.press(ESCAPE)
            cancelled = terminal.read_until(lambda: bool(place.messages("host", "notifications/cancelled")), 30.0)
            stays = not place.signals() and terminal.process.poll() is None
        finally:
            terminal.close()
    kept = place.kept()
    said = f"Esc sends notifications/cancelled, and the server goes on; {kept:,} memories afterwards"
    yield Outcome(NAME, "cancel", cancelled and stays and kept == 1, said)


def _answer_first_questions(place: Place) -> None:
    """Write the answers to what Claude Code asks at its first start."""
    file = place.home / ".claude.json"
    written = json.loads(file.read_text())
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    key = {"approved": ["made-up"], "rejected": []}
    written |= {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": key}
    written["projects"] = {**written.get("projects", {}), str(place.project): trusted}
    file.write_text(json.dumps(written))
