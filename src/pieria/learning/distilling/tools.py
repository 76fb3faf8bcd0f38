"""Classify tool calls, independent of the names that a host uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pieria.learning.distilling import commands
from pieria.learning.distilling.calls import COMMAND, command_line
from pieria.learning.distilling.outcomes import outcome_of, tests_that_failed
from pieria.learning.distilling.stated import stated_deeds
from pieria.models.mind import Deed
from pieria.record.clip import clipped, plain
from pieria.record.event import GAP, OUTPUT_LIMIT, REPORT_LIMIT, AgentEvent, capped, digest_of
from pieria.record.patch import edits_of, is_shell_patch

_KIND_OF = {name: kind for kind, names in commands.listed_by("tools").items() for name in names.split()}
_LOOKING = commands.listed("tool_looks")
_OTHERS = commands.listed("tool_others")
"""Words for content that anyone may have written."""
_GATHERING = frozenset(["scrape", "crawl"])
_WORD = re.compile(r"[A-Z]?[a-z]+")
_PATH = ("file_path", "filePath", "path", "filename", "target_file", "notebook_path", "file", "absolute_path")
_OLD = ("old_string", "oldString", "old_str", "old")
_NEW = ("new_string", "newString", "new_str", "new", "content", "contents", "file_text", "new_source", "code_edit")
_PATCH = ("input", "patch", "patchText", "patch_text", "diff")
_SOUGHT = ("pattern", "query", "regex", "q", "search_term", "queries")
_ADDRESS = ("url", "urls", "uri")

BEGINNING, PAGE = 300, 2_000
"""Characters kept of other tools' output, and of a page."""
CHANGE = 90
"""Characters kept of a changed line."""
CHANGES = 2
HOSTS_OWN = ("ask", "plan", "report")
"""Kinds of tools that only a host has: a server's tool with such a name has no words of a person."""
OUTPUTS = {
    "run": OUTPUT_LIMIT,
    **dict.fromkeys(HOSTS_OWN, REPORT_LIMIT),
    "fetch": PAGE,
    **dict.fromkeys(("search", "use"), 600),
}
"""Characters of output kept for each kind of call that is read; other kinds keep none."""
REFUSED = 300
"""Characters kept of a rejected edit's output."""
RENAMED = "renamed or moved"


def is_outside(event: AgentEvent) -> bool:
    """Return whether the output was written outside, such as a web page."""
    kind = kind_of(event)
    return kind == "fetch" or (kind == "run" and commands.is_outside(command_line(event.input)))


def trimmed(event: AgentEvent) -> AgentEvent:
    """Return the event without output that is never read, such as file contents and listings."""
    if event.what != "tool" or not event.text:
        return event
    kind = kind_of(event)
    if kind == "run" and not _is_telling(command_line(event.input)):
        kind = "look"
    limit = REFUSED if kind == "edit" and event.failed else OUTPUTS.get(kind, 0)
    if len(event.text) <= limit:
        return event
    text = capped(event.text, limit)[0] if limit else ""
    whole, digest = event.length or len(event.text), event.digest or digest_of(event.text)
    return replace(event, text=text, length=whole, digest=digest)


def deeds_of(event: AgentEvent) -> list[Deed]:
    """Return the deeds of an event; none if it only looked around."""
    return [deed for deed in _deeds(event) if deed.target.strip()]


def _deeds(event: AgentEvent) -> list[Deed]:
    kind = kind_of(event)
    if kind == "run":
        return _ran(event)
    if kind == "edit":
        return [Deed("edited", placed(path, event), detail, event.failed) for path, detail in _edits(event)]
    if kind == "read":
        path = _first(event.input, _PATH) or next(iter(event.files), "")
        return [Deed("read", placed(path, event))] if path else []
    if kind == "search":
        sought = _first(event.input, _SOUGHT)
        return [Deed("searched", clipped(sought, CHANGE), _hits(event.text))] if sought else []
    if kind == "fetch":
        target = _first(event.input, _ADDRESS) or _first(event.input, _SOUGHT) or _called(event)
        return [Deed("fetched", clipped(target, 200), event.text[:PAGE], event.failed)] if target else []
    if kind in HOSTS_OWN:
        return stated_deeds(kind, event)
    if kind in ("idle", "list"):
        return []
    return [Deed("used", event.tool or "a tool", clipped(event.text, BEGINNING), event.failed)]


def _called(event: AgentEvent) -> str:
    """Return a label for a call without an address: the tool's own name and its arguments."""
    told = [str(value) for value in event.input.values() if isinstance(value, str | int)]
    return " ".join([(event.tool or "").rpartition("__")[2], *told])


def placed(path: str, event: AgentEvent) -> str:
    """Return the path as the host gives it, or relative to the agent's folder."""
    path = plain(path).strip()
    for file in event.files:
        if path == file or path.endswith(f"/{file}"):
            return file
    folder = (event.folder or "").rstrip("/")
    return path.removeprefix(f"{folder}/") if folder else path


