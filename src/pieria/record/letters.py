"""Lettering: a text in which patterns can be looked for, with every character where it was.

Exists so that what reads texts by rules meets one case and one kind of apostrophe, hyphen and space, and can say where
in the original it found something. What makes two words the same word is the analyser's business.
"""

from __future__ import annotations

import re

from pieria.record.analyser.characters import IDEOGRAPHS, SYLLABLES

_ONE_FOR_ONE = str.maketrans(
    {
        # The only letter that lower case makes two of.
        "İ": "I",
        **dict.fromkeys("‘’ʻʼ′＇", "'"),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\u00a0\u2007\u202f\u3000", " "),
    }
)

UNSPACED = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in (*IDEOGRAPHS, *SYLLABLES))
"""The scripts without spaces between words, for a set of characters in a pattern."""


def lowered(text: str) -> str:
    """The text in lower case, as long as it was."""
    return text.translate(_ONE_FOR_ONE).lower()


_SET_OR_SPACE = re.compile(r"\[[^\]]*\]| \?| ")


def spaced(pattern: str) -> str:
    """The pattern with a space meaning white space of any kind, a few signs of it, but not in sets of characters."""
    meant = {" ": r"\s{1,3}", " ?": r"\s{0,3}"}
    return _SET_OR_SPACE.sub(lambda found: meant.get(found[0], found[0]), pattern)
