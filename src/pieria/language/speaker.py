"""Guess the speaker from the beginning of a text: "Caroline: I went to …" is by Caroline.

Many callers have no field for the speaker and write the name before the text. Anyone can write such a text, so use
the guess only for ranking, never for trust.
"""

from __future__ import annotations

import re

from pieria.language.commonwords import COMMON
from pieria.language.windows import ROLES

LOOKED_AT = 48
"""Characters at the beginning that must contain the name and its colon."""
_NAME = re.compile(r"[*_]{0,2}([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})[*_]{0,2}[:：][*_]{0,2}\s")


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
