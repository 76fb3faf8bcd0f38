"""Days in a time zone: the time that a given day means, and the day to show for a bound.

Bounds of facts are instants; the end is exclusive. Words such as "yesterday" belong in `timewords`.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from pieria.record.time import EARLIEST, LATEST, instant, iso, micros, start_of_day

_INSTANT = timedelta(microseconds=1)
_ONE_DAY = timedelta(days=1)


class Given(NamedTuple):
    """A time as a caller gave it: a day from its first instant to just before `end`, or an instant, with both
    equal. In microseconds.
    """

    begin: int
    end: int

    @property
    def last(self) -> int:
        """The last moment of the day, or the instant."""
        return max(self.begin, self.end - 1)

    def includes(self, begin: int | None, end: int | None) -> bool:
        """Return whether this is a day, and a stretch with both bounds lies within it."""
        if begin is None or end is None or self.begin == self.end:
            return False
        return self.begin <= begin and end <= self.end


def read_given(value: object, parameter: str, zone: tzinfo) -> Given:
    """Return the time that the value means. Raise `InputError` if it is none. A day alone is a day in the zone."""
    begin, end = (instant(value, parameter, end_of_day=end, zone=zone) for end in (False, True))
    return Given(micros(begin), micros(end))


def start_text(at: datetime | None, zone: tzinfo) -> str | None:
    """Return the day that begins at this instant in the zone, or else the instant."""
    if at is None:
        return None
    day = _day_of(at, zone)
    return day.isoformat() if start_of_day(day, zone) == at else iso(at)


def end_text(until: datetime | None, zone: tzinfo) -> str | None:
    """Return the last day before this instant, if a day ends with it in the zone, or else the instant."""
    if until is None:
        return None
    day = last_day(until, zone)
    ends = LATEST if day == date.max else start_of_day(day + _ONE_DAY, zone)
    return day.isoformat() if ends == until else iso(until)


def first_day(at: datetime, zone: tzinfo) -> date:
    return _day_of(at, zone)


def last_day(until: datetime, zone: tzinfo) -> date:
    """Return the last day within a time that ends just before `until`."""
    return _day_of(max(until, EARLIEST + _INSTANT) - _INSTANT, zone)


def _day_of(at: datetime, zone: tzinfo) -> date:
    try:
        return at.astimezone(zone).date()
    except OverflowError:
        return at.date()
