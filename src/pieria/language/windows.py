"""Windows: a turn with its neighbours as one text, for a vector of the topic under discussion.

A turn such as "Yes, next Friday!" means nothing alone. Callers choose the turns and check which may be seen together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pieria.language.letters import lowered

LIMIT = 900
"""Most characters of a window: what an embedder reads."""
MIDDLE_SHARE = 0.55
"""The share of the window reserved for the middle turn."""
MANY = 2
"""If the neighbours need more than this many times the limit, only the nearest two are used."""
BEFORE = 2
AFTER = 2
_LEAST = 40
"""A neighbour with room for fewer characters is left out."""
_LONGEST_NAME = 64
ROLES = frozenset({"user", "human", "customer", "assistant", "agent", "ai", "bot", "model", "system", "tool"})
"""Roles are not names: they say nothing about the topic."""


class Turn(NamedTuple):
    """The text of a turn, and its author if known."""

    text: str
    author: str | None = None


class Window(NamedTuple):
    """A text to embed. `members` are the indexes of its turns; `truncated` means that one of them is cut."""

    text: str
    members: tuple[int, ...]
    truncated: bool


def window(
    turns: Sequence[Turn], middle: int, *, limit: int = LIMIT, before: int = BEFORE, after: int = AFTER
) -> Window:
    """Return the turn at `middle` with up to `before` and `after` neighbours, in order, one line each.

    The middle turn gets at least its share, and more if the neighbours need less. The rest of `limit` is divided
    evenly; room that a short neighbour does not need goes to longer ones. A cut turn keeps its beginning, which
    usually states the topic. Each turn begins with its author's name, unless the text already does. Roles and names
    of more than 64 characters are left out.
    """
    own = "".join(_parts(turns[middle]))
    members = _members(turns, middle, before, after)
    if _needed(turns, members) > MANY * limit:
        members = _members(turns, middle, min(1, before), min(1, after))
    needed = _needed(turns, members)
    room = max(int(MIDDLE_SHARE * limit), limit - needed)
    kept = own if len(own) <= room else _beginning(own, room)
    shares = _shares(turns, middle, members, limit - len(kept))
    lines = {place: _cut_line(turns[place], share) for place, share in shares.items()}
    truncated = len(kept) < len(own) or any(len(line) < len("".join(_parts(turns[at]))) for at, line in lines.items())
    lines[middle] = kept
    used = tuple(sorted(lines))
    return Window("\n".join(lines[place] for place in used), used, truncated)


def _members(turns: Sequence[Turn], middle: int, before: int, after: int) -> list[int]:
    places = range(max(0, middle - before), min(len(turns), middle + after + 1))
    return [place for place in places if place != middle and turns[place].text.strip()]


def _needed(turns: Sequence[Turn], members: Sequence[int]) -> int:
    return sum(len("".join(_parts(turns[place]))) + 1 for place in members)


def _parts(turn: Turn) -> tuple[str, str]:
    """Return the author's name as a prefix, and the text."""
    said = turn.text.strip()
    author = (turn.author or "").strip()
    if not author or author.casefold() in ROLES or len(author) > _LONGEST_NAME or _begins_with(said, author):
        return "", said
    return f"{author}: ", said


def _begins_with(said: str, author: str) -> bool:
    opening = said.lstrip("*_[(<")
    return lowered(opening[: len(author)]) == lowered(author) and opening[len(author) :].lstrip("*_])> ")[:1] in (
        ":",
        "：",
    )


def _shares(turns: Sequence[Turn], middle: int, members: list[int], room: int) -> dict[int, int]:
    """Return the characters for each neighbour. The farthest are left out until each has enough room."""
    near = sorted(members, key=lambda place: (abs(place - middle), place))
    while near:
        needs = {place: sum(map(len, _parts(turns[place]))) for place in near}
        shares = _even(needs, room - len(near))
        if all(shares[at] >= min(needs[at], len(_parts(turns[at])[0]) + _LEAST) for at in near):
            return shares
        near.pop()
    return {}


def _even(needs: dict[int, int], room: int) -> dict[int, int]:
    shares: dict[int, int] = {}
    for served, place in enumerate(sorted(needs, key=lambda place: (needs[place], place))):
        shares[place] = min(needs[place], max(0, room) // (len(needs) - served))
        room -= shares[place]
    return shares


def _cut_line(turn: Turn, share: int) -> str:
    name, said = _parts(turn)
    return name + (said if len(name) + len(said) <= share else _beginning(said, share - len(name)))


def _beginning(text: str, length: int) -> str:
    """Return at most `length` characters from the front, cut at a word if one ends in the second half."""
    cut = length
    if not text[length : length + 1].isspace():
        cut = next((place for place in range(length, length // 2, -1) if text[place - 1].isspace()), length)
    return text[:cut].rstrip()
