"""Times, sizes and numbers in words for people. No rich here: error messages use these, too."""

from __future__ import annotations

from datetime import datetime

from pieria.record.time import iso

_UNITS = (
    ("y", 365 * 86_400),
    ("mo", 30 * 86_400),
    ("d", 86_400),
    ("h", 3_600),
    ("min", 60),
)


def day_and_age(moment: datetime | None, now: datetime) -> str | None:
    return None if moment is None else f"{stamp(moment)} ({age(moment, now)})"


def stamp(moment: datetime) -> str:
    """Return a time to the minute, in UTC."""
    return f"{iso(moment)[:16].replace('T', ' ')}Z"


def age(moment: datetime, now: datetime) -> str:
    """Return the distance to now in the largest unit that fits."""
    seconds = (now - moment).total_seconds()
    for unit, length in _UNITS:
        if abs(seconds) >= length:
            count = f"{int(abs(seconds) // length)} {unit}"
            return f"{count} ago" if seconds > 0 else f"in {count}"
    return "just now"


def size(count: int) -> str:
    """Return a number of bytes in a readable unit."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def interval(begin: datetime | None, end: datetime | None) -> str | None:
    """Return a half-open interval in words, or None if it has no bounds."""
    said = [] if begin is None else [f"from {stamp(begin)}"]
    if end is not None:
        said.append(f"until {stamp(end)}")
    return " ".join(said) or None
