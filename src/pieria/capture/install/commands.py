"""The command lines that a host runs for Pieria, and how to recognise them: capture and context."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from pieria.capture import hook

CAPTURE, CONTEXT = "capture", "context"
MADE = ("entry", "event", "hooks", "file")
"""What had to be created for an entry, each level including those before it; removal deletes only these."""
HOST_SECONDS = 10
"""Seconds that a host waits for a hook."""
TELLING_SECONDS = 8
"""Seconds for the context; after that the hook returns nothing."""
_RUN = "import sys; sys.path.append(sys.argv[1]); import hook; hook.run(sys.argv[2:])"
"""Importing the hook as a module reuses its compiled form; running the file would compile it each time."""
_OURS = {
    CAPTURE: re.compile(r"import hook;.*[/\\]pieria[/\\]+capture(?![\w/\\])"),
    CONTEXT: re.compile(r"\bmade=\w+ .*-m pieria context --hook "),
}
_MADE = re.compile(r"\bmade=(\w+)")


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one host. `spool` is where its events go; `data` is the fallback folder of the banks."""

    host: str
    spool: Path
    data: Path | None = None

    def argv(self, what: str, host: str | None = None) -> list[str]:
        return [sys.executable, *self._rest(what, host or self.host)]

    def line(self, what: str, made: str) -> str:
        """Return a shell command that always succeeds silently, even if Pieria is gone: some hosts treat a failure as
        a refusal.
        """
        rest = shlex.join([sys.executable, "-X", f"made={made}", *self._rest(what, self.host)])
        return f"{rest} 2>/dev/null || true"

    def _rest(self, what: str, host: str) -> list[str]:
        if what == CAPTURE:
            # -B: on a full disk, Python would leave a broken compiled file and never run the hook again.
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
