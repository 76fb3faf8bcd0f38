"""Times as people write them: `2h`, `7d ago`, `in 3 weeks`, `yesterday`. The record itself only has instants.

All times are UTC, as in the record. Other text is returned unchanged, for the record to read or refuse.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta

from pieria.record.time import iso

_UNITS = {
    "s": "seconds", "sec": "seconds", "second": "seconds",
    "m": "minutes", "min": "minutes", "minute": "minutes",
    "h": "hours", "hr": "hours", "hour": "hours",
    "d": "days", "day": "days",
    "w": "weeks", "wk": "weeks", "week": "weeks",
    "mo": "months", "month": "months",
    "y": "years", "yr": "years", "year": "years",
}  # fmt: skip
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_PART = r"(\d{1,9}) ?([a-z]{1,7})"
_RELATIVE = re.compile(rf"(?P<ahead>\+ ?|in )?(?P<back>- ?)?(?P<parts>{_PART}(?: ?{_PART})*)(?P<ago> ago)?")


def read_time(value: str, now: datetime, *, undirected: bool = True) -> str:
    """Return an instant for a duration before or after now, a date for a day's name, and other text unchanged.

    A duration without a direction is in the past. With `undirected=False` it is returned unchanged, so that it is
    refused.
    """
    said = " ".join(value.lower().split())
    if said == "now":
        return iso(now)
    if said in _DAYS:
        return (now + timedelta(days=_DAYS[said])).date().isoformat()
    relative = _RELATIVE.fullmatch(said)
    if relative is None:
        return value
    ahead, back = bool(relative["ahead"]), bool(relative["back"] or relative["ago"])
    if (ahead and back) or not (ahead or back or undirected):
        return value
    try:
        return iso(_shifted(now, relative["parts"], 1 if ahead else -1))
    except (KeyError, OverflowError, ValueError):
        return value


def _shifted(now: datetime, parts: str, sign: int) -> datetime:
    months = 0
    length = timedelta()
    for number, unit in re.findall(_PART, parts):
        name = _UNITS[unit if unit in _UNITS else unit.removesuffix("s")]
        if name in ("months", "years"):
            months += int(number) * (12 if name == "years" else 1)
        else:
            length += timedelta(**{name: int(number)})
    return _months_on(now, sign * months) + sign * length


def _months_on(now: datetime, months: int) -> datetime:
    """Return the same day after so many months, or the last day of a shorter month."""
    count = now.year * 12 + now.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(year)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))
