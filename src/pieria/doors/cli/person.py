"""Whether a person runs the command: for decisions that no agent may make, and for the origin of given text.

The check stops an agent that merely runs shell commands. A program that sets out to deceive can open a terminal and
unset variables. It could change the bank's file as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

import click

AGENTS: Mapping[str, str] = {
    "CLAUDECODE": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "CURSOR_AGENT": "Cursor",
    "CLINE_ACTIVE": "Cline",
    "COPILOT_CLI": "Copilot",
    "GEMINI_CLI": "Gemini",
    "GOOSE_TERMINAL": "Goose",
    "HERMES_SESSION_KEY": "Hermes",
    "OPENCODE": "OpenCode",
    "OPENCODE_CLIENT": "OpenCode",
    "AI_AGENT": "an agent",
    "AGENT": "an agent",
}
"""Variables that agents set for the commands they run."""
TERMINAL = "/dev/tty"


def is_person() -> bool:
    """Return whether standard input and an output are a terminal, and no agent's."""
    shows = sys.stdout.isatty() or sys.stderr.isatty()
    return sys.stdin is not None and sys.stdin.isatty() and shows and not any(map(os.environ.get, AGENTS))


def must_be_person() -> None:
    """Raise `AccessError` unless a person is typing."""
    from pieria.errors import AccessError

    if not is_person():
        raise AccessError("not_a_person")


def way_in() -> str:
    """Return how a text given on the command line came in."""
    from pieria.record.trust import AGENT, PERSON

    return PERSON if is_person() else AGENT


def check_person(command: str, *, can_ask: bool) -> None:
    """Raise `AccessError` if an agent runs the command or there is no terminal.

    `can_ask`: a question follows, so the terminal has to be the input. Otherwise any terminal will do.
    """
    from pieria.errors import AccessError

    for variable, agent in AGENTS.items():
        if os.environ.get(variable):
            hint = f"{agent} runs this command (it set {variable}). Run it yourself, in your own terminal: {command}"
            raise AccessError("not_a_person", hint=hint)
    if can_ask and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise AccessError("not_a_person", hint=f"There is no terminal to ask at. Run it in a terminal: {command}")
    if not (can_ask or any(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)) or _has_terminal()):
        hint = f"--yes skips the question, but a person must run the command in a terminal: {command}. "
        hint += "A script without a terminal can set PIERIA_ variables instead."
        raise AccessError("not_a_person", hint=hint)


def confirm(lines: Iterable[str], question: str, otherwise: str) -> None:
    """Show the lines, which are inert, and ask. Unless the answer is yes, write `otherwise` and exit with 1."""
    for each in lines:
        sys.stderr.write(f"{each}\n")
    if not click.confirm(question, err=True):
        sys.stderr.write(f"{otherwise}\n")
        click.get_current_context().exit(1)


def _has_terminal() -> bool:
    """Return whether the process has a controlling terminal, even if its streams lead elsewhere."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
