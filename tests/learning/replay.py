"""Read a day of work from a text file into the events of its hosts.

== SESSION HOST FOLDER TIME      a session begins; an event comes every forty seconds
> …   < …                        a prompt, a reply
$ …   ! …                        a command that went well, one that failed; its output, two columns in
? PATH   ~ PATH   + PATH         a file is read, edited (lines with - and +), written
% PATTERN :: PATH                a search in files
@ URL   & QUERY                  a page is fetched, the web is searched
* N                              so many looks around that mean nothing
.compact   .end                  the context is compacted, the session ends
"""

from __future__ import annotations

import tomllib
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.learning.session_events import Session

from pieria.record.event import AgentEvent

DAYS = Path(__file__).with_name("days")
LOOKS = ("ls -la", "git status --short", "pwd", "cat README.md", "git diff --stat", "head -20 Makefile", "which python")

TOOLS: dict[str, dict[str, str]] = tomllib.loads((DAYS / "tools.toml").read_text("utf-8"))
MARKS = {"$": "run", "!": "run", "?": "read", "~": "edit", "+": "write", "%": "search", "@": "fetch", "&": "ask"}
ONE_WORD = {".compact": "compact", ".end": "end"}


def events(day: str) -> list[AgentEvent]:
    told: list[AgentEvent] = []
    teller: _Teller | None = None
    for line, below in _entries((DAYS / f"{day}.txt").read_text("utf-8")):
        if line.startswith("== "):
            teller = _Teller(*line[3:].split())
            told.append(teller.event("start"))
        else:
            assert teller is not None
            told += teller.told(line, below)
    return told


def _entries(text: str) -> list[tuple[str, list[str]]]:
    """Return each line with the lines that stand two columns in below it."""
    entries: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("  "):
            entries[-1][1].append(line[2:])
        elif line and not line.startswith("# "):
            entries.append((line, []))
    return entries


class _Teller(Session):
    pace = timedelta(seconds=40)

    def __init__(self, name: str, host: str, folder: str, begun: str) -> None:
        super().__init__(name, host, folder, datetime.fromisoformat(begun))
        self._looks = cycle(LOOKS)

    def told(self, line: str, below: list[str]) -> list[AgentEvent]:
        if line in ONE_WORD:
            return [self.event(ONE_WORD[line])]
        mark, said = line[0], line[2:]
        if mark == "*":
            return [self._run(next(self._looks), "…", False) for _ in range(int(said))]
        if mark in "<>":
            return [self.event("reply" if mark == "<" else "prompt", text="\n".join([said, *below]))]
        if mark in "$!":
            return [self._run(said, "\n".join(below), mark == "!")]
        input, output = self._arguments(MARKS[mark], said, below)
        files = (said,) if mark in "?~+" else ()
        return [self.event("tool", tool=TOOLS[self.host][MARKS[mark]], input=input, text=output, files=files)]

    def _run(self, command: str, output: str, failed: bool) -> AgentEvent:
        name = "cmd" if self.host == "codex" else "command"
        return self.event(
            "tool", tool=TOOLS[self.host]["run"], input={name: command}, text=output, failed=True if failed else None
        )

    def _arguments(self, what: str, said: str, below: list[str]) -> tuple[dict[str, Any], str]:
        output = "\n".join(below)
        if what in ("edit", "write"):
            return self._change(what, said, below), "ok"
        if what == "search":
            pattern, _, path = said.partition(" :: ")
            return {"pattern": pattern, "path": path}, output
        if what == "read":
            return {"filePath" if self.host == "opencode" else "file_path": said}, output
        return {"url" if what == "fetch" else "query": said}, output

    def _change(self, what: str, path: str, below: list[str]) -> dict[str, Any]:
        if self.host == "codex":
            head = f"*** {'Update' if what == 'edit' else 'Add'} File: {path}"
            lines = [f"{each[0]}{each[2:]}" for each in below] if what == "edit" else [f"+{each}" for each in below]
            return {"input": "\n".join(["*** Begin Patch", head, *lines, "*** End Patch"])}
        camel = self.host == "opencode"
        name = "filePath" if camel else "file_path"
        if what == "write":
            return {name: path, "content": "\n".join(below)}
        old = "\n".join(each[2:] for each in below if each.startswith("-"))
        new = "\n".join(each[2:] for each in below if each.startswith("+"))
        return {name: path, "oldString" if camel else "old_string": old, "newString" if camel else "new_string": new}
