"""Times of a query in words, such as "yesterday", in the bank's zone. The record holds no times in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from pieria.errors import InputError
from pieria.language.timewords import timewords
from pieria.record.days import end_text
from pieria.record.draft import Problems, last_moment
from pieria.record.time import instant, moment

if TYPE_CHECKING:
    from pieria.bank.core import Core

T = TypeVar("T")
EXPECTED = "a date, a time, or one time in words that ends"
HINT = "Write 2026-01-31, 2026-01-31T09:30Z, yesterday, last week, 3 days ago or March 2026."
_LONGEST = 100
_AROUND = re.compile(r"(?:(?:as of|in|on|at|by) )?(.+?)[.!?]?", re.IGNORECASE | re.DOTALL)
_BEFORE = timedelta(microseconds=1)


def moments(core: Core, **given: str | None) -> dict[str, datetime | None]:
    """Return the moments of a query by parameter: for a day, a week or a longer time, its last moment.

    Raise `InputError` for each parameter that is no time.
    """
    return _read(core, _moment, given)


def fact_times(core: Core, **given: str | None) -> dict[str, str | datetime | None]:
    """Return the same for a query of facts. A day stays a day, also in words: facts read days in the bank's zone."""
    return _read(core, _day_or_moment, given)


def _read(core: Core, read: Callable[[Core, str, str], T], given: Mapping[str, str | None]) -> dict[str, T | None]:
    problems = Problems()
    found = {
        parameter: None if value is None else problems.of(read, core, value, parameter)
        for parameter, value in given.items()
    }
    problems.settle()
    return found


def _day_or_moment(core: Core, value: str, parameter: str) -> str | datetime:
    try:
        last_moment(value, parameter)
    except InputError:
        found = _moment(core, value, parameter)
        day = end_text(found + _BEFORE, core.zone)
        return day if day is not None and len(day) == len("2026-01-31") else found
    return value


def _moment(core: Core, value: str, parameter: str) -> datetime:
    try:
        return moment(last_moment(value, parameter))
    except InputError as problem:
        ends = _end_in_words(core, value)
        if ends is None:
            raise InputError(parameter, EXPECTED, value, hint=HINT) from problem
        return ends


def _end_in_words(core: Core, value: str) -> datetime | None:
    """Return the last moment of a time in words; None if the text holds anything else, or a time without an end."""
    around = _AROUND.fullmatch(" ".join(value[:_LONGEST].split()))
    if around is None or len(value) > _LONGEST:
        return None
    words, now = around[1], instant(core.clock(), "now")
    if words.lower() == "now":
        return now
    # A bare number is a year only after "in".
    for text in (words, f"in {words}"):
        found = timewords(text, now=now, zone=core.zone)
        if len(found) == 1 and text[: found[0].start] in ("", "in ") and found[0].end == len(text):
            return None if found[0].until is None else found[0].until - _BEFORE
    return None
