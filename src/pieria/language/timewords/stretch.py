"""Calendar arithmetic: from a matched form to the interval of local time it means.

It does not depend on language. Local times here have no zone; `search` adds it. Seasons are whole months of the
northern hemisphere. A time without a year means the latest one that began by now.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from pieria.language.timewords.language import Language

UNITS = ("second", "minute", "hour", "day", "week", "fortnight", "weekend", "month", "quarter", "year", "decade")

_LENGTHS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "fortnight": timedelta(weeks=2),
    "weekend": timedelta(weeks=1),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_TO_THE_MINUTE = ("second", "minute", "hour")
_SEASON_MONTHS = 3
_CENTURY = 100
_TURN_OF_CENTURY = 30
"""Two-digit decades from 30 on are in the 1900s, earlier ones in the 2000s."""


class Stretch(NamedTuple):
    """Local time from `start` up to `end`. With `zoned` both are in UTC."""

    start: datetime
    end: datetime
    zoned: bool = False


Said = Mapping[str, str]


def month_start(year: int, month: int) -> datetime:
    """Return the start of a month. `month` may be beyond December or before January."""
    months = year * 12 + month - 1
    return datetime(months // 12, months % 12 + 1, 1)  # noqa: DTZ001 - local time


def shifted(moment: datetime, unit: str, count: int) -> datetime:
    """Return the same time `count` units later, or the last day if the month is too short."""
    if unit in _LENGTHS:
        return moment + _LENGTHS[unit] * count
    first = month_start(moment.year, moment.month + _MONTHS[unit] * count)
    last = month_start(first.year, first.month + 1) - timedelta(days=1)
    return moment.replace(year=first.year, month=first.month, day=min(moment.day, last.day))


def around(moment: datetime, unit: str) -> Stretch:
    """Return the calendar unit that contains the moment. A week begins on Monday, and its weekend ends it."""
    midnight = datetime.combine(moment.date(), time())
    monday = midnight - timedelta(days=moment.weekday())
    if unit in _TO_THE_MINUTE:
        start = moment.replace(second=0, microsecond=0, minute=0 if unit == "hour" else moment.minute)
        return Stretch(start, start + max(_LENGTHS[unit], timedelta(minutes=1)))
    if unit == "day":
        return Stretch(midnight, midnight + timedelta(days=1))
    if unit == "weekend":
        return Stretch(monday + timedelta(days=5), monday + timedelta(days=7))
    if unit in _LENGTHS:
        return Stretch(monday, monday + _LENGTHS[unit])
    months = _MONTHS[unit]
    start = month_start(0, (moment.year * 12 + moment.month - 1) // months * months + 1)
    return Stretch(start, shifted(start, unit, 1))


def third(whole: Stretch, portion: int) -> Stretch:
    """Return the early, middle or late third, rounded to whole days if it has any."""
    step = (whole.end - whole.start) / 3
    if step >= timedelta(days=1):
        step = timedelta(days=round(step / timedelta(days=1)))
    start = whole.start + step * portion
    return whole._replace(start=start, end=whole.end if portion == 2 else start + step)


class Calendar:
    """Computes forms relative to the local time `now`, which is `utc` in UTC.

    Raises `ValueError` for dates that do not exist, such as 31 June.
    """

    def __init__(self, language: Language, now: datetime, utc: datetime) -> None:
        self._in = language
        self._now = now
        self._utc = utc
        self._today = datetime.combine(now.date(), time())

    def moment(self, said: Said) -> Stretch:
        start = datetime(  # noqa: DTZ001 - local time
            int(said["anyyear"]), int(said["number"]), int(said["day"]), int(said["hour"]), int(said["minute"])
        )
        if "zone" not in said:
            return Stretch(start, start + timedelta(minutes=1))
        zone = said["zone"].replace(":", "")
        offset = timedelta() if zone == "z" else timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5]))
        start += offset if zone[0] == "-" else -offset
        return Stretch(start, start + timedelta(minutes=1), zoned=True)

    def iso_day(self, said: Said) -> Stretch:
        return _day(int(said["anyyear"]), int(said["number"]), int(said["day"]))

    def iso_month(self, said: Said) -> Stretch:
        return around(datetime(int(said["year"]), int(said["number"]), 1), "month")  # noqa: DTZ001 - local time

    def iso_week(self, said: Said) -> Stretch:
        monday = date.fromisocalendar(int(said["year"]), int(said["number"]), 1)
        return around(datetime.combine(monday, time()), "week")

    def slashed(self, said: Said) -> Stretch:
        """Return the day if only one order of day and month is possible, or raise `ValueError`."""
        first, second = int(said["number"]), int(said["day"])
        if first <= 12 and second <= 12 and first != second:
            raise ValueError("it may be either way round")
        day, month = max(first, second), min(first, second)
        return _day(int(said["year"]), month, day)

    def dotted(self, said: Said) -> Stretch:
        return _day(int(said["year"]), int(said["number"]), int(said["day"]))

    def day_of_month(self, said: Said) -> Stretch:
        month, day = self._in.month[_plain(said["month"])], int(said["day"])
        year = self._year(said)
        return self._latest_day(month, day) if year is None else _day(year, month, day)

    def days_of_month(self, said: Said) -> Stretch:
        first = self.day_of_month(said)
        last = _day(first.start.year, first.start.month, int(said["last_day"]))
        if last.start <= first.start:
            raise ValueError("the last day comes before the first")
        return Stretch(first.start, last.end)

    def month(self, said: Said) -> Stretch:
        month = self._in.month[_plain(said["month"])]
        return self._months(said, month, 1)

    def year(self, said: Said) -> Stretch:
        return around(month_start(int(said["year"]), 1), "year")

    def decade(self, said: Said) -> Stretch:
        year = int(said["decade_year"])
        if year < _CENTURY:
            year += 1900 if year >= _TURN_OF_CENTURY else 2000
        return around(month_start(year, 1), "decade")

    def quarter(self, said: Said) -> Stretch:
        return self._fraction(said, 3)

    def half(self, said: Said) -> Stretch:
        return self._fraction(said, 6)

    def _fraction(self, said: Said, months: int) -> Stretch:
        number = said.get("quarter_number") or said.get("half_number")
        which = int(number) if number else self._in.ordinal[_plain(said["ordinal"])]
        if which * months > 12:
            raise ValueError("a year has no more")
        return self._months(said, (which - 1) * months + 1, months)

    def season(self, said: Said) -> Stretch:
        return self._months(said, self._in.season[_plain(said["season"])], _SEASON_MONTHS)

    def feast(self, said: Said) -> Stretch:
        month, day = self._in.feast[_plain(said["feast"])]
        year, turn = self._year(said), self._turn(said)
        if year is not None:
            return _day(year, month, day)
        if turn is None:
            return self._latest_day(month, day)
        years = [self._today.year + step for step in (-1, 0, 1)]
        days = [_day(year, month, day) for year in years]
        past = [day for day in days if day.end <= self._today]
        coming = [day for day in days if day.start > self._today]
        return {-1: past[-1], 0: days[1], 1: coming[0]}[turn]

    def near(self, said: Said) -> Stretch:
        start = self._today + timedelta(days=self._in.near[_plain(said["near"])])
        return self._part(around(start, "day"), said)

    def weekday(self, said: Said) -> Stretch:
        """Return the latest such day up to today. With a turn: the one before today, of this week, or after today."""
        wanted = self._in.weekday[_plain(said["weekday"])]
        back = (self._today.weekday() - wanted) % 7
        days = {None: -back, -1: -(back or 7), 0: wanted - self._today.weekday(), 1: 7 - back}[self._turn(said)]
        return self._part(around(self._today + timedelta(days=days), "day"), said)

    def part_of_today(self, said: Said) -> Stretch:
        turn = self._in.turn[_plain(said["turn"])]
        return self._part(around(self._today + timedelta(days=turn), "day"), said)

    def turned(self, said: Said) -> Stretch:
        unit = self._in.unit[_plain(said["unit"])]
        if unit in _TO_THE_MINUTE:
            raise ValueError("the last minute is any time but a minute")
        return around(shifted(self._now, unit, self._in.turn[_plain(said["turn"])]), unit)

    def before_last(self, said: Said) -> Stretch:
        unit = self._in.unit[_plain(said["unit"])]
        return around(shifted(self._now, unit, -2), unit)

    def ago(self, said: Said) -> Stretch:
        return self._apart(said, -1)

    def ahead(self, said: Said) -> Stretch:
        return self._apart(said, 1)

    def _apart(self, said: Said, way: int) -> Stretch:
        unit = self._in.unit[_plain(said["unit"])] if "unit" in said else "day"
        least, most = self._count(said)
        now, zoned = self._clock(unit)
        if unit == "year" and most == 1:
            # "A year ago" does not mean the whole year, but about this time of it.
            there = around(shifted(now, unit, way), "day")
            return Stretch(shifted(there.start, "month", -1), shifted(there.end, "month", 1))
        ends = [around(shifted(now, unit, way * count), unit) for count in (least, most)]
        return Stretch(min(ends).start, max(ends).end, zoned)

    def rolling(self, said: Said) -> Stretch:
        """Return `count` units up to now, or from now on."""
        unit = self._in.unit[_plain(said["unit"])]
        way = self._in.rolling[_plain(said["rolling"])] if "rolling" in said else self._in.passing[said["passing"]]
        count = self._count(said)[1] if "count" in said or "amount" in said else 1
        now, zoned = self._clock(unit)
        start, end = sorted((now, shifted(now, unit, way * count)))
        return Stretch(start, end, zoned)

    def _clock(self, unit: str) -> tuple[datetime, bool]:
        """Return the current time, and whether it is in UTC. Hours are counted in UTC because of daylight saving
        time.
        """
        return (self._utc, True) if unit in _TO_THE_MINUTE else (self._now, False)

    def offset(self, base: Stretch, word: str, count: int, way: int) -> Stretch:
        """Return the unit before the start of a stretch or after its end, or the next such weekday there."""
        if word in self._in.weekday:
            if way < 0:
                back = (base.start.weekday() - self._in.weekday[word] - 1) % 7 + 1
                return around(base.start - timedelta(days=back), "day")
            return around(base.end + timedelta(days=(self._in.weekday[word] - base.end.weekday()) % 7), "day")
        unit = self._in.unit[word]
        if unit == "weekend":
            near = around(base.start if way < 0 else base.end, unit)
            if way < 0 and near.end > base.start:
                near = around(shifted(base.start, unit, -1), unit)
            weeks = timedelta(weeks=way * (count - 1))
            return Stretch(near.start + weeks, near.end + weeks)
        edge = base.start if way < 0 else base.end
        far, close = shifted(edge, unit, way * count), shifted(edge, unit, way * (count - 1))
        return Stretch(min(far, close), max(far, close), base.zoned)

    def unit_of(self, base: Stretch, word: str) -> Stretch:
        """Return the unit that contains the start, as in the week of 7 May."""
        return around(base.start, self._in.unit[word])

    def count_of(self, word: str) -> int:
        return int(word) if word.isdigit() else self._in.count[word][1]

    def _count(self, said: Said) -> tuple[int, int]:
        if "amount" in said:
            return int(said["amount"]), int(said["amount"])
        table = self._in.lately if "lately" in said else self._in.count
        return table[_plain(said.get("lately") or said["count"])]

    def _part(self, day: Stretch, said: Said) -> Stretch:
        if "part" not in said:
            return day
        first, last = self._in.part[_plain(said["part"])]
        return Stretch(day.start + timedelta(hours=first), day.start + timedelta(hours=last))

    def _latest_day(self, month: int, day: int) -> Stretch:
        """Return the latest such day up to today. 29 February may be eight years back."""
        for year in range(self._today.year, self._today.year - 9, -1):
            try:
                found = _day(year, month, day)
            except ValueError:
                continue
            if found.start <= self._today:
                return found
        raise ValueError("there is no such day")

    def _months(self, said: Said, month: int, months: int) -> Stretch:
        """Return `months` months from `month` on, in the year that is meant."""
        year, turn = self._year(said), self._turn(said)
        if year is not None:
            return Stretch(month_start(year, month), month_start(year, month + months))
        years = [self._today.year + step for step in (-2, -1, 0, 1)]
        found = [Stretch(month_start(year, month), month_start(year, month + months)) for year in years]
        if turn == 0:
            return next((one for one in found if one.start <= self._today < one.end), found[2])
        if turn == 1:
            return next(one for one in found if one.start > self._today)
        return [one for one in found if (one.end if turn else one.start) <= self._today][-1]

    def _year(self, said: Said) -> int | None:
        if "year_turn" in said:
            return self._today.year + self._in.turn[_plain(said["year_turn"])]
        return int(said["year"]) if "year" in said else None

    def _turn(self, said: Said) -> int | None:
        return self._in.turn[_plain(said["turn"])] if "turn" in said else None


def _day(year: int, month: int, day: int) -> Stretch:
    return around(datetime(year, month, day), "day")  # noqa: DTZ001 - local time


def _plain(words: str) -> str:
    return " ".join(words.split())
