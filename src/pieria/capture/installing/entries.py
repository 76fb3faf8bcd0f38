"""Our entries in a host's file of hooks, which Claude Code and Codex write alike: `hooks`, event, group, command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pieria.capture.installing import jsontext
from pieria.capture.installing.commands import MADE, is_ours, made_of
from pieria.capture.installing.files import MARK
from pieria.capture.installing.jsontext import Entry, Node

HOOKS = "hooks"
EMPTY = "{\n}\n"
SECONDS = 10
"""What a host waits for it at most; it takes some hundredths of one."""

Line = Callable[[str], str]
"""The command for what had to be made."""


class Unusual(ValueError):
    """The file is not as its host has it: nothing is changed."""


def found(text: str | None) -> dict[str, list[str]]:
    """Our commands, by event."""
    ours: dict[str, list[str]] = {}
    for event, _, _, command in _ours(_root(EMPTY if text is None else text)[1]):
        ours.setdefault(event, []).append(command.value)
    return ours


def installed(text: str | None, events: Sequence[str], line: Line) -> str:
    """The text with one entry of ours for each event; those that are there are brought up to date."""
    mark, _ = _root(EMPTY if text is None else text)
    base = "file" if text is None else "hooks"
    now = _updated(EMPTY if text is None else text.removeprefix(mark), line)
    missing = [event for event in events if event not in found(now)]
    for event in missing:
        now = _added(now, event, line, base)
    return mark + now


def uninstalled(text: str) -> str | None:
    """The text without them; None where nothing is left of a file that was made for them."""
    mark, root = _root(text)
    now = text.removeprefix(mark)
    made_file = any(made_of(command.value) == "file" for _, _, _, command in _ours(root))
    while True:
        left = next(_ours(jsontext.parsed(now)), None)
        if left is None:
            break
        now = _without(now, *left)
    if made_file and not jsontext.parsed(now).entries:
        return None
    return mark + now


def _root(text: str) -> tuple[str, Node]:
    """The mark that some editors put before it, and what follows."""
    mark = MARK if text.startswith(MARK) else ""
    rest = text.removeprefix(mark)
    if not rest.strip():
        raise Unusual("it is empty: remove it, or write {} into it")
    try:
        root = jsontext.parsed(rest)
    except ValueError as problem:
        raise Unusual(str(problem)) from problem
    if not isinstance(root.value, dict):
        raise Unusual("expected an object")
    hooks = root.member(HOOKS)
    if hooks is not None and not isinstance(hooks.node.value, dict):
        raise Unusual(f"expected {HOOKS} to be an object")
    for entry in () if hooks is None else hooks.node.entries:
        if not isinstance(entry.node.value, list):
            raise Unusual(f"expected {HOOKS}.{entry.key} to be a list")
    return mark, root


Ours = tuple[str, Entry, Entry, Node]
"""Event, group, handler, and its command."""


def _ours(root: Node) -> Iterator[Ours]:
    hooks = root.member(HOOKS)
    for event in () if hooks is None else hooks.node.entries:
        for group in event.node.entries:
            handlers = group.node.member(HOOKS) if isinstance(group.node.value, dict) else None
            for handler in () if handlers is None else handlers.node.entries:
                command = handler.node.member("command") if isinstance(handler.node.value, dict) else None
                if command is not None and is_ours(command.node.value):
                    yield str(event.key), group, handler, command.node


def _updated(text: str, line: Line) -> str:
    """From the end on, so that the places before stay where they are."""
    for _, _, _, command in sorted(_ours(jsontext.parsed(text)), key=lambda one: -one[3].start):
        wanted = line(made_of(command.value))
        if command.value != wanted:
            text = jsontext.with_value(text, command, wanted)
    return text


def _added(text: str, event: str, line: Line, base: str) -> str:
    root = jsontext.parsed(text)
    hooks = root.member(HOOKS)
    if hooks is None:
        return jsontext.with_entry(text, root, {event: [_group(line(base))]}, HOOKS)
    # What stands beside entries that made it was made for them, and goes with the last of them.
    level = max((made_of(command.value) for _, _, _, command in _ours(root)), key=MADE.index, default="entry")
    there = hooks.node.member(event)
    if there is None:
        made = level if MADE.index(level) > MADE.index("event") else "event"
        return jsontext.with_entry(text, hooks.node, [_group(line(made))], event)
    return jsontext.with_entry(text, there.node, _group(line("entry")))


def _group(command: str) -> dict[str, Any]:
    return {HOOKS: [{"type": "command", "command": command, "timeout": SECONDS}]}


def _without(text: str, event: str, group: Entry, handler: Entry, command: Node) -> str:
    """Without one of ours, and without whatever was made for it and is empty now."""
    level = MADE.index(made_of(command.value))
    root = jsontext.parsed(text)
    hooks = root.member(HOOKS)
    assert hooks is not None
    of_event = next(one for one in hooks.node.entries if group in one.node.entries)
    handlers = group.node.member(HOOKS)
    assert handlers is not None
    if len(handlers.node.entries) > 1:
        return jsontext.without_entry(text, handlers.node, handler)
    if len(of_event.node.entries) > 1 or level < MADE.index("event"):
        return jsontext.without_entry(text, of_event.node, group)
    if len(hooks.node.entries) > 1 or level < MADE.index("hooks"):
        return jsontext.without_entry(text, hooks.node, of_event)
    return jsontext.without_entry(text, root, hooks)
