"""Changes to a JSON file that people edit by hand, as changes to its text: nothing else in it moves.

What was put in is taken out again to the byte, wherever it stands, as long as nobody has changed it. Comments and
commas at the end are borne, since some hosts bear them. What the entries mean is not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DECODER = json.JSONDecoder()
DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and where in the text it stands. `entries` are those of an array, or the members of an object."""

    start: int
    end: int
    value: Any
    entries: list[Entry] = field(default_factory=list)

    def member(self, key: str) -> Entry | None:
        """The last of that name, which is the one that counts."""
        return next((one for one in reversed(self.entries) if one.key == key), None)


@dataclass(frozen=True, slots=True)
class Entry:
    """From its key, where it has one, to the end of its value."""

    start: int
    node: Node
    key: str | None = None

    @property
    def end(self) -> int:
        return self.node.end


def parsed(text: str) -> Node:
    """Raises `ValueError` where it is no JSON, with the place."""
    try:
        node = _value(text, _after_blank(text, 0), 0)
    except json.JSONDecodeError as problem:
        raise ValueError(f"line {problem.lineno}: {problem.msg}") from problem
    rest = _after_blank(text, node.end)
    if rest < len(text):
        raise _wrong(text, rest, "nothing more")
    return node


def with_entry(text: str, container: Node, written: Any, key: str | None = None) -> str:
    """The text with one more entry at the end of an array, or of an object under a key."""
    many_lines = "\n" in text[container.start : container.end] or not container.entries
    indent = _indent_within(text, container)
    body = _spelt(text, written, indent if many_lines else None)
    if key is not None:
        body = f"{json.dumps(key)}: {body}"
    lead = f"{_line_end(text)}{indent}" if many_lines else " "
    if not container.entries:
        return text[: container.start + 1] + lead + body + text[container.start + 1 :]
    comma = _comma_after(text, container.entries[-1].end)
    if comma is None:
        end = container.entries[-1].end
        return text[:end] + "," + lead + body + text[end:]
    return text[: comma + 1] + lead + body + "," + text[comma + 1 :]


def without_entry(text: str, container: Node, entry: Entry) -> str:
    """The text without it, and without the comma that is there because of it."""
    place = container.entries.index(entry)
    before = container.entries[place - 1].end if place else container.start + 1
    gap = text[before : entry.start]
    blank = before + len(gap.rstrip(" \t\r\n"))
    if "//" in gap.rstrip(" \t\r\n").rpartition("\n")[2]:
        # Its line must end, or it would swallow what follows.
        blank = text.index("\n", blank) + 1
    after, earlier = _comma_after(text, entry.end), _comma_after(text, before) if place else None
    if after is not None:
        return text[:blank] + text[after + 1 :]
    if earlier is None:
        return text[:blank] + text[entry.end :]
    return text[:earlier] + text[earlier + 1 : blank] + text[entry.end :]


def with_value(text: str, node: Node, written: Any) -> str:
    """The text with another value in its place, on one line."""
    return text[: node.start] + json.dumps(written, ensure_ascii=False) + text[node.end :]


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise _wrong(text, at, f"at most {DEEPEST} levels")
    opening = text[at : at + 1]
    if opening == "{":
        return _container(text, at, depth, "}")
    if opening == "[":
        return _container(text, at, depth, "]")
    if opening == '"':
        said, end = _DECODER.raw_decode(text, at)
        return Node(at, end, said)
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise _wrong(text, at, "a value")
    return Node(at, scalar.end(), json.loads(scalar[0]))


def _container(text: str, start: int, depth: int, closing: str) -> Node:
    entries: list[Entry] = []
    at = _after_blank(text, start + 1)
    while text[at : at + 1] != closing:
        entry = _entry(text, at, depth + 1, keyed=closing == "}")
        entries.append(entry)
        at = _after_blank(text, entry.end)
        if text[at : at + 1] == ",":
            at = _after_blank(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _wrong(text, at, f"a comma or {closing}")
    value: Any = [one.node.value for one in entries]
    if closing == "}":
        value = {one.key: one.node.value for one in entries}
    return Node(start, at + 1, value, entries)


def _entry(text: str, at: int, depth: int, *, keyed: bool) -> Entry:
    if not keyed:
        node = _value(text, at, depth)
        return Entry(node.start, node)
    if text[at : at + 1] != '"':
        raise _wrong(text, at, "a key in quotes")
    key, end = _DECODER.raw_decode(text, at)
    colon = _after_blank(text, end)
    if text[colon : colon + 1] != ":":
        raise _wrong(text, colon, "a colon")
    return Entry(at, _value(text, _after_blank(text, colon + 1), depth), key)


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


def _comma_after(text: str, at: int) -> int | None:
    place = _after_blank(text, at)
    return place if text[place : place + 1] == "," else None


def _wrong(text: str, at: int, expected: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line}: expected {expected}, got {text[at : at + 10]!r}")


# --- how people wrote it


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_within(text: str, container: Node) -> str:
    """As its entries are indented, where they have lines of their own."""
    for entry in reversed(container.entries):
        if not text[_line_begin(text, entry.start) : entry.start].strip(" \t"):
            return _indent_at(text, entry.start)
    return _indent_at(text, container.start) + _unit(text)


def _indent_at(text: str, at: int) -> str:
    return "".join(_leading(text, _line_begin(text, at)))


def _leading(text: str, at: int) -> Iterator[str]:
    while text[at : at + 1] in (" ", "\t"):
        yield text[at]
        at += 1


def _line_begin(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _unit(text: str) -> str:
    """One step of its indentation: that of the first line that has any."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _spelt(text: str, value: Any, indent: str | None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    written = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return written.replace("\n", f"{_line_end(text)}{indent}")
