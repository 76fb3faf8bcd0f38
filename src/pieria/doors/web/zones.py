"""The zone of a page: its reader's, the meaning of a day there, and the sources of the zone.

The record holds instants, and knows no zones. A browser's zone is looked up, never trusted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import available_timezones

from pieria.errors import InputError
from pieria.record import zones
from pieria.record.time import EARLIEST, LATEST, instant, start_of_day

ZONE = "zone"
"""Field of an address or form that names the zone of its days."""
CHOSEN, BROWSER = "pieria-zone", "pieria-browser-zone"
"""Cookies: the chosen zone, and the zone that a script read from the browser."""
HEADER = "pieria-zone"
"""Header with the zone, so that a part of a page uses the page's zone."""
BEGIN, LAST, END = "begin", "last", "end"
"""What a day means: its first moment, its last, or the first moment of the next day."""
SECONDS = len("2026-01-31 09:30:00")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Zone:
    """Never compare or subtract times of one zone: its clocks are set back once a year."""

    name: str
    rules: tzinfo

    def at(self, moment: datetime) -> datetime:
        """Return the local time, or the UTC time at the ends of the calendar."""
        try:
            return moment.astimezone(self.rules)
        except OverflowError:
            return moment.astimezone(UTC)

    def day(self, moment: datetime) -> date:
        return self.at(moment).date()

    def begin(self, day: date) -> datetime:
        """Return the first moment of a day."""
        return start_of_day(day, self.rules)

    def end(self, day: date) -> datetime:
        """Return the first moment after the day."""
        return LATEST if day == date.max else self.begin(day + timedelta(days=1))

    def moment(self, value: str, parameter: str, stands_for: str = BEGIN) -> datetime:
        """Return the moment that a day or time means; without a zone, it is in this one."""
        told, text = instant(value, parameter), value.strip()
        if _DAY.fullmatch(text):
            day = date.fromisoformat(text)
            if stands_for == BEGIN:
                return self.begin(day)
            end = self.end(day)
            return end if stands_for == END or end == LATEST else end - timedelta(microseconds=1)
        written = datetime.fromisoformat(text.replace("z", "Z"))
        if written.tzinfo is not None:
            return told
        try:
            return written.replace(tzinfo=self.rules).astimezone(UTC)
        except OverflowError:
            raise InputError(parameter, "a time within the years 1 to 9999 in UTC", value) from None

    def typed(self, moment: datetime, *, end: bool = False) -> str:
        """Return text that is read as this moment: a day if it starts or ends one, or else the exact time."""
        day = self.day(moment - timedelta(microseconds=1) if end and moment > EARLIEST else moment)
        is_whole = moment == (self.end(day) if end else self.begin(day))
        return day.isoformat() if is_whole else self.at(moment).isoformat()

    def written(self, moment: datetime) -> str:
        """Return the time to the second, with its UTC offset and the zone's name."""
        local = self.at(moment)
        told = local.isoformat(" ", "seconds")
        return f"{told[:SECONDS]} {'UTC' if local.tzinfo is UTC else f'{told[SECONDS:]} {self.name}'}"


UNIVERSAL = Zone(zones.UNIVERSAL, UTC)
"""Needs no zone files; the fallback."""


def known(name: str) -> Zone | None:
    """Return the zone, or None if the name is unknown or this machine lacks its rules."""
    rules = zones.rules_of(name)
    return None if rules is None else Zone(zones.name_of(rules), rules)


def named(name: str) -> Zone:
    """Return the zone that an address or form names. Raise `InputError` if it is unknown, since its days would
    differ.
    """
    found = known(name)
    if found is None:
        hint = "Leave it out to use your own time zone." if names() else NO_RULES
        raise InputError(ZONE, "a time zone that this server knows, such as Europe/Berlin", name, hint=hint)
    return found


NO_RULES = "This server knows only UTC: its system has no time zone data, and the package tzdata is not installed."


@cache
def names() -> tuple[str, ...]:
    """Return the zones to choose from, sorted, and UTC. Empty if the machine has no zone rules."""
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return (*places, UNIVERSAL.name) if places else ()


def of_machine(environ: Mapping[str, str]) -> Zone:
    """Return the server's zone: from its environment or system, or else UTC."""
    rules = zones.of_machine(environ)
    return Zone(zones.name_of(rules), rules)


def chosen(cookies: Mapping[str, str]) -> Zone | None:
    return known(cookies.get(CHOSEN, ""))


def of_browser(cookies: Mapping[str, str]) -> Zone | None:
    return known(cookies.get(BROWSER, ""))


def of_reader(cookies: Mapping[str, str], server: Zone) -> Zone:
    """Return the reader's chosen zone, or else their browser's, or else the server's."""
    return chosen(cookies) or of_browser(cookies) or server


def is_told(cookies: Mapping[str, str]) -> bool:
    """Return whether the reader's or browser's zone is known."""
    return CHOSEN in cookies or BROWSER in cookies
