"""Where a text speaks of times. Which instants are meant depends on a clock, and is worked out elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime

from pieria.models.minds.rules.packs import words
from pieria.record.timewords import timewords

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""The clock for the search: where the words stand depends on none."""


def times(text: str) -> list[tuple[int, int]]:
    return [(found.start, found.end) for found in timewords(text, now=_ANY_DAY)]


def has_relative_time(text: str) -> bool:
    """Whether it can be read only by who knows when it was said."""
    return any(found.relative or found.yearless for found in timewords(text, now=_ANY_DAY))


def bare(time: str) -> str:
    """Without what only says how it stands to something: 2019 of since 2019."""
    spelt = time.split()
    while len(spelt) > 1 and spelt[0].lower() in words("words", "prepositions"):
        del spelt[0]
    return " ".join(spelt)
