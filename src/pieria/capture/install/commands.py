"""The command lines that a host runs for Pieria, and how to recognise them: capture and context."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pieria.capture import context_hook, hook

CAPTURE, CONTEXT = "capture", "context"
MADE = ("entry", "event", "hooks", "file")
"""What had to be created for an entry, each level including those before it; removal deletes only these."""
HOST_SECONDS = 10
"""Seconds that a host waits for a hook."""
_RUN = "import sys; sys.path.append(sys.argv[1]); import hook; hook.run(sys.argv[2:])"
"""Importing the hook as a module reuses its compiled form; running the file would compile it each time."""
_TELL = _RUN.replace("hook", "context_hook")
_OURS = {
    CAPTURE: re.compile(r"import hook;.*[/\\]pieria[/\\]+capture(?![\w/\\])"),
    CONTEXT: re.compile(
        r"import context_hook;.*[/\\]pieria[/\\]+capture(?![\w/\\])|\bmade=\w+ .*-m pieria context --hook "
    ),
}
SILENTLY = " 2>/dev/null || true"
_MADE = re.compile(r"\bmade=(\w+)")


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one host. `spool` is where its events go; `data` is the fallback folder of the banks."""

    host: str
    spool: Path
    data: Path | None = None

    def argv(self, what: str, host: str | None = None) -> list[str]:
        return [sys.executable, *self._rest(what, host or self.host)]

    def like(self, installed: Iterable[Sequence[str]]) -> Commands:
        """Return the commands for the folders that the installed ones name, if they are of the present form."""
        now = self
        for argv in installed:
            program, *rest = argv[argv.index("-c") + 1 :] if "-c" in argv else [""]
            if program == _RUN and len(rest) == 3:
                now = replace(now, spool=Path(rest[2]))
            elif program == _TELL and len(rest) == 5:
                now = replace(now, data=Path(rest[3]) if rest[3] else None)
        return now

    def line(self, what: str, made: str) -> str:
        """Return a shell command that always succeeds silently, even if Pieria is gone: some hosts treat a failure as
        a refusal.
        """
        rest = shlex.join([sys.executable, "-X", f"made={made}", *self._rest(what, self.host)])
        return rest + SILENTLY

    def _rest(self, what: str, host: str) -> list[str]:
        # -B: on a full disk, Python would leave a broken compiled file and never run the hook again.
        telling = [str(self.spool.parent), "" if self.data is None else str(self.data), str(context_hook.SECONDS)]
        program, more = (_RUN, [str(self.spool)]) if what == CAPTURE else (_TELL, telling)
        return ["-I", "-S", "-B", "-c", program, str(Path(hook.__file__).resolve().parent), host, *more]


def which_of_ours(said: object) -> str | None:
    if not isinstance(said, str):
        return None
    return next((what for what, mark in _OURS.items() if mark.search(said)), None)


def made_of(said: str) -> str:
    found = _MADE.search(said)
    return found[1] if found and found[1] in MADE else MADE[0]


def argv_of(line: str) -> list[str]:
    """Return the arguments of a line that `Commands` made; none for a line that someone changed into no command."""
    try:
        return shlex.split(line.removesuffix(SILENTLY))
    except ValueError:
        return []
