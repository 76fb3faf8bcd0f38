"""Front matter: the YAML between two fences at the top of a note, read without guessing and rewritten without loss.

Values are read as strings: a date stays a date, and the tag `no` stays a tag. Foreign entries are kept verbatim: only
our entries are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

LIMIT = 64 * 1024
"""Largest front matter in characters; a longer block is no front matter."""
MOST_READ = 4 * LIMIT
"""Largest total of all values in characters: aliases can expand far beyond the text."""
DEEPEST, WIDEST = 50, 100
"""Deepest nesting of brackets, and widest indent or run of list marks. Checked before YAML parsing, because the parser
recurses once per level and is slow to fail."""
_FENCE = "---"
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"[\w\"'][^:\n]{0,100}:(?:\s|$)")

_BRACKETS = re.compile(r"[\[\]{}]")
_INDENTED = re.compile(rf"^(?: |[-?:](?=[ \t])|\t){{{WIDEST}}}", re.MULTILINE)
_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks to YAML alone, which become spaces unless they are escaped."""
_TAGS = ("tags", "tag")

Value = str | list[str] | None
"""A text, a list of texts, or None for any other value."""
Values = Mapping[str, str | Sequence[str] | int | float | bool | None]


class BadFrontError(Exception):
    """Front matter cannot be read or rewritten. It never leaves this package."""


class Split(NamedTuple):
    """A note's front matter without fences, and the rest; `problem` if front matter began but did not end."""

    front: str | None
    body: str
    problem: str | None = None


def split(text: str) -> Split:
    first, _, rest = text.partition("\n")
    if first.rstrip(" \t") != _FENCE:
        return Split(None, text)
    closing = _CLOSING.search(rest, 0, LIMIT)
    if closing is not None:
        return Split(rest[: closing.start()], rest[closing.end() + 1 :])
    if not _ENTRY.match(rest):
        # A thematic break: valid Markdown as well.
        return Split(None, text)
    return Split(None, text, f"its front matter does not end within {LIMIT:,} characters")


def read(front: str) -> dict[str, Value]:
    """Return the entries by name. Raise `BadFrontError` if it is not YAML or has a duplicate name."""
    import yaml  # type: ignore[import-untyped]

    found: dict[str, Value] = {}
    size = 0
    for key, value in _entries(front):
        if not isinstance(key, yaml.ScalarNode):
            raise BadFrontError("a name in its front matter is not text")
        if key.value in found:
            raise BadFrontError(f"{key.value[:60]!r} is twice in its front matter")
        found[key.value] = None
        if isinstance(value, yaml.ScalarNode):
            found[key.value] = _plain(value.value)
            size += len(value.value)
        elif isinstance(value, yaml.SequenceNode):
            items = [_plain(item.value) for item in value.value if isinstance(item, yaml.ScalarNode)]
            found[key.value] = items
            size += sum(map(len, items))
        if size > MOST_READ:
            raise BadFrontError("its front matter unfolds to more than can be read")
    return found


def names(value: Value) -> list[str]:
    """Return the names of a list, or of one text with commas."""
    listed = value.split(",") if isinstance(value, str) else value or ()
    return [name.strip() for name in listed if name.strip()]


def tags(values: Mapping[str, Value]) -> list[str]:
    """Return the tags, with or without #. One text without commas is split at spaces."""
    found: list[str] = []
    for name in _TAGS:
        value = values.get(name)
        found += value.split() if isinstance(value, str) and "," not in value else names(value)
    return [tag.removeprefix("#").strip() for tag in found if tag.removeprefix("#").strip()]


def written(values: Values, before: str = "") -> str:
    """Return the entries as front matter. They replace entries of the same names in `before`; None removes one.

    Raise `BadFrontError` if `before` cannot be read, or if any other entry would change.
    """
    foreign = {name: value for name, value in read(before).items() if name not in values} if before else {}
    pieces: list[str] = []
    done, known = 0, set()
    for start, stop, name in _places(before):
        if name in values:
            known.add(name)
            entry = _spelt({name: values[name]})
            pieces.append(before[done:start] + entry)
            done = stop if entry else _line_end(before, stop)
    text = "".join([*pieces, before[done:]])
    text += "" if not text or text.endswith("\n") else "\n"
    added = _spelt({name: value for name, value in values.items() if name not in known})
    text += f"{added}\n" if added else ""
    if before:
        after = read(text)
        same = all(name in after and after[name] == value for name, value in foreign.items())
        if not same or after.keys() - foreign.keys() - values.keys():
            raise BadFrontError("its front matter cannot be brought up to date without touching the rest of it")
    return text


def fenced(front: str) -> str:
    return f"{_FENCE}\n{front}{_FENCE}\n"


def _spelt(values: Values) -> str:
    """Return entries as YAML, without the last line feed and without those that are None."""
    import yaml

    plain = {name: list(it) if isinstance(it, tuple) else it for name, it in values.items() if it is not None}
    if not plain:
        return ""
    parts = [part for it in plain.values() for part in (it if isinstance(it, list) else [it])]
    breaks = any(isinstance(part, str) and _BREAKS.search(part) for part in parts)
    if breaks and len(plain) > 1:
        return "\n".join(_spelt({name: it}) for name, it in plain.items())
    style = '"' if breaks else None
    spelt: str = yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=float("inf"), default_style=style)
    return spelt.removesuffix("\n")


def _places(front: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of each entry, in order."""
    import yaml

    for key, value in _entries(front):
        if isinstance(key, yaml.ScalarNode):
            yield key.start_mark.index, max(key.end_mark.index + 1, _end(value, front)), key.value


def _end(node: Any, front: str) -> int:
    """Return where a value's text ends: to YAML, a block extends to the next entry."""
    import yaml

    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, front)
    start: int = node.start_mark.index
    return start + len(front[start : node.end_mark.index].rstrip(" \t\r\n"))


def _line_end(front: str, position: int) -> int:
    """Return the position after the line feed of the line."""
    found = front.find("\n", position)
    return len(front) if found < 0 else found + 1


def _entries(front: str) -> list[tuple[Any, Any]]:
    import yaml

    if _depth(front) > DEEPEST or _INDENTED.search(front):
        raise BadFrontError("its front matter is nested too deeply")
    try:
        # The C loader crashes the process on deeply nested brackets.
        node = yaml.compose(front, Loader=yaml.BaseLoader)
    except RecursionError:
        raise BadFrontError("its front matter is nested too deeply") from None
    except (yaml.YAMLError, ValueError, IndexError, TypeError, AttributeError) as problem:
        raise BadFrontError(f"its front matter is not YAML{_where(problem)}") from None
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        raise BadFrontError("its front matter is no list of names with values")
    entries: list[tuple[Any, Any]] = node.value
    return entries


def _plain(value: str) -> str:
    """Return the text without NUL: YAML can spell it, but a bank cannot store it."""
    return value.replace("\0", "\ufffd")


def _depth(front: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKETS.finditer(front):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _where(problem: Exception) -> str:
    mark = getattr(problem, "problem_mark", None)
    told = getattr(problem, "problem", None) or getattr(problem, "reason", None)
    if mark is not None:
        return f" (line {mark.line + 2}: {told})"
    return f" ({told})" if told else ""
