"""Edit a table of a TOML file as text, so that everything else in it stays the same.

Python's reader checks each edit: nothing else in the file may have another value. This module does not know what the
tables mean.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pieria.capture.install.entries import Unusual

_HEADER = re.compile(r"^[ \t]*\[\[?([^\[\]\r\n]+)\]\]?[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
_SAYS_NOTHING = re.compile(r"[ \t]*(?:#.*)?\r?\n?")
_BLANK_BEFORE = re.compile(r"(?<=\n)[ \t]*\r?\n\Z|\A[ \t]*\r?\n\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Path = tuple[str, ...]


class Block(NamedTuple):
    """A table's header with its assignments, without what follows for the next table."""

    path: Path
    start: int
    body: int
    end: int


def parsed(text: str) -> dict[str, Any]:
    """Parse the text. Raise `Unusual` if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise Unusual(str(problem)) from problem


def value_at(said: Mapping[str, Any], path: Path) -> Any:
    found: Any = said
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def with_table(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """Return the text with one more table at its end."""
    end = _line_end(text)
    lead = "" if not text else end if text.endswith("\n") else end + end
    lines = [f"[{'.'.join(map(_key, path))}]", *(_assignment(name, value) for name, value in values.items())]
    return _checked(text, f"{text}{lead}{end.join(lines)}{end}", path, dict(values))


def with_values(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """Return the text in which the table has these values, and no others."""
    before, now = value_at(parsed(text), path), text
    for name in dict.fromkeys((*before, *values)):
        if before.get(name) == values.get(name):
            continue
        block = _block(now, path)
        start, end = _span(now, block, name) or (block.body, block.body)
        written = _assignment(name, values[name]) + _line_end(text) if name in values else ""
        now = now[:start] + written + now[end:]
    return _checked(text, now, path, dict(values))


def without_table(text: str, path: Path) -> str:
    """Return the text without the table, the tables below it, and the blank line before each."""
    now = text
    for block in reversed([block for block in _blocks(text) if block.path[: len(path)] == path]):
        kept = now[: block.start]
        now = _BLANK_BEFORE.sub("", kept) + now[block.end :]
    return _checked(text, now, path, None)


def _checked(before: str, after: str, path: Path, value: Any) -> str:
    """Return the text after, if it is TOML and nothing else in it has another value."""
    with suppress(tomllib.TOMLDecodeError):
        now = tomllib.loads(after)
        if _replaced(parsed(before), path, value) == _replaced(now, path, value_at(now, path)):
            return after
    raise Unusual(f"expected a table [{'.'.join(path)}], with a line for each key")


def _replaced(said: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return the document with this value at the path; None removes it, and tables that are then empty."""
    first, *rest = path
    inner = said.get(first)
    new = _replaced(inner if isinstance(inner, dict) else {}, tuple(rest), value) if rest else value
    others = {name: one for name, one in said.items() if name != first}
    return others if new is None or new == {} else others | {first: new}


def _blocks(text: str) -> Iterator[Block]:
    headers = [(match, path) for match in _HEADER.finditer(text) if (path := _path(match[1]))]
    for place, (match, path) in enumerate(headers):
        limit = headers[place + 1][0].start() if place + 1 < len(headers) else len(text)
        end = at = match.end()
        for line in text[at:limit].splitlines(keepends=True):
            at += len(line)
            if not _SAYS_NOTHING.fullmatch(line):
                end = at
        yield Block(path, match.start(), match.end(), end)


def _block(text: str, path: Path) -> Block:
    found = next((block for block in _blocks(text) if block.path == path), None)
    if found is None:
        raise Unusual(f"expected a table [{'.'.join(path)}]")
    return found


def _path(header: str) -> Path:
    """Return the names in a header, or none if it only looks like one."""
    try:
        said = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return ()
    names = []
    while said:
        [(name, said)] = said.items()
        names.append(name)
    return tuple(names)


def _span(text: str, block: Block, name: str) -> tuple[int, int] | None:
    """Return where the assignment of a key begins and ends."""
    key = re.compile(rf"""[ \t]*(?:{re.escape(name)}|"{re.escape(name)}"|'{re.escape(name)}')[ \t]*=""")
    at = block.body
    lines = text[block.body : block.end].splitlines(keepends=True)
    for place, line in enumerate(lines):
        if key.match(line):
            for last in range(place, len(lines)):
                written = "".join(lines[place : last + 1])
                if _is_whole(written):
                    return at, at + len(written)
        at += len(line)
    return None


def _is_whole(written: str) -> bool:
    try:
        tomllib.loads(written)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _assignment(name: str, value: Any) -> str:
    return f"{_key(name)} = {json.dumps(value, ensure_ascii=False)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
