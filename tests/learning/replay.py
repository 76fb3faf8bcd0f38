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
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from pieria.record.event import AgentEvent, event_id

DAYS = Path(__file__).with_name("days")
PACE = timedelta(seconds=40)
LOOKS = ("ls -la", "git status --short", "pwd", "cat README.md", "git diff --stat", "head -20 Makefile", "which python")

TOOLS: dict[str, dict[str, str]] = tomllib.loads((DAYS / "tools.toml").read_text("utf-8"))
MARKS = {"$": "run", "!": "run", "?": "read", "~": "edit", "+": "write", "%": "search", "@": "fetch", "&": "ask"}
ONE_WORD = {".compact": "compact", ".end": "end"}


def events(day: str) -> list[AgentEvent]:
    """Return the events of one of `DAYS`, in order."""
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


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    line: str | None = None
    below: list[str] = []
    for each in text.splitlines():
        if each.startswith("  "):
            below.append(each[2:])
        elif each and not each.startswith("# "):
            if line is not None:
                yield line, below
            line, below = each, []
    if line is not None:
        yield line, below


class _Teller:
    def __init__(self, session: str, host: str, folder: str, begun: str) -> None:
        self._session, self._host, self._folder = session, host, folder
        self._at = datetime.fromisoformat(begun)
        self._number = 0
        self._looks = cycle(LOOKS)

    def event(self, what: str, **values: Any) -> AgentEvent:
        self._at += PACE
        self._number += 1
        return AgentEvent(
            id=event_id(self._host, self._session, what, str(self._number)), what=what, at=self._at, host=self._host,
            session=self._session, folder=self._folder, **values,
        )  # fmt: skip

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
        return [self.event("tool", tool=TOOLS[self._host][MARKS[mark]], input=input, text=output, files=files)]

    def _run(self, command: str, output: str, failed: bool) -> AgentEvent:
        name = "cmd" if self._host == "codex" else "command"
        return self.event(
            "tool", tool=TOOLS[self._host]["run"], input={name: command}, text=output, failed=True if failed else None
        )

    def _arguments(self, what: str, said: str, below: list[str]) -> tuple[dict[str, Any], str]:
        output = "\n".join(below)
        if what in ("edit", "write"):
            return self._change(what, said, below), "ok"
        if what == "search":
            pattern, _, path = said.partition(" :: ")
            return {"pattern": pattern, "path": path}, output
        if what == "read":
            return {"filePath" if self._host == "opencode" else "file_path": said}, output
        return {"url" if what == "fetch" else "query": said}, output

    def _change(self, what: str, path: str, below: list[str]) -> dict[str, Any]:
        if self._host == "codex":
            head = f"*** {'Update' if what == 'edit' else 'Add'} File: {path}"
            lines = [f"{each[0]}{each[2:]}" for each in below] if what == "edit" else [f"+{each}" for each in below]
            return {"input": "\n".join(["*** Begin Patch", head, *lines, "*** End Patch"])}
        camel = self._host == "opencode"
        name = "filePath" if camel else "file_path"
        if what == "write":
            return {name: path, "content": "\n".join(below)}
        old = "\n".join(each[2:] for each in below if each.startswith("-"))
        new = "\n".join(each[2:] for each in below if each.startswith("+"))
        return {name: path, "oldString" if camel else "old_string": old, "newString" if camel else "new_string": new}
