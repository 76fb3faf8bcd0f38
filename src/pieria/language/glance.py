"""What recall needs to see of every candidate: its speaker, whether it is a question, whether it tells a time.

A text never changes once written, so a glance can be cached.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.language.commonwords import COMMON
from pieria.language.windows import ROLES

BEGINNING, END = 4_000, 80
"""Characters read at each end of a text: a time comes near the beginning, a question at the end."""
SHORT = 80
"""Most characters of a text that counts as a question even if text follows the question mark."""
_TIME = re.compile(
    r"""\b(?: yesterday | today | tonight | tomorrow | ago | recently | since | (?:last|next|this|every) \s \w+
      | (?:mon|tues|wednes|thurs|fri|satur|sun)day
      | january | february | march | april | june | july | august | september | october | november | december
      | (?:morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall)s?
      | \d{1,2} (?:st|nd|rd|th) | (?:19|20)\d\d )\b""",
    re.VERBOSE | re.IGNORECASE,
)

LOOKED_AT = 48
"""Characters at the beginning that must contain the name and its colon."""
_NAME = re.compile(r"[*_]{0,2}([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})[*_]{0,2}[:：][*_]{0,2}\s")


class Glance(NamedTuple):
    speaker: str | None
    """The speaker it begins with; see `record.speaker`."""
    asks: bool
    tells_time: bool
    length: int
    ending: int
    """A hash of the end. Texts of equal length that end alike share it."""


def glance(beginning: str, end: str, length: int) -> Glance:
    return Glance(speaker(beginning), _asks(end, length), _TIME.search(beginning) is not None, length, hash(end))


def _asks(end: str, length: int) -> bool:
    stripped = end.rstrip(" \t\n\"'”’)*_")
    return stripped.endswith(("?", "？")) or ("?" in end and length < SHORT)


def speaker(beginning: str) -> str | None:
    """Return the name before the first colon. None for a role, or for a common word such as "Next"."""
    found = _NAME.match(beginning)
    if found is None:
        return None
    name = found[1]
    words = name.casefold().split()
    if name in ROLES or words[0] in ROLES or words[0] in COMMON or not all(map(_is_capital, name.split())):
        return None
    return name


def _is_capital(word: str) -> bool:
    return word[0] != word[0].lower() or word[0] == word[0].upper()
