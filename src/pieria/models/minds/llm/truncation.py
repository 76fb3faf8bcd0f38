"""What is shown of data that is long: every cut is visible, and a message stays under its bound.

Nothing here knows what the data is about: texts are cut in their middle, lists are condensed from the end that matters
least.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT = 8_000
"""Characters of one text."""
CONDENSED = 200
"""Characters of a text within an entry of a list that would not fit otherwise."""
PROMPT = 60_000
"""Characters of a whole request, all its messages together."""
_MARK = "[… {} characters left out]"
_MARK_ROOM = 50


@dataclass(frozen=True, slots=True)
class Listed:
    """Entries that are shown one a line, the first `most` at most. `nouns` names those that are left out.

    `oldest_first` says that the first matter least where room is short; otherwise they are ranked, and the last do.
    """

    entries: Sequence[Mapping[str, Any]]
    nouns: str
    oldest_first: bool = True
    most: int | None = None


def cut(text: str, limit: int = TEXT) -> str:
    """At most `limit` characters: two thirds of them from the beginning and the rest from the end."""
    if len(text) <= limit:
        return text
    room = limit - _MARK_ROOM
    head = room * 2 // 3
    return f"{text[:head]} {_MARK.format(len(text) - room)} {text[len(text) - room + head :]}"


def fitted(data: Sequence[str | Listed], room: int) -> list[str]:
    """Each as it is shown, together at most `room` characters. Single texts must fit into it by themselves."""
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
    """A list while it is fitted. Its length counts the mark of what is left out, whether or not it will be needed."""

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
        """How many characters that saved."""
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
    """JSON, since no text can break out of a string of it. What is not known is left out."""
    kept = {name: cut(value, limit) if isinstance(value, str) else value for name, value in entry.items()}
    return json.dumps({name: value for name, value in kept.items() if value is not None}, ensure_ascii=False)
