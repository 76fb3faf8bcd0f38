"""Display of user text, times, numbers and sizes: always as plain text.

Every piece is escaped before it is put between our tags; invisible and misleading characters are replaced by visible
signs. Nothing here parses HTML or builds it by joining unescaped text. Times are in the page's zone; the full time is
in the `title` attribute.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from markupsafe import Markup, escape

from pieria.doors.web.zones import Zone
from pieria.language.analyser import query_terms, spans
from pieria.record.time import EARLIEST, LATEST, iso

CUT = 1_200
"""Characters shown of a text; a click opens the whole."""
MOST_MARKS = 2_000
"""Most characters shown as a named sign; later ones share one general sign."""
SEARCHED = 20_000
"""Characters of a text that are searched for the query's terms."""
_UNSEEN = re.compile(
    "["
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # controls, except tab and newline
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # changes of the writing direction
    "\\u00ad\\u180e\\u200b\\u2028\\u2029\\u2060-\\u2064\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb"  # invisible characters
    "\\U000e0000-\\U000e007f"  # invisible tag characters
    "\\ud800-\\udfff"  # surrogates
    "]+"
)
ANY = "\N{REPLACEMENT CHARACTER}"
INSTANT = timedelta(microseconds=1)
MINUTES = len("2026-01-31 09:30")
_UNITS = ("B", "kB", "MB", "GB", "TB")


def words(text: str, asked: Collection[str] = (), limit: int | None = None) -> Markup:
    """Return the text, at most `limit` characters, with the terms in `asked` marked."""
    whole = text.replace("\r\n", "\n")
    shown = whole if limit is None else whole[:limit]
    mark = Markup("<mark>{}</mark>")
    parts = _parted(shown, asked) if asked else [(shown, False)]
    pieces = [mark.format(_plain(part)) if hit else _plain(part) for part, hit in parts]
    if len(shown) < len(whole):
        pieces.append(Markup('<span class="cut" title="more follows">…</span>'))
    return Markup("").join(pieces)


def asked_terms(query: str) -> frozenset[str]:
    """Return the terms of a query to mark, without stop words unless there are no others."""
    terms = query_terms(query[:SEARCHED])
    return frozenset(each.term for each in terms if not each.stop) or frozenset(each.term for each in terms)


def _parted(text: str, asked: Collection[str]) -> Iterator[tuple[str, bool]]:
    end = 0
    for start, stop in _places(text, asked):
        if start > end:
            yield text[end:start], False
        yield text[start:stop], True
        end = stop
    if end < len(text):
        yield text[end:], False


def _places(text: str, asked: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the terms without overlaps. The earliest span wins, then the longest."""
    end = 0
    found = (span for span in spans(text[:SEARCHED]) if span.term in asked)
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if span.start >= end and span.end > span.start:
            yield span.start, span.end
            end = span.end


def _plain(text: str) -> Markup:
    """Return the text escaped, with invisible characters shown by their codes."""
    pieces: list[Markup] = []
    end = 0
    for number, found in enumerate(_UNSEEN.finditer(text)):
        if number >= MOST_MARKS:
            pieces.append(escape(_UNSEEN.sub(ANY, text[end:])))
            return Markup("").join(pieces)
        pieces.append(escape(text[end : found.start()]))
        pieces.append(_sign(found.group()))
        end = found.end()
    pieces.append(escape(text[end:]))
    return Markup("").join(pieces)


def _sign(unseen: str) -> Markup:
    """Return a sign such as `U+202E`, titled with the character's name. A run shows its first character and length."""
    code = f"U+{ord(unseen[0]):04X}"
    name = unicodedata.name(unseen[0], "a control character").lower()
    more = f" ×{len(unseen):,}" if len(unseen) > 1 else ""
    return Markup('<span class="unseen" title="{}">{}{}</span>').format(name, code, more)


def one_line(text: str, limit: int = 80, asked: Collection[str] = ()) -> Markup:
    """Return a title, a name or a tag on one line, cut and escaped."""
    return words(" ".join(text[: 8 * limit].split()), asked, limit)


def moment(at: datetime | None, zone: Zone, now: datetime | None = None) -> Markup:
    """Return a time such as `3 hours ago`, `yesterday`, `4 March` or `4 March 2024`."""
    if at is None:
        return Markup("")
    read = now or datetime.now(UTC)
    return timed(at, zone, _told(read - at, zone.at(at), zone.at(read)))


def whole_moment(at: datetime | None, zone: Zone) -> Markup:
    """Return a full time, such as `2026-03-04 12:00:00 +01:00 Europe/Berlin`."""
    return Markup("") if at is None else timed(at, zone, zone.written(at))


def clock(at: datetime, zone: Zone, note: str = "", seconds: bool = False) -> Markup:
    """Return the time of day, such as `14:05`. `note` follows the full time in the title."""
    return timed(at, zone, f"{zone.at(at):%H:%M:%S}" if seconds else f"{zone.at(at):%H:%M}", note)


def day(at: datetime | None, zone: Zone) -> Markup:
    return Markup("") if at is None else timed(at, zone, zone.day(at).isoformat())


def since(at: datetime, zone: Zone) -> Markup:
    """Return when a period begins: the day, with the time unless it is the start of the day."""
    day = zone.day(at)
    return timed(at, zone, day.isoformat() if at in (EARLIEST, zone.begin(day)) else _to_the_minute(at, zone))


def until(at: datetime, zone: Zone) -> Markup:
    """Return when a period ends: its last whole day, or the time of its end."""
    is_whole = at > EARLIEST and at in (LATEST, zone.begin(zone.day(at)))
    return timed(at, zone, zone.day(at - INSTANT).isoformat() if is_whole else _to_the_minute(at, zone))


def timed(at: datetime, zone: Zone, told: str, note: str = "") -> Markup:
    """Return a `time` element that shows `told`, with the ISO time for programs and the full time as its title."""
    whole = zone.written(at) + (note and f", {note}")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(iso(at), whole, told)


def _to_the_minute(at: datetime, zone: Zone) -> str:
    return zone.at(at).isoformat(" ", "minutes")[:MINUTES]


def _told(gone: timedelta, at: datetime, now: datetime) -> str:
    """Return how long ago a time is; `at` and `now` give the calendar days, which need not last 24 hours."""
    days = (now.date() - at.date()).days
    if timedelta(0) <= gone and (gone < timedelta(days=1) or days == 0):
        return _ago(int(gone.total_seconds()))
    if timedelta(0) > gone > -timedelta(minutes=1):
        return "just now"
    if days == 1:
        return "yesterday"
    if timedelta(0) <= gone < timedelta(days=7):
        return f"{days} days ago"
    year = "" if at.year == now.year else f" {at.year:04}"
    return f"{at.day} {at:%B}{year}"


def _ago(seconds: int) -> str:
    if seconds < 60:
        return "just now"
    number, unit = (seconds // 60, "minute") if seconds < 3600 else (seconds // 3600, "hour")
    return f"{number} {unit}{'s' * (number != 1)} ago"


def share(value: float | None) -> str:
    """Return a number from 0 to 1 as a percentage."""
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
    """Return a count with its noun: `1 memory`, `2 memories`."""
    return f"{number(count)} {one if count == 1 else several or one + 's'}"
