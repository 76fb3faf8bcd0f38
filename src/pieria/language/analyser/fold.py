"""Fold spelling variants to one form, with a mapping back to the original positions.

After folding, the analyser sees one kind of apostrophe, hyphen and digit, no decoration, and nothing invisible.
Folding keeps case, because `getUserName` is split by it. Splitting text into words does not belong here.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import groupby

from pieria.language.analyser.characters import (
    DECORATED_ALPHABETS,
    DECORATION,
    HANGUL_VOWELS_AND_FINALS,
    REMEMBERED,
    SKIN_TONES,
    CharacterTable,
    within,
)

_ORDINARY = 1_000
"""Longer texts get their marks sorted before normalisation. `unicodedata` sorts the marks of a letter by insertion,
so a run of 500,000 marks would take minutes.
"""

_SAME = {
    **dict.fromkeys("‘’ʻʼʹ′՚", "'"),
    **dict.fromkeys("‐‒−", "-"),
    **dict.fromkeys("⁄∕", "/"),
    # These letters only look decorated: Russian й is not и, Ukrainian ї is not і, Belarusian ў is not у.
    **{letter: letter for letter in "йЙїЇўЎ"},
    # Everyday Arabic omits the hamza of an alef. Persian keyboards have their own yeh and kaf.
    **dict.fromkeys("أإآٱ", "ا"),
    **dict.fromkeys("ىی", "ي"),
    "ک": "ك",
    # Characters without content: the tatweel stretches a word, the others fill a syllable block.
    **dict.fromkeys("\u0640\u115f\u1160\u3164\uffa0", ""),
    # A zero-width space counts as a space.
    "\u200b": " ",
}


def _folded(char: str) -> str:
    if char in _SAME:
        return _SAME[char]
    code = ord(char)
    category = unicodedata.category(char)
    if category == "Cf" or within(code, SKIN_TONES):
        return ""
    if category[0] == "M" and within(code, DECORATION):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if within(code, DECORATED_ALPHABETS):
        letters = unicodedata.normalize("NFD", char)
        return "".join([letter for letter in letters if not unicodedata.combining(letter)])
    return char


_FOLDS = CharacterTable(_folded)


def fold(text: str) -> str:
    """Return the text in compatibility form, without decoration or invisible characters. Case is kept."""
    if text.isascii():
        return text
    # Do not let NFKC turn a trade mark sign into the letters TM at the end of a name.
    text = text.replace("™", " ").replace("℠", " ")
    if len(text) > _ORDINARY:
        text = _in_canonical_order(text)
    return unicodedata.normalize("NFKC", text).translate(_FOLDS)


def fold_aligned(text: str) -> tuple[str, list[int], list[int]]:
    """Return the folded text and two lists: the original start and end of each folded character."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _continues(text[end]):
            end += 1
        piece = fold(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
        start = end
    return "".join(pieces), starts, ends


def _in_canonical_order(text: str) -> str:
    """Return the compatibility decomposition in canonical order, in linear time."""
    decomposed = "".join([unicodedata.normalize("NFKD", char) for char in text])
    runs = groupby(decomposed, key=lambda char: unicodedata.combining(char) > 0)
    return "".join(["".join(sorted(run, key=unicodedata.combining) if are_marks else run) for are_marks, run in runs])


@lru_cache(maxsize=REMEMBERED)
def _continues(char: str) -> bool:
    """Return whether normalisation may join the character to the one before it."""
    first = unicodedata.normalize("NFKD", char)[0]
    return within(ord(first), HANGUL_VOWELS_AND_FINALS) or unicodedata.category(first)[0] == "M"
