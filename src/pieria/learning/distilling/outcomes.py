"""Read a command's outcome from its output: whether it failed, a short summary, and the error."""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.record.clip import clipped

SHORT = 200
"""Characters of the error line."""
_WRAPPER = re.compile(
    r"\s*(?:(?:Exit code:? |Process exited with code |(?:Wall time|Chunk ID|Original token count|Total output lines): )"
    r"[^\n]*(?:\n|\Z))+(?:Output:[ \t]*(?:\n|\Z))?"
)
"""What hosts write before a command's output: its status is no error line."""
_EXIT = re.compile(r"(?:Exit code:? |Process exited with code )(\d+)")
_COUNTS = (
    re.compile(
        r"\b(\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?)"
        r"(?:, \d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?|total))*)"
    ),
    re.compile(r"test result: \w+\. (\d+ passed; \d+ failed)"),
    re.compile(r"\b(Found \d+ errors?[^\n.]{0,60})"),
    re.compile(r"\b(\d+ (?:passing|failing))\b"),
    re.compile(r"^(FAILED \([^)\n]{1,60}\))", re.MULTILINE),
    re.compile(r"^(Success: [^\n]{1,80}|All checks passed!?|BUILD (?:SUCCESSFUL|FAILED|SUCCESS)\b)", re.MULTILINE),
    re.compile(r"^\W{0,3}(built in [^\n]{1,20})", re.MULTILINE),
)
_SOME_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?)\b|^FAILED \(|^BUILD FAILED|test result: FAILED|^--- FAIL: |^FAIL\b",
    re.MULTILINE,
)
_FAILED = re.compile(
    r"^Traceback \(most recent call last\)|^error(?:\[\w+\])?: |^npm ERR!|^npm error|^make(?:\[\d+\])?: \*\*\* "
    r"|: command not found$|^panic: |^fatal: |\bexit (?:code|status):? [1-9]|^ERROR: ",
    re.MULTILINE,
)
_NAMED = (
    r"(?:[A-Za-z_][\w.]*\.)?[A-Za-z_]*"
    r"(?:Error|Exception|Failure|Timeout|Interrupt|Exit(?! code )|DoesNotExist|Warning)"
)
_TELLING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"^E\s+(?P<told>{_NAMED}\b.*)$",
        r"^\s*--- FAIL: (?P<test>\S+).*\n\s+\S+?:\d+: (?P<told>.+)$",
        r"^\s*● (?P<test>[^\n]+)\n+\s+(?P<told>\S.*)$",
        r"^\s*(?P<told>! \[(?:remote )?rejected\] .+)$",
        r"^(?P<told>(?:\S[^\n]*?\b)?[Ee]rror(?: ?TS\d+|\[\w+\])?: .+)$",
        r"^\s*(?P<told>cgo: .+|ld: .+|collect2: .+)$",
        rf"^(?P<told>{_NAMED}: .+)$",
        r"^E\s+(?P<told>assert .+)$",
        rf"^\s*(?P<told>(?:Uncaught )?{_NAMED}\b.*)$",
        r"^\s*(?P<told>(?:(?:panic|fatal|FATAL|error|ERROR|Error|npm error)\b|npm ERR!):? .+)$",
        r"^(?P<told>\S+:\d+(?::\d+)?: .+)$",
        r"^(?P<told>FAILED .+|.*: \w+: line \d+: .+)$",
        r"^(?P<told>.*(?:command not found|[Nn]o such file|[Pp]ermission denied|[Tt]imed out|refused|not found).*)$",
        r"^(?P<told>make(?:\[\d+\])?: \*\*\* .+)$",
    )
)
"""Patterns that find the error line, most specific first."""


class Outcome(NamedTuple):
    """`failed` is None if the output does not tell. `brief` is empty if there is no summary."""

    failed: bool | None
    brief: str
    error: str


def outcome_of(output: str, failed: bool | None) -> Outcome:
    """Return the outcome. A test runner's counts override the host's status: a pipe hides the exit code."""
    wrapper = _WRAPPER.match(output)
    if wrapper is not None:
        output = output[wrapper.end() :]
        code = _EXIT.search(wrapper[0])
        failed = code[1] != "0" if failed is None and code is not None else failed
    if _SOME_FAILED.search(output) or (failed is None and _FAILED.search(output)):
        failed = True
    brief = _brief(output)
    return Outcome(failed, brief, _error(output) if failed else "")


def tests_that_failed(output: str) -> list[str]:
    """Return the names of failed tests, as the runner writes them."""
    found = re.findall(r"^FAILED (\S+::\S+)|^\s*--- FAIL: (\S+)|^FAIL (\S+\.[jt]sx?)$", output, re.MULTILINE)
    return list(dict.fromkeys(name for names in found for name in names if name))


def _brief(output: str) -> str:
    found = [(match.start(), match[1]) for pattern in _COUNTS for match in pattern.finditer(output)]
    return " ".join(max(found)[1].split()) if found else ""


def _error(output: str) -> str:
    for pattern in _TELLING:
        match = pattern.search(output)
        if match:
            told = " ".join(match["told"].split())
            test = match.groupdict().get("test")
            return clipped(f"{test.strip()}: {told}" if test else told, SHORT)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return clipped(" ".join(lines[-1].split()), SHORT) if lines else ""
