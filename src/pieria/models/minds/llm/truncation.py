"""Shortens long data for a prompt: every cut is marked, and a request stays under its limit.

Texts are cut in the middle. Lists are cut at their least important end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT = 8_000
"""Characters of one text."""
CONDENSED = 200
"""Characters of a text in a list entry, if the list is too long."""
PROMPT = 60_000
"""Characters of a request, all messages together."""
_MARK = "[… {} characters left out]"
_MARK_ROOM = 50


@dataclass(frozen=True, slots=True)
class Listed:
    """Entries shown one per line, at most the first `most`. `nouns` names the entries that are left out.

    With `oldest_first`, the first entries are the least important; otherwise the last are.
    """

    entries: Sequence[Mapping[str, Any]]
    nouns: str
    oldest_first: bool = True
    most: int | None = None


def cut(text: str, limit: int = TEXT) -> str:
    """Return at most `limit` characters: two thirds from the beginning, the rest from the end."""
    if len(text) <= limit:
        return text
    room = limit - _MARK_ROOM
    head = room * 2 // 3
    return f"{text[:head]} {_MARK.format(len(text) - room)} {text[len(text) - room + head :]}"


def fitted(data: Sequence[str | Listed], room: int) -> list[str]:
    """Return each item as shown, at most `room` characters together. The single texts alone must fit into `room`."""
    shown = [cut(item) if isinstance(item, str) else _Lines(item) for item in data]
    lists = [item for item in shown if isinstance(item, _Lines)]
    over = sum(len(item) for item in shown) - room
    for shorten in (_Lines.condense, _Lines.drop):
        for lines in lists:
            for place in lines.least_first:
                if over <= 0:
                    break
                over -= shorten(lines, place)
    return [str(item) for item in shown]


class _Lines:
    """A list during fitting. Its length always includes room for the mark of left-out entries."""

    def __init__(self, listed: Listed) -> None:
        self._listed = listed
        self._lines: list[str | None] = [_line(entry, TEXT) for entry in listed.entries[: listed.most]]
        self._gone = len(listed.entries) - len(self._lines)
        places = range(len(self._lines))
        self.least_first = places if listed.oldest_first else places[::-1]

    def __len__(self) -> int:
        return sum(len(line) + 1 for line in self._lines if line is not None) + _MARK_ROOM

    def __str__(self) -> str:
        lines = [line for line in self._lines if line is not None]
        if self._gone:
            lines.insert(
                0 if self._listed.oldest_first else len(lines), f"[… {self._gone} {self._listed.nouns} left out]"
            )
        return "\n".join(lines)

    def condense(self, place: int) -> int:
        """Shorten an entry and return the characters saved."""
        line = _line(self._listed.entries[place], CONDENSED)
        saved = len(self._lines[place] or "") - len(line)
        self._lines[place] = line
        return saved

    def drop(self, place: int) -> int:
        saved = len(self._lines[place] or "") + 1
        self._lines[place] = None
        self._gone += 1
        return saved


def _line(entry: Mapping[str, Any], limit: int) -> str:
    """Return the entry as JSON, because no text can break out of a JSON string. Leaves out unknown values."""
    kept = {name: cut(value, limit) if isinstance(value, str) else value for name, value in entry.items()}
    return json.dumps({name: value for name, value in kept.items() if value is not None}, ensure_ascii=False)
