"""Time zones by name, and the zone of this machine.

The record holds instants without zones. To read "yesterday" or show a day, code needs the zone of a person.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, tzinfo
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from pieria.errors import InputError
from pieria.record.time import Clock, system_clock

LOCAL_TIME = Path("/etc/localtime")
NEW_NAMES: Mapping[str, str] = {
    "America/Buenos_Aires": "America/Argentina/Buenos_Aires", "America/Catamarca": "America/Argentina/Catamarca",
    "America/Coral_Harbour": "America/Atikokan", "America/Cordoba": "America/Argentina/Cordoba",
    "America/Godthab": "America/Nuuk", "America/Indianapolis": "America/Indiana/Indianapolis",
    "America/Jujuy": "America/Argentina/Jujuy", "America/Louisville": "America/Kentucky/Louisville",
    "America/Mendoza": "America/Argentina/Mendoza", "Asia/Calcutta": "Asia/Kolkata", "Asia/Katmandu": "Asia/Kathmandu",
    "Asia/Rangoon": "Asia/Yangon", "Asia/Saigon": "Asia/Ho_Chi_Minh", "Atlantic/Faeroe": "Atlantic/Faroe",
    "Etc/UTC": "UTC", "Europe/Kiev": "Europe/Kyiv", "Pacific/Enderbury": "Pacific/Kanton",
    "Pacific/Ponape": "Pacific/Pohnpei", "Pacific/Truk": "Pacific/Chuuk",
}  # fmt: skip
"""Old names that browsers still send and some systems no longer have."""
UNIVERSAL = "UTC"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(/[A-Za-z0-9_+-]{1,30}){0,2}")


def rules_of(name: str) -> tzinfo | None:
    """Return the zone of that name. None if it is not a zone or this machine lacks its rules."""
    return _rules_of(name) if _NAME.fullmatch(name) else None


@lru_cache(maxsize=256)
def _rules_of(name: str) -> tzinfo | None:
    for each in (NEW_NAMES.get(name, name), name):
        if each == UNIVERSAL:
            return UTC
        try:
            return ZoneInfo(each)
        except (KeyError, OSError, ValueError):  # a folder, another file or an empty name is not a zone
            continue
    return None


def name_of(rules: tzinfo) -> str:
    """Return the name under which `rules_of` found the zone."""
    return str(getattr(rules, "key", UNIVERSAL))


def checked_zone(value: object, parameter: str) -> tzinfo:
    """Return the zone of that name. Raise `InputError` if it is unknown: days in another zone would be wrong."""
    found = rules_of(value) if isinstance(value, str) else None
    if found is None:
        raise InputError(parameter, "a time zone that this machine knows, such as Europe/Berlin", value)
    return found


def settled_zone(name: str | None, clock: Clock, environ: Mapping[str, str]) -> tzinfo | None:
    """Return the named zone, or else the machine's. None with a custom clock and no name."""
    if name is not None:
        return rules_of(name)
    return of_machine(environ) if clock is system_clock else None


def of_machine(environ: Mapping[str, str], local_time: Path = LOCAL_TIME) -> tzinfo:
    """Return the zone of the environment, or else of the system, or else UTC."""
    said = environ["TZ"].removeprefix(":") if "TZ" in environ else os.path.realpath(local_time)
    return rules_of(said.rpartition("zoneinfo/")[2]) or UTC
