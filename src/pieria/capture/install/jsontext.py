"""Edit a JSON file as text, so that everything else in it stays the same.

A removed entry restores the exact bytes, if the file did not change meanwhile. Comments and trailing commas are
accepted, since some hosts accept them. This module does not know what the entries mean.
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
_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*(?:(?!\*/)[^\r\n])*\*/(?=[ \t]*\r?\n))")
"""A comment that belongs to the entry before it on the line."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*\r?\n")
DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its position in the text. `entries` are those of an array, or the members of an object."""

    start: int
    end: int
    value: Any
    entries: list[Entry] = field(default_factory=list)

    def member(self, key: str) -> Entry | None:
        """Return the last member of that name, which is the one that counts."""
        return next((one for one in reversed(self.entries) if one.key == key), None)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry from its key, if it has one, to the end of its value."""

    start: int
    node: Node
    key: str | None = None

    @property
    def end(self) -> int:
        return self.node.end


def parsed(text: str) -> Node:
    """Parse the text. Raise `ValueError` with the line if it is not JSON."""
    try:
        node = _value(text, _after_blank(text, 0), 0)
    except json.JSONDecodeError as problem:
        raise ValueError(f"line {problem.lineno}: {problem.msg}") from problem
    rest = _after_blank(text, node.end)
    if rest < len(text):
        raise _wrong(text, rest, "nothing more")
    return node


def with_entry(text: str, container: Node, written: Any, key: str | None = None) -> str:
    """Return the text with one more entry at the end of an array, or of an object under a key."""
    many_lines = "\n" in text[container.start : container.end] or not container.entries
    indent = _indent_within(text, container)
    body = _spelt(text, written, indent if many_lines else None)
    if key is not None:
        body = f"{json.dumps(key)}: {body}"
    lead = f"{_line_end(text)}{indent}" if many_lines else " "
    if not container.entries:
        return text[: container.start + 1] + lead + body + text[container.start + 1 :]
    end = container.entries[-1].end
    comma = _comma_after(text, end)
    before, after = (text[:end] + ",", end) if comma is None else (text[: comma + 1], comma + 1)
    beside = _BESIDE.match(text, after)
    comment = beside[0] if beside else ""
    return before + comment + lead + body + ("" if comma is None else ",") + text[after + len(comment) :]


def without_entry(text: str, container: Node, entry: Entry) -> str:
    """Return the text without the entry and its comma."""
    place = container.entries.index(entry)
    before = container.entries[place - 1].end if place else container.start + 1
    gap = text[before : entry.start]
    blank = before + len(gap.rstrip(" \t\r\n"))
    after, earlier = _comma_after(text, entry.end), _comma_after(text, before) if place else None
    comments = _COMMENT.findall(gap)
    is_in_comment = bool(comments) and comments[-1].startswith("//") and text[:blank].endswith(comments[-1].rstrip())
    if is_in_comment and not _LINE_END.match(text, entry.end if after is None else after + 1):
        # Keep the line break after a comment; otherwise the comment would swallow what follows.
        blank = text.index("\n", blank) + 1
    if after is not None:
        return text[:blank] + text[after + 1 :]
    if earlier is None:
        return text[:blank] + text[entry.end :]
    return text[:earlier] + text[earlier + 1 : blank] + text[entry.end :]


def with_value(text: str, node: Node, written: Any) -> str:
    """Return the text with another value, on one line if the value before was."""
    indent = _indent_at(text, node.start) if "\n" in text[node.start : node.end] else None
    return text[: node.start] + _spelt(text, written, indent) + text[node.end :]


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
    got = repr(text[at : at + 10]) if text[at:] else "the end of the file"
    return ValueError(f"line {line}: expected {expected}, got {got}")


# --- how people wrote it


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_within(text: str, container: Node) -> str:
    """Return the indentation of the container's entries, if they have lines of their own."""
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
    """Return one indentation step: that of the first indented line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _spelt(text: str, value: Any, indent: str | None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    written = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return written.replace("\n", f"{_line_end(text)}{indent}")
