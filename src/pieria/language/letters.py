"""Normalise a text for pattern matching, keeping every character at its index.

Rules then see one case and one kind of apostrophe, hyphen and space, and a match gives positions in the original.
Deciding which words are equal belongs in the analyser.
"""

from __future__ import annotations

import re

from pieria.language.analyser.characters import IDEOGRAPHS, SYLLABLES

_ONE_FOR_ONE = str.maketrans(
    {
        # The only letter that `lower` turns into two.
        "İ": "I",
        **dict.fromkeys("‘’ʻʼ′＇", "'"),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\u00a0\u2007\u202f\u3000", " "),
    }
)

UNSPACED = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in (*IDEOGRAPHS, *SYLLABLES))
"""Scripts without spaces between words, as the inside of a regular expression's character class."""


def lowered(text: str) -> str:
    """Return the text in lower case with the same length."""
    return text.translate(_ONE_FOR_ONE).lower()


_SET_OR_SPACE = re.compile(r"\[[^\]]*\]| \?| ")


def spaced(pattern: str) -> str:
    """Return the pattern with each space matching a few white space characters, except inside character classes."""
    meant = {" ": r"\s{1,3}", " ?": r"\s{0,3}"}
    return _SET_OR_SPACE.sub(lambda found: meant.get(found[0], found[0]), pattern)