def kind_of(event: AgentEvent) -> str:
    """Return `run`, `read`, `edit`, `search`, `fetch`, `ask`, `plan`, `report`, `list`, `idle` or `use`."""
    kind = _kind_of(event)
    if kind == "run" and is_shell_patch(command_line(event.input)):
        return "edit"
    if kind == "fetch" and commands.is_local(_first(event.input, _ADDRESS)):
        return "use"
    return kind


def _kind_of(event: AgentEvent) -> str:
    name = (event.tool or "").lower()
    of_server = re.search(r"__|[.:/]", name) is not None
    name = name.rpartition("__")[2]
    found = _KIND_OF.get(name) or _KIND_OF.get(name.rpartition(".")[2])
    if found and not (of_server and found in HOSTS_OWN):
        return found
    given = event.input
    by_argument = (("run", COMMAND), ("fetch", _ADDRESS), ("edit", _OLD))
    for kind, names in by_argument:
        if any(given.get(one) for one in names):
            return kind
    if _first(given, _PATH):
        return "edit" if _first(given, _NEW) else "read"
    return "fetch" if _reads_others(event.tool or "") else "use"


def _reads_others(tool: str) -> bool:
    """Return whether the words of a tool's name say that it reads content from other people."""
    words = {word.lower().removesuffix("s") for word in _WORD.findall(tool.rpartition("__")[2])}
    return bool(words & _GATHERING) or bool(words & _LOOKING and words & _OTHERS)


def _is_telling(line: str) -> bool:
    return commands.main_command(line) is not None or commands.is_outside(line) or commands.searched(line) is not None


def _ran(event: AgentEvent) -> list[Deed]:
    line = command_line(event.input)
    if commands.is_outside(line):
        return [Deed("fetched", clipped(line, 200), event.text[:PAGE], event.failed)]
    sought = commands.searched(line)
    if sought is not None:
        return [Deed("searched", clipped(sought, CHANGE), _hits(event.text))]
    if commands.main_command(line) is None:
        return [Deed("read", placed(path, event)) for path in commands.read_files(line)]
    told = outcome_of(event.text, event.failed)
    detail = told.brief
    if told.failed:
        names = [name for name in tests_that_failed(event.text) if name not in told.error][:3]
        counted = [told.brief] if told.brief and told.brief not in told.error else []
        detail = "; ".join([*filter(None, [told.error]), *([f"in {', '.join(names)}"] if names else []), *counted])
    return [Deed("ran", line, detail, told.failed), *_moved(event, line)]


def _moved(event: AgentEvent, line: str) -> Iterator[Deed]:
    for command in commands.commands(line):
        if command.name == "git mv" and len(command.targets) >= 2:
            yield Deed("edited", placed(command.targets[-1], event), f"{RENAMED} from {command.targets[0]}")


def _edits(event: AgentEvent) -> Iterator[tuple[str, str]]:
    given = event.input
    path = _first(given, _PATH) or next(iter(event.files), "")
    patch = next((given[name] for name in _PATCH if isinstance(given.get(name), str)), "") or command_line(given)
    parts = given.get("edits") or edits_of(patch)
    if isinstance(parts, list) and parts:
        for part in parts:
            if isinstance(part, Mapping):
                yield _first(part, _PATH) or path, _told(part)
    elif path:
        yield path, _told(given)


def _told(edit: Mapping[str, Any]) -> str:
    if edit.get("deleted"):
        return "deleted"
    moved, old, new = _first(edit, ("moved_from",)), _first(edit, _OLD), _first(edit, _NEW)
    if moved:
        return f"{RENAMED} from {moved}"
    return change(old, new) if old or "old_string" in edit else _written(new)


def change(old: str, new: str) -> str:
    """Describe an edit by the first lines that differ."""
    before, after = _lines(old), _lines(new)
    gone = [line for line in before if line not in after][:CHANGES]
    come = [line for line in after if line not in before][:CHANGES]
    if gone and come:
        return f"`{'; '.join(gone)}` became `{'; '.join(come)}`"
    if come:
        return f"`{'; '.join(come)}` came in"
    return f"`{'; '.join(gone)}` went out" if gone else ""


def _written(text: str) -> str:
    lines = _lines(text)
    return f"written: `{lines[0]}`" if lines else "written"


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [clipped(line, CHANGE) for line in lines if re.search(r"\w", line) and not GAP.fullmatch(line)]


def _hits(output: str) -> str:
    """Return the files with matches."""
    found = [line.partition(":")[0].strip() for line in output.splitlines()]
    return ", ".join(list(dict.fromkeys(path for path in found if re.fullmatch(r"[\w./@+-]+", path)))[:3])


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = given.get(name)
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, str) and value.strip():
            return plain(value)
    return ""
