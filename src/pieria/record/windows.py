"""Windows: the text of a turn together with its neighbours, for the vector of what was being talked about.

Exists because a turn such as "Yes, next Friday!" means nothing alone. Whose turns these are, and which of them may be
seen together, is decided by whoever gathers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pieria.record.letters import lowered

LIMIT = 900
"""Characters of a window: what an embedder reads."""
MIDDLE_SHARE = 0.55
"""Of the window this much is the middle turn's in any case: one that holds hardly anything else is no window."""
MANY = 2
"""How many times its room the neighbours may need until only the nearest two are taken in: a little of many says
nothing."""
BEFORE = 2
AFTER = 2
_LEAST = 40
"""A neighbour of which less than this would be left says nothing, and is left out."""
_LONGEST_NAME = 64
ROLES = frozenset({"user", "human", "customer", "assistant", "agent", "ai", "bot", "model", "system", "tool"})
"""Who speaks in which part tells nothing of what is spoken of."""


class Turn(NamedTuple):
    """What was said, and by whom if that is known."""

    text: str
    author: str | None = None


class Window(NamedTuple):
    """A text to embed; `members` are the places of the turns in it, and `truncated` says that one is not whole."""

    text: str
    members: tuple[int, ...]
    truncated: bool


def window(
    turns: Sequence[Turn], middle: int, *, limit: int = LIMIT, before: int = BEFORE, after: int = AFTER
) -> Window:
    """The turn at `middle` with up to `before` and `after` neighbours, in their order, a line each.

    A middle turn that is longer than its share leaves the neighbours the room they need beyond that. What remains of
    `limit` is shared evenly, and what a short neighbour leaves of its share goes to longer ones. Of a turn that is cut
    the beginning is kept, where people say what it is about. Each turn begins with its author's name, unless it does
    so by itself; a role is no name, nor is what is longer than 64 characters.
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
    return [place for place in places if place != middle and not _is_blank(turns[place].text)]


def _needed(turns: Sequence[Turn], members: Sequence[int]) -> int:
    return sum(len("".join(_parts(turns[place]))) + 1 for place in members)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _parts(turn: Turn) -> tuple[str, str]:
    """The author's name as it is put before the text, and the text."""
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
    """How many characters each neighbour gets; the farthest is left out until nobody gets too few."""
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
    """At most `length` characters from the front, up to the end of a word if there is one in the second half."""
    cut = length
    if not text[length : length + 1].isspace():
        cut = next((place for place in range(length, length // 2, -1) if text[place - 1].isspace()), length)
    return text[:cut].rstrip()
