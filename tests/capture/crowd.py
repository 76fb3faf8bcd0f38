"""Processes for end-to-end tests: agents that send hook events, and drains that are killed."""

import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.capture.payloads import bash, prompt, stop

import pieria
from pieria.capture import hook
from pieria.capture.drain import Drain

SECRET = "ghp_" + "A1b2" * 9
HIDDEN = "HIDDENPLAN"


def payload(project: str, session: str, number: int) -> dict[str, Any]:
    """Return event `number` of a session: of ten events one is a prompt, one a reply, and the others tool calls."""
    extra = f"<private>{HIDDEN}</private> {SECRET}" if number % 7 == 0 else ""
    if number % 10 == 0:
        return prompt(project, f"{session} asks {number} {extra}", session, prompt_id=f"p{number}")
    if number % 10 == 9:
        return stop(project, f"{session} answers {number} {extra}", session, prompt_id=f"p{number}")
    return bash(project, f"make {number}", f"built {number} {extra} " + "log line\n" * (number % 50), number, session)


def speak(pipe: Connection, spool: str, project: str, session: str, events: int) -> None:
    """Handle each payload like the hook's process, without the process."""
    for number in range(events):
        hook.take("claude-code", spool, payload(project, session, number))
    pipe.close()


def drain_until_killed(pipe: Connection, data: str) -> None:
    with pieria.Workspace(data) as workspace:
        while True:
            drain = Drain(workspace)
            drain.drain()
            pipe.send("drained")
            time.sleep(0.01)


def said(session: str, events: int) -> set[str]:
    """Return what the bank must hold of a session, without the redacted parts."""
    kept = set()
    for number in range(events):
        if number % 10 in (0, 9):
            verb = "asks" if number % 10 == 0 else "answers"
            kept.add(f"{session} {verb} {number}{' [secret: github_token]' if number % 7 == 0 else ''}")
    return kept


def trimmed(text: str) -> str:
    return " ".join(text.split())


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
