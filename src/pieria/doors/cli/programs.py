"""Other programs that a command runs for a person: shown first, and run only when the person agrees."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

import click

from pieria.doors.cli.console import inert
from pieria.errors import ConfigError, StorageError


def agrees(question: str, *, yes: bool) -> bool:
    """Return whether to go on: with `--yes`, or after a person's yes. Without a terminal the answer is no."""
    if yes:
        return True
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(inert(question, one_line=True), err=True)


def run(command: Sequence[str]) -> None:
    """Run a program, with its output on stderr. Raise `StorageError` if it fails."""
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{command[0]} was not found", hint=f"Run it yourself: {shlex.join(command)}")
    sys.stderr.write(f"$ {inert(shlex.join(command), one_line=True)}\n")
    sys.stderr.flush()
    code = subprocess.run(command, stdout=sys.stderr.fileno(), check=False).returncode  # noqa: S603 - shown, and agreed to
    if code != 0:
        raise StorageError("run", f"{shlex.join(command)} ended with {code}", hint="Its output above says why.")
