"""Positions of times in a text. Another module resolves them to instants, with a clock."""

from __future__ import annotations

from datetime import UTC, datetime

from pieria.language.packs import words
from pieria.language.timewords import timewords

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""A fixed clock: positions do not depend on it."""


def times(text: str) -> list[tuple[int, int]]:
    return [(found.start, found.end) for found in timewords(text, now=_ANY_DAY)]


def has_relative_time(text: str) -> bool:
    """Return whether a reader must know the date of the text to understand its times."""
    return any(found.relative or found.yearless for found in timewords(text, now=_ANY_DAY))


def bare(time: str) -> str:
    """Return the time without prepositions: 2019 for since 2019."""
    spelt = time.split()
    while len(spelt) > 1 and spelt[0].lower() in words("words", "prepositions"):
        del spelt[0]
    return " ".join(spelt)
