"""Instants: one kind of time for the whole record, an aware UTC datetime with microseconds.

Whatever a caller may write for a moment is read here, once, so that no two doors read one date differently.
The store keeps instants as integers, microseconds since the epoch. Relative times ("yesterday") belong to
the reading of questions, and the clock is read by whoever was handed a ``Clock``: neither may be put here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from pieria.errors import InputError

Clock = Callable[[], datetime]
Moment = TypeVar("Moment", datetime, int)
"""An instant, or its microseconds."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

_SECOND = 1_000_000
_ONE_DAY = timedelta(days=1)
_DATE_LENGTH = len("2026-01-31")
_SEPARATORS = "Tt "
_EXPECTED = "a date or a time"
_SHAPES = "Write 2026-01-31 or 2026-01-31T09:30:00Z, with an offset such as +02:00 where it is not UTC."
_NUMBERS = "A number counts the seconds since 1970-01-01 UTC, within the years 1 to 9999."


def instant(value: object, parameter: str, *, end_of_day: bool = False) -> datetime:
    """The moment a caller meant by a datetime, a date, an ISO 8601 string or the seconds since the epoch.

    What names no zone is taken as UTC. A bare date is the start of that day or, with ``end_of_day``, the
    start of the next one, so that a half-open interval up to it holds the whole day; the last day there is
    ends at ``LATEST``. Digits beyond the microsecond are cut off. Anything else raises ``InputError``.
    """
    if isinstance(value, str):
        return _of_string(value, parameter, end_of_day)
    if isinstance(value, datetime):
        return _of_datetime(value, value, parameter)
    if isinstance(value, date):
        return _of_date(value, end_of_day)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_seconds(value, parameter)
    raise InputError(parameter, _EXPECTED, value, hint=_SHAPES)


def _of_string(value: str, parameter: str, end_of_day: bool) -> datetime:
    text = value.strip()
    if len(text) >= _DATE_LENGTH and text[4] == "-" and text[7] == "-":
        try:
            if len(text) == _DATE_LENGTH:
                return _of_date(date.fromisoformat(text), end_of_day)
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


def _of_date(day: date, end_of_day: bool) -> datetime:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if not end_of_day:
        return start
    return start + _ONE_DAY if LATEST - start >= _ONE_DAY else LATEST


def _of_seconds(value: int | float, parameter: str) -> datetime:
    try:
        return moment(round(value * _SECOND))
    except (OverflowError, ValueError):
        raise InputError(parameter, _EXPECTED, value, hint=_NUMBERS) from None


def micros(value: datetime) -> int:
    """The microseconds from the epoch to an aware datetime, exactly."""
    distance = value - EPOCH
    return (distance.days * 86_400 + distance.seconds) * _SECOND + distance.microseconds


def moment(value: int) -> datetime:
    """The inverse of ``micros``."""
    return EPOCH + timedelta(microseconds=value)


def is_over(until: Moment | None, now: Moment) -> bool:
    """What ends at a moment holds no longer at that moment; what has no end is never over."""
    return until is not None and until <= now


def is_to_come(begin: Moment | None, now: Moment) -> bool:
    """What begins at a moment holds at that moment; what has no beginning has always held."""
    return begin is not None and begin > now


def iso(value: datetime) -> str:
    """An aware datetime as ISO 8601 in UTC, ending in Z, with no more digits of the second than it has."""
    text = value.astimezone(UTC).isoformat()[:-6]
    return (text.rstrip("0") if value.microsecond else text) + "Z"


def system_clock() -> datetime:
    """The ``Clock`` of every process that was not handed another."""
    return datetime.now(UTC)
