"""The lines that a host runs for us, and how they are known again among others: one captures, one tells."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from pieria.capture import hook

CAPTURE, CONTEXT = "capture", "context"
MADE = ("entry", "event", "hooks", "file")
"""What had to be made for an entry, each with those before it: to be taken away with it, and nothing else."""
HOST_SECONDS = 10
"""What a host waits for one of them at most."""
TELLING_SECONDS = 8
"""What is told comes within this, or nothing does."""
_RUN = "import sys; sys.path.append(sys.argv[1]); import hook; hook.run(sys.argv[2:])"
"""A module is compiled once, a file that is run each time."""
_OURS = {
    CAPTURE: re.compile(r"import hook;.*[/\\]pieria[/\\]+capture(?![\w/\\])"),
    CONTEXT: re.compile(r"\bmade=\w+ .*-m pieria context --hook "),
}
_MADE = re.compile(r"\bmade=(\w+)")


@dataclass(frozen=True, slots=True)
class Commands:
    """What is run for one host. `spool` is where its events go; `data` is noted as the folder of the banks, for where
    nobody else names one."""

    host: str
    spool: Path
    data: Path | None = None

    def argv(self, what: str, host: str | None = None) -> list[str]:
        return [sys.executable, *self._rest(what, host or self.host)]

    def line(self, what: str, made: str) -> str:
        """It succeeds without a word of failure, even where Pieria or its Python is gone: some hosts take a failure for
        a refusal."""
        rest = shlex.join([sys.executable, "-X", f"made={made}", *self._rest(what, self.host)])
        return f"{rest} 2>/dev/null || true"

    def _rest(self, what: str, host: str) -> list[str]:
        if what == CAPTURE:
            # Where a disk is full, Python would keep half of what it compiled, and never run it again.
            return ["-I", "-S", "-B", "-c", _RUN, str(Path(hook.__file__).resolve().parent), host, str(self.spool)]
        noted = [] if self.data is None else ["--fallback-data", str(self.data)]
        return ["-I", "-m", "pieria", "context", "--hook", host, "--within", str(TELLING_SECONDS), *noted]


def which_of_ours(said: object) -> str | None:
    if not isinstance(said, str):
        return None
    return next((what for what, mark in _OURS.items() if mark.search(said)), None)


def made_of(said: str) -> str:
    found = _MADE.search(said)
    return found[1] if found and found[1] in MADE else MADE[0]
