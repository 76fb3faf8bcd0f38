"""What was perhaps meant by a name that nobody knows. To compare costs more the longer it is and the more there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

LONGEST = 100
"""Characters of a name that may still be a misspelling of another."""
LOOKED_AT = 5
ALIKE, ALIKE_AFTER, MUCH_ALIKE = 0.5, 0.6, 0.75
FAMILY = len("mem-")
SHORTEST = 3
"""Characters that say enough to stand for a longer name that begins or ends with them."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """None where nothing is near: a wrong guess is followed, and that of a tool may write where somebody looked."""
    if len(name) > LONGEST:
        return None
    wanted = name.casefold()
    there = {other.casefold(): other for other in known}
    near = get_close_matches(wanted, there, LOOKED_AT, ALIKE)
    near.sort(key=lambda other: not _holds(wanted, other))
    return next((there[other] for other in near if _is_meant(wanted, other)), None)


def _is_meant(wanted: str, other: str) -> bool:
    """Names of one family begin alike, so they are near one another only where what follows is, too."""
    if _holds(wanted, other):
        return True
    same = next((at for at, (one, its) in enumerate(zip(wanted, other, strict=False)) if one != its), 0)
    if same >= FAMILY:
        return _likeness(wanted[same:], other[same:]) >= ALIKE_AFTER
    return _likeness(wanted, other) >= MUCH_ALIKE


def _holds(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= SHORTEST and (longer.startswith(shorter) or longer.endswith(shorter))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, other, one).ratio()


class Guesses:
    """Those for one answer: no more of them than are told."""

    def __init__(self, most: int) -> None:
        self._left = most

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        return nearest(name, known)


def meant(near: str | None) -> str | None:
    """The hint."""
    return near and f"Did you mean {near}?"
