"""What was perhaps meant by a name that nobody knows. To compare costs more the longer it is and the more there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pieria.errors import NotFoundError

if TYPE_CHECKING:
    from pieria.workspace import Place

LONGEST = 100
"""Characters of a name that may still be a misspelling of another."""
MOST_OFFERED = 10


def nearest(name: str, known: Iterable[str], likeness: float = 0.5) -> str | None:
    if len(name) > LONGEST:
        return None
    return next(iter(get_close_matches(name, list(known), 1, likeness)), None)


class Guesses:
    """Those for one answer: no more of them than are told."""

    def __init__(self, most: int) -> None:
        self._left = most

    def nearest(self, name: str, known: Iterable[str], likeness: float = 0.5) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        return nearest(name, known, likeness)


def meant(near: str | None) -> str | None:
    """The hint."""
    return near and f"Did you mean {near}?"


def no_such_bank(name: str, there: Sequence[str], place: Place | None = None) -> NotFoundError:
    """With the names that may be meant, and how a bank comes to be."""
    near = get_close_matches(name.casefold(), [other.casefold() for other in there], 3)
    alike = [other for other in there if other.casefold() in near]
    if alike:
        offered = f"Did you mean {' or '.join(alike)}?"
    elif there:
        offered = f"Banks here: {', '.join(there[:MOST_OFFERED])}."
    else:
        is_there = place is None or place.is_there
        offered = "There are no banks here yet." if is_there else f"There is no folder {place}."
    return NotFoundError("bank", name, hint=f"{offered} What is first written to a bank makes it.")
