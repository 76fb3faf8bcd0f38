"""Days to come in the words that the reader of time words knows, from seven languages.

The pack `dates` has the words. Clock times and stretches of the past do not belong here.
"""

from __future__ import annotations

import re
from functools import cache

from pieria.language.letters import UNSPACED, lowered
from pieria.language.packs import pack

_MONTHS_OF_YEAR = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_NUMBERED = re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号號]?)?")
"""A date in Japanese or Chinese."""
_DOTTED = re.compile(r"(?<![\d.])(?P<day>[0-3]?\d)\.\s?(?P<month>[01]?\d)\.(?![\d.])")
"""A German date without its year."""
_AHEAD = re.compile(r"\b(?:with)?in (\w+ (?:day|week|fortnight|month)s?)\b", re.IGNORECASE)
_END_OF = re.compile(r"\b(?:the )?end of (?:the |this )?(week|month|quarter|year)\b", re.IGNORECASE)
_ORDINAL = r"(?P<day>\d{1,2})(?:er|º|ª|\.)?\s+(?:de\s+)?"


def english_dates(text: str) -> str:
    """Return the text with its days to come in English, and counted from now."""
    return _END_OF.sub(r"this \1", _AHEAD.sub(r"\1 from now", _translated(text)))


def _translated(text: str) -> str:
    low = lowered(text)
    if not (_NUMBERED.search(low) or _DOTTED.search(low) or _named().search(low)):
        return text
    low = _NUMBERED.sub(_from_numbers, low)
    low = _DOTTED.sub(_from_numbers, low)
    low = _named().sub(lambda found: f" {_english()[found[0]]} ", low)
    names = "|".join(_MONTHS_OF_YEAR)
    low = re.sub(rf"{_ORDINAL}(?P<month>{names})\b", r"\g<day> \g<month>", " ".join(low.split()))
    english = "|".join(map(re.escape, {*_english().values(), *_MONTHS_OF_YEAR}))
    low = _limits().sub(lambda found: f"{_keys('limits')[found[0].strip()]} ", low)
    return re.sub(
        rf"(?P<date>(?:\d{{1,2}} )?(?:{english})|\d{{4}}-\d\d-\d\d)\s*(?P<limit>{_any('behind')})",
        lambda found: f"{_keys('behind')[found['limit']]} {found['date']} ",
        low,
    )


def _from_numbers(found: re.Match[str]) -> str:
    month = int(found["month"])
    if not 1 <= month <= len(_MONTHS_OF_YEAR):
        return found[0]
    given = found.groupdict()
    if given.get("year") and given["day"]:
        return f" {given['year']}-{month:02}-{int(given['day']):02} "
    return f" {given['day'] or ''} {_MONTHS_OF_YEAR[month - 1]} {given.get('year') or ''} "


@cache
def _english() -> dict[str, str]:
    return {**_keys("months"), **_keys("days")}


@cache
def _keys(table: str) -> dict[str, str]:
    return {word: key for key, words in pack("dates")[table].items() for word in words.split("|")}


@cache
def _any(table: str) -> str:
    return "|".join(sorted(map(re.escape, _keys(table)), key=len, reverse=True))


@cache
def _named() -> re.Pattern[str]:
    unspaced = re.compile(f"[{UNSPACED}]")
    whole = [word for word in _english() if not unspaced.search(word)]
    anywhere = [word for word in _english() if unspaced.search(word)]
    either = ("|".join(map(re.escape, sorted(words, key=len, reverse=True))) for words in (whole, anywhere))
    return re.compile(r"(?<!\w)(?:{})(?!\w)|(?:{})".format(*either))


@cache
def _limits() -> re.Pattern[str]:
    """Return the pattern of a limit in front of a date that is in English by now."""
    english = "|".join(map(re.escape, {*_english().values(), *_MONTHS_OF_YEAR}))
    return re.compile(rf"(?<!\w)(?:{_any('limits')})\s+(?=(?:\d{{1,2}} )?(?:{english})|\d{{4}}-\d\d-\d\d)")
