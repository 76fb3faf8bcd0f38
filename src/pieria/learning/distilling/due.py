"""The due date in a text, counted from the day when it was said."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from pieria.language.foreign_dates import english_dates
from pieria.language.note_words import reports_past
from pieria.language.timewords import TimeWord, timewords

FARTHEST = timedelta(days=300)
"""A date farther ahead is a past one whose year was left out."""
_WEEK = 7
_PAST = re.compile(r"(?:last|yesterday)\b", re.IGNORECASE)
_OF = re.compile(r"\b(?:of|from)\s+\Z", re.IGNORECASE)
"""In front of the date of something that is named by it: `the oldest invoice of April`."""
_CLAUSES = re.compile(r"[,;:.!?—]\s")


def due_date(text: str, said: datetime) -> date | None:
    """Return the last day that the text names, if that day is still to come.

    A weekday or a day without a year means the next one, unless its clause reports the past.
    """
    ahead = english_dates(text)
    days = [day for word in timewords(ahead, now=said) if (day := _day(ahead, word, said)) is not None]
    return max(days, default=None)


def _day(text: str, word: TimeWord, said: datetime) -> date | None:
    if word.until is None or word.direction == "after" or _PAST.match(text, word.start):
        return None
    if _OF.search(text, max(0, word.start - _WEEK), word.start):
        return None
    if word.relative and word.direction != "before" and reports_past(_clause(text, word)):
        return None
    # The end of a stretch is not part of it.
    day = (word.until - timedelta(seconds=1)).date()
    if day < said.date() and word.yearless:
        day += timedelta(days=365)
    elif day < said.date() and word.relative and (said.date() - day).days <= _WEEK:
        day += timedelta(days=_WEEK)
    return day if said.date() <= day <= (said + FARTHEST).date() else None


def _clause(text: str, word: TimeWord) -> str:
    """Return the clause around a time word."""
    start = max((found.end() for found in _CLAUSES.finditer(text, 0, word.start)), default=0)
    stop = _CLAUSES.search(text, word.end)
    return text[start : stop.start() if stop else len(text)]
