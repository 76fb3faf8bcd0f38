"""A step between a failure and its fix: whether it changed anything, its text and its key.

Commands that only look or check fix nothing. Destructive commands are kept and marked as risky.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.language.risk import is_risky_command
from pieria.learning.distilling import commands
from pieria.learning.distilling.commands import Command
from pieria.record.clip import clipped, plain

SHOWN = 140
"""Characters of a command."""
_CHECKING = commands.listed("checking")
_CHECKING_VERBS = commands.listed_by("checking_verbs")
_LOOKING_VERBS = commands.listed_by("looking_verbs")
_LOOKING = commands.listed("looking_too")
_CHANGING = frozenset(["mkdir", "touch", "export", "set", "source", "."])
"""Programs that change something, although other code treats them as preparation."""
_MENDING_OPTION = re.compile(
    r"(?<!\S)(?:--fix|--write|-w|--apply|--autofix|--unsafe-fixes|--fix-only|-u|--update|--updateSnapshot|--snapshot-update)(?!\S)"
)
_WRITES = re.compile(r"(?<![\d&>])>{1,2}\s*(?!&|/dev/)[\w./~$\"'-]+|\btee\s+(?!/dev/)")
_SCRIPT = re.compile(
    r"(?<!\S)(?:python3?|node|ruby|perl|php|deno|bun)\s+(?:-c|-e|--eval|-\s|-m (?:json|http|timeit|this))"
)
_PUTS_BACK = re.compile(r"\bgit (?:checkout|restore|stash|reset)\b")
_ASSIGNMENT = re.compile(r"(?<!\S)(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|\[secret: \w+\]|\S+)")
_OPTION = re.compile(
    r"(?i)(?<!\S)(?P<option>--?[\w-]*(?:passw|passphrase|token|secret|api-?key|credential)[\w-]*|(?:sshpass|login)\b[^|;&]{0,80}?\s-p)"
    r"(?P<mark>\s+|=)(?:\"[^\"]*\"|'[^']*'|\[secret: \w+\]|(?![-<>|&])\S+)"
)
_TELLING_NAME = re.compile(r"(?i)key|token|secret|pass|pwd|auth|cred|dsn|ur[li]|cookie|session|private|salt")
_NOISE = re.compile(
    r"-(?:v+|q+|x|s|vv\w*|ra?|j\d*|n\d*)|--(?:verbose|quiet|lf|ff|tb=\S+|color\S*|no-color|trace|debug|maxfail\S*|durations\S*|log-\S+|progress\S*)"
)
_CONFIG = re.compile(
    r"(?:^|/)(?:\.[\w.-]+|Dockerfile[\w.-]*|Makefile|justfile|Procfile|[\w.-]*requirements[\w.-]*\.txt|go\.(?:mod|sum)|Gemfile|conftest\.py"
    r"|[\w.-]*\.(?:toml|ya?ml|ini|cfg|conf|env|json|lock|properties|tf|gradle|editorconfig))$"
)
_PROSE = re.compile(r"\.(?:md|rst|adoc)$|(?<!requirements)\.txt$", re.IGNORECASE)


class Step(NamedTuple):
    """`told` is for people and `sign` identifies the same step; `weight` says how likely it is the fix."""

    told: str
    sign: str
    weight: float
    risky: bool = False


COMMAND, CONFIG, CODE = 1.0, 0.85, 0.5
"""A command can fix the same problem elsewhere; a code change fixes one piece of code."""


def of_command(line: str) -> Step | None:
    """Return the step of a successful command line; None if it only looked or checked."""
    acting = [part for part in commands.parts(line) if is_acting(part)]
    if not acting or _PUTS_BACK.search(line):
        return None
    shown = shown_line(" && ".join(acting))
    return Step(f"run `{shown}`", _sign(" && ".join(acting)), COMMAND, is_risky(line))


def of_edit(path: str, detail: str) -> Step | None:
    if _PROSE.search(path):
        return None
    weight = CONFIG if _CONFIG.search(path) else CODE
    told = f"change `{path}`" + (f" ({clipped(detail, SHOWN)})" if detail else "")
    return Step(told, f"edit {path}", weight)


def of_reading(path: str) -> Step:
    return Step(f"read `{path}`", "read the file", COMMAND)


def instead(failed: str, passed: str) -> Step | None:
    """Return the difference between a line that succeeded and one that failed, if it may be the fix."""
    before, after = _words(failed), _words(passed)
    come = [word for word in after if word not in before and not _NOISE.fullmatch(word)]
    if not come:
        return None
    checks = is_checking(commands.main_command(passed), passed)
    telling = [word for word in come if not checks or not word.startswith("-")]
    if not telling:
        return None
    sign = " ".join(sorted(_sign(word) for word in come))
    return Step(f"run `{shown_line(passed)}` instead", f"instead {sign}", COMMAND, is_risky(passed))


def left_out(failed: str, passed: str, error: str) -> Step | None:
    """Return the words that the successful line dropped, if the error mentions them."""
    gone = [word for word in _words(failed) if word not in _words(passed) and len(word) > 2 and word in error]
    if not gone:
        return None
    return Step(f"run `{shown_line(passed)}`, without `{' '.join(gone)}`", f"without {' '.join(sorted(gone))}", COMMAND)


def is_risky(told: str) -> bool:
    """Return whether the step may do harm."""
    return is_risky_command(told)


def is_acting(part: str) -> bool:
    if _WRITES.search(re.sub(r"'[^']*'|\"[^\"]*\"", "''", part)):
        return True
    found = commands.commands(part)
    return any(_acts(command, part) for command in found) and not _SCRIPT.search(part)


def is_mending(line: str) -> bool:
    """Return whether the line runs a checker with an option that fixes problems."""
    return _MENDING_OPTION.search(line) is not None and is_checking(
        commands.main_command(line), _MENDING_OPTION.sub("", line)
    )


def is_checking(command: Command | None, line: str) -> bool:
    if command is None or _MENDING_OPTION.search(line):
        return False
    return command.program in _CHECKING or _verb(command) in _CHECKING_VERBS.get(command.program, "").split()


def shown_line(line: str) -> str:
    """Return the line shortened, with values of secret-looking variables and options masked."""

    def masked(found: re.Match[str]) -> str:
        return f"{found['name']}=…" if _TELLING_NAME.search(found["name"]) else found[0]

    return clipped(_ASSIGNMENT.sub(masked, _without_options(plain(line))).replace("`", "'"), SHOWN)


def _acts(command: Command, part: str) -> bool:
    if command.program in _CHANGING:
        return True
    if commands.only_looks(command) or command.program in _LOOKING:
        return False
    if _verb(command) in _LOOKING_VERBS.get(command.program, "").split():
        return False
    return not is_checking(command, part)


def _verb(command: Command) -> str:
    return command.verb or next(iter(command.targets), "")


def _words(line: str) -> list[str]:
    return _ASSIGNMENT.sub(lambda found: f"{found['name']}=", _without_options(plain(line))).split()


def _without_options(line: str) -> str:
    return _OPTION.sub(r"\g<option>\g<mark>…", line)


def _sign(line: str) -> str:
    """Return the line without parts that vary: numbers, values, the project's path, branches."""
    if line.startswith("git "):
        line = " ".join(word for place, word in enumerate(line.split()) if place < 2 or word.startswith("-"))
    bare = _ASSIGNMENT.sub(lambda found: f"{found['name']}=", _without_options(" ".join(line.split())).casefold())
    return re.sub(r"\d+", "0", re.sub(r"(?<!\S)/\S+/(?=[^/\s]+)", "", bare))
