"""Instants: aware UTC datetimes with microseconds, the only kind of time in the record.

All input of times is parsed here, so that every door reads a date in the same way. Stores keep instants as integer
microseconds since the epoch. Relative times ("yesterday") belong in `timewords`. Take the time from a ``Clock`` that
the caller passes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TypeVar

from pieria.errors import InputError

Clock = Callable[[], datetime]
Moment = TypeVar("Moment", datetime, int)
"""An instant, or its microseconds."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

_SECOND = 1_000_000
_ONE_DAY = timedelta(days=1)
_DATE_LENGTH = len("2026-01-31")
_SEPARATORS = "Tt "
_EXPECTED = "a date or a time in ISO-8601 form"
_SHAPES = "Write 2026-01-31 or 2026-01-31T09:30:00Z, with an offset such as +02:00 where it is not UTC."
_NUMBERS = "A number counts the seconds since 1970-01-01 UTC, within the years 1 to 9999."


def instant(value: object, parameter: str, *, end_of_day: bool = False, zone: tzinfo = UTC) -> datetime:
    """Return the instant of a datetime, a date, an ISO 8601 string or seconds since the epoch.

    A time without a zone is UTC. A bare date is the start of that day in ``zone``. With ``end_of_day`` it is the start
    of the next day, so that a half-open interval includes the whole day; the last possible day ends at ``LATEST``.
    Digits beyond microseconds are cut off. Anything else raises ``InputError``.
    """
    if isinstance(value, str):
        return _of_string(value, parameter, end_of_day, zone)
    if isinstance(value, datetime):
        return _of_datetime(value, value, parameter)
    if isinstance(value, date):
        return _of_date(value, end_of_day, zone)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_seconds(value, parameter)
    raise InputError(parameter, _EXPECTED, value, hint=_SHAPES)


def _of_string(value: str, parameter: str, end_of_day: bool, zone: tzinfo) -> datetime:
    text = value.strip()
    if len(text) >= _DATE_LENGTH and text[4] == "-" and text[7] == "-":
        try:
            if len(text) == _DATE_LENGTH:
                return _of_date(date.fromisoformat(text), end_of_day, zone)
            if text[_DATE_LENGTH] in _SEPARATORS:
                return _of_datetime(datetime.fromisoformat(text.replace("z", "Z")), value, parameter)
        except ValueError:
            raise InputError(parameter, "a date and time that exist", value, hint=_SHAPES) from None
    raise InputError(parameter, _EXPECTED, value, hint=_SHAPES)


def _of_datetime(moment: datetime, value: object, parameter: str) -> datetime:
    if moment.utcoffset() is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return EPOCH + (moment - EPOCH)
    except OverflowError:
        raise InputError(parameter, "a time within the years 1 to 9999 in UTC", value, hint=_SHAPES) from None


def _of_date(day: date, end_of_day: bool, zone: tzinfo) -> datetime:
    if not end_of_day:
        return start_of_day(day, zone)
    return LATEST if day == date.max else start_of_day(day + _ONE_DAY, zone)


def start_of_day(day: date, zone: tzinfo) -> datetime:
    """Return the first instant of a day in a zone. It need not be midnight; it stays within the years 1 to 9999."""
    midnight = datetime.combine(day, time(), zone)
    try:
        first, other = (EPOCH + (midnight.replace(fold=fold) - EPOCH) for fold in (0, 1))
        if other >= first:
            return first
    except OverflowError:
        return EARLIEST if day.year == 1 else LATEST
    # Clocks skip this midnight: the day, or the next one, begins at the skip.
    leap = range(int((first - other).total_seconds()))

    def day_after(second: int) -> date:
        return (other + timedelta(seconds=second)).astimezone(zone).date()

    return other + timedelta(seconds=bisect_left(leap, day, key=day_after))


def _of_seconds(value: int | float, parameter: str) -> datetime:
    try:
        return moment(round(value * _SECOND))
    except (OverflowError, ValueError):
        raise InputError(parameter, _EXPECTED, value, hint=_NUMBERS) from None


def micros(value: datetime) -> int:
    """Return the exact microseconds from the epoch to an aware datetime."""
    distance = value - EPOCH
    return (distance.days * 86_400 + distance.seconds) * _SECOND + distance.microseconds


def moment(value: int) -> datetime:
    """Return the instant of these microseconds: the inverse of ``micros``."""
    return EPOCH + timedelta(microseconds=value)


def is_over(until: Moment | None, now: Moment) -> bool:
    """Return whether an end is reached. The end itself counts as over; None is never over."""
    return until is not None and until <= now


def is_to_come(begin: Moment | None, now: Moment) -> bool:
    """Return whether a beginning is still ahead. The beginning itself is not ahead; None never is."""
    return begin is not None and begin > now


def iso(value: datetime) -> str:
    """Return an aware datetime as ISO 8601 in UTC, ending in Z, without trailing zeros of the second."""
    text = value.astimezone(UTC).isoformat()[:-6]
    return (text.rstrip("0") if value.microsecond else text) + "Z"


def system_clock() -> datetime:
    """Return the current time: the default ``Clock``."""
    return datetime.now(UTC)
