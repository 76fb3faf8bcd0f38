"""The due date in a text, counted from the day when it was said."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from pieria.language.timewords import TimeWord, timewords

FARTHEST = timedelta(days=300)
"""A date farther ahead is a past one whose year was left out."""
_WEEK = 7
_AHEAD = re.compile(r"\b(?:with)?in (\w+ (?:day|week|fortnight|month)s?)\b", re.IGNORECASE)
_END_OF = re.compile(r"\b(?:the )?end of (?:the |this )?(week|month|quarter|year)\b", re.IGNORECASE)
_PAST = re.compile(r"(?:last|yesterday)\b", re.IGNORECASE)


def due_date(text: str, said: datetime) -> date | None:
    """Return the last day that the text names, if that day is still to come.

    A weekday or a day without a year means the next one, unlike in a report of the past.
    """
    ahead = _END_OF.sub(r"this \1", _AHEAD.sub(r"\1 from now", text))
    days = [day for word in timewords(ahead, now=said) if (day := _day(ahead, word, said)) is not None]
    return max(days, default=None)


def _day(text: str, word: TimeWord, said: datetime) -> date | None:
    if word.until is None or word.direction == "after" or _PAST.match(text, word.start):
        return None
    # The end of a stretch is not part of it.
    day = (word.until - timedelta(seconds=1)).date()
    if day < said.date() and word.yearless:
        day += timedelta(days=365)
    elif day < said.date() and word.relative and (said.date() - day).days <= _WEEK:
        day += timedelta(days=_WEEK)
    return day if said.date() <= day <= (said + FARTHEST).date() else None
