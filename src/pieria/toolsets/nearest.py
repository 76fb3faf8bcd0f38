"""Guess the name that a misspelt one means. Comparing costs more with longer names and longer lists."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

LONGEST = 100
"""Longest name, in characters, that still counts as a misspelling."""
LOOKED_AT = 5
ALIKE, ALIKE_AFTER, MUCH_ALIKE = 0.5, 0.6, 0.75
FAMILY = len("mem-")
SHORTEST = 3
"""Shortest prefix or suffix, in characters, that counts as the longer name."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the nearest known name, or None. Guess with care: models follow the guess, and its tool may write."""
    if len(name) > LONGEST:
        return None
    wanted = name.casefold()
    there = {other.casefold(): other for other in known}
    near = get_close_matches(wanted, there, LOOKED_AT, ALIKE)
    near.sort(key=lambda other: not _holds(wanted, other))
    return next((there[other] for other in near if _is_meant(wanted, other)), None)


def _is_meant(wanted: str, other: str) -> bool:
    """Return whether the names are near. Names with a shared prefix must also be near after the prefix."""
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
    """A budget of guesses for one answer."""

    def __init__(self, most: int) -> None:
        self._left = most

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        return nearest(name, known)


def meant(near: str | None) -> str | None:
    """Return the hint for a guess."""
    return near and f"Did you mean {near}?"
