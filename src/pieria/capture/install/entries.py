"""Our entries in a host's JSON file of hooks. Claude Code, Codex and Gemini CLI share the format: `hooks`, event,
group, command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pieria.capture.install import jsontext
from pieria.capture.install.commands import HOST_SECONDS, MADE, made_of, which_of_ours
from pieria.capture.install.files import MARK
from pieria.capture.install.jsontext import Entry, Node

HOOKS = "hooks"
EMPTY = "{\n}\n"

Wanted = Mapping[str, Sequence[str]]
"""The wanted commands of each event."""
Line = Callable[[str, str], str]
"""Builds a command line from the command and what had to be created for it."""


class Unusual(ValueError):
    """The file has an unexpected structure, so it was not changed."""


def found(text: str | None) -> dict[str, list[str]]:
    """Return our commands in the file, by event."""
    there: dict[str, list[str]] = {}
    for ours in _ours(_root(EMPTY if text is None else text)[1]):
        there.setdefault(ours.event, []).append(ours.what)
    return there


def lines(text: str | None) -> list[str]:
    """Return our command lines in the file."""
    return [ours.command.value for ours in _ours(_root(EMPTY if text is None else text)[1])]


def installed(text: str | None, wanted: Wanted, line: Line, timeout: int = HOST_SECONDS) -> str:
    """Return the text with an up-to-date entry for each wanted command, and without our other entries.

    `timeout` is in the host's own unit.
    """
    mark, _ = _root(EMPTY if text is None else text)
    base = "file" if text is None else "hooks"
    now = _updated(EMPTY if text is None else text.removeprefix(mark), line)
    for event, commands in wanted.items():
        for what in commands:
            if what not in found(now).get(event, ()):
                now = _added(now, event, partial(line, what), base, timeout)
    return mark + _cleared(now, lambda ours: ours.what not in wanted.get(ours.event, ()))


def uninstalled(text: str) -> str | None:
    """Return the text without our entries; None if the file was made for them and is now empty."""
    mark, root = _root(text)
    now = text.removeprefix(mark)
    made_file = any(made_of(ours.command.value) == "file" for ours in _ours(root))
    now = _cleared(now, lambda ours: True)
    if made_file and not jsontext.parsed(now).entries:
        return None
    return mark + now


def _root(text: str) -> tuple[str, Node]:
    """Return the byte order mark, if any, and the parsed root."""
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


class Ours(NamedTuple):
    """One of our handlers, with its group and command."""

    event: str
    group: Entry
    handler: Entry
    command: Node
    what: str


def _ours(root: Node) -> Iterator[Ours]:
    hooks = root.member(HOOKS)
    for event in () if hooks is None else hooks.node.entries:
        for group in event.node.entries:
            handlers = group.node.member(HOOKS) if isinstance(group.node.value, dict) else None
            for handler in () if handlers is None else handlers.node.entries:
                command = handler.node.member("command") if isinstance(handler.node.value, dict) else None
                what = None if command is None else which_of_ours(command.node.value)
                if command is not None and what is not None:
                    yield Ours(str(event.key), group, handler, command.node, what)


def _updated(text: str, line: Line) -> str:
    """Update from the end, so that earlier positions stay valid."""
    for ours in sorted(_ours(jsontext.parsed(text)), key=lambda one: -one.command.start):
        wanted = line(ours.what, made_of(ours.command.value))
        if ours.command.value != wanted:
            text = jsontext.with_value(text, ours.command, wanted)
    return text


def _cleared(text: str, is_to_go: Callable[[Ours], bool]) -> str:
    while left := next((ours for ours in _ours(jsontext.parsed(text)) if is_to_go(ours)), None):
        text = _without(text, left)
    return text


def _added(text: str, event: str, line: Callable[[str], str], base: str, timeout: int) -> str:
    root = jsontext.parsed(text)
    hooks = root.member(HOOKS)
    if hooks is None:
        return jsontext.with_entry(text, root, {event: [_group(line(base), timeout)]}, HOOKS)
    # An entry beside others inherits their level, so that the last one removed also removes what was created.
    there = hooks.node.member(event)
    if there is None:
        level = _level(_ours(root))
        made = level if MADE.index(level) > MADE.index("event") else "event"
        return jsontext.with_entry(text, hooks.node, [_group(line(made), timeout)], event)
    beside = _level(ours for ours in _ours(root) if ours.event == event)
    return jsontext.with_entry(text, there.node, _group(line(beside), timeout))


def _level(beside: Iterable[Ours]) -> str:
    return max((made_of(ours.command.value) for ours in beside), key=MADE.index, default="entry")


def _group(command: str, timeout: int) -> dict[str, Any]:
    return {HOOKS: [{"type": "command", "command": command, "timeout": timeout}]}


def _without(text: str, ours: Ours) -> str:
    """Remove one of our entries, and what was created for it if that is now empty."""
    group, handler = ours.group, ours.handler
    level = MADE.index(made_of(ours.command.value))
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
