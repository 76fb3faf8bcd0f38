"""How times, numbers and sizes are shown. Whoever points at a time sees it whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from pieria.record.time import iso

_UNITS = ("B", "kB", "MB", "GB", "TB")


def moment(at: datetime | None, now: datetime | None = None) -> Markup:
    """`3 hours ago`, `yesterday`, `4 March`, `4 March 2024`."""
    if at is None:
        return Markup("")
    whole = at.astimezone(UTC)
    told = _told(whole, now or datetime.now(UTC))
    return Markup('<time datetime="{}" title="{}">{}</time>').format(iso(whole), whole_moment(whole), told)


def whole_moment(at: datetime | None) -> str:
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def day(at: datetime | None) -> str:
    """As the fields of a form take it."""
    return "" if at is None else at.astimezone(UTC).date().isoformat()


def _told(at: datetime, now: datetime) -> str:
    gone = now - at
    if timedelta(0) <= gone < timedelta(days=1):
        return _ago(int(gone.total_seconds()))
    if timedelta(0) > gone > -timedelta(minutes=1):
        return "just now"
    if at.date() == now.date() - timedelta(days=1):
        return "yesterday"
    if timedelta(0) <= gone < timedelta(days=7):
        return f"{(now.date() - at.date()).days} days ago"
    year = "" if at.year == now.year else f" {at.year:04}"
    return f"{at.day} {at:%B}{year}"


def _ago(seconds: int) -> str:
    if seconds < 60:
        return "just now"
    number, unit = (seconds // 60, "minute") if seconds < 3600 else (seconds // 3600, "hour")
    return f"{number} {unit}{'s' * (number != 1)} ago"


def share(value: float | None) -> str:
    """A number from 0 to 1, as hundredths."""
    return "–" if value is None else f"{100 * value:.0f} %"


def number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms" if value < 10_000 else f"{value / 1000:.1f} s"


def size(octets: float | None) -> str:
    if octets is None:
        return "–"
    for unit in _UNITS:
        if abs(octets) < 1000 or unit == _UNITS[-1]:
            break
        octets /= 1000
    return f"{octets:.0f} {unit}" if unit == "B" else f"{octets:.1f} {unit}"


def counted(count: int, one: str, several: str | None = None) -> str:
    """`1 memory`, `2 memories`."""
    return f"{number(count)} {one if count == 1 else several or one + 's'}"
