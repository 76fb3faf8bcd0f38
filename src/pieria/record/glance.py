"""What a text shows at a glance: who says it, whether it is a question, and whether it tells a time.

Exists because recall asks this of every candidate, and no text changes once it is written.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.record.speaker import speaker

BEGINNING, END = 4_000, 80
"""Characters of a text that are looked at: a time stands near the beginning, a question ends it.
"""
SHORT = 80
"""Characters up to which a text that asks something is a question, though it goes on after the mark."""
_TIME = re.compile(
    r"""\b(?: yesterday | today | tonight | tomorrow | ago | recently | since | (?:last|next|this|every) \s \w+
      | (?:mon|tues|wednes|thurs|fri|satur|sun)day
      | january | february | march | april | june | july | august | september | october | november | december
      | (?:morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall)s?
      | \d{1,2} (?:st|nd|rd|th) | (?:19|20)\d\d )\b""",
    re.VERBOSE | re.IGNORECASE,
)


class Glance(NamedTuple):
    speaker: str | None
    """Whom it begins with: see `record.speaker`."""
    asks: bool
    tells_time: bool
    length: int
    ending: int
    """Two texts of one length that end alike have the same."""


def glance(beginning: str, end: str, length: int) -> Glance:
    return Glance(speaker(beginning), _asks(end, length), _TIME.search(beginning) is not None, length, hash(end))


def _asks(end: str, length: int) -> bool:
    stripped = end.rstrip(" \t\n\"'”’)*_")
    return stripped.endswith(("?", "？")) or ("?" in end and length < SHORT)
