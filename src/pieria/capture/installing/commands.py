"""The line by which a host runs the hook file, and how it is known again among others."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from pieria.capture import hook

MADE = ("entry", "event", "hooks", "file")
"""What had to be made for an entry, each with those before it: to be taken away with it, and nothing else."""
_RUN = "import sys; sys.path.append(sys.argv[1]); import hook; hook.run(sys.argv[2:])"
"""A module is compiled once, a file that is run each time."""
_OURS = re.compile(r"import hook;.*[/\\]pieria[/\\]+capture(?![\w/\\])")
_MADE = re.compile(r"\bmade=(\w+)")


def argv(host: str, spool: Path) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", _RUN, str(Path(hook.__file__).resolve().parent), host, str(spool)]


def command(host: str, spool: Path, made: str) -> str:
    """It succeeds without a word, even where Pieria or its Python is gone: some hosts take a failure for a refusal."""
    return f"{shlex.join([*argv(host, spool), f'made={made}'])} 2>/dev/null || true"


def is_ours(said: object) -> bool:
    return isinstance(said, str) and _OURS.search(said) is not None


def made_of(said: str) -> str:
    found = _MADE.search(said)
    return found[1] if found and found[1] in MADE else MADE[0]
