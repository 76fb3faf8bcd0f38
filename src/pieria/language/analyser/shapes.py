"""Character classes: map each character of a folded text to one character that shows its kind.

The standard library's regular expressions do not know scripts. A text and its shape have the same length: match
patterns on the shape, take slices from the text. Word rules do not belong here.
"""

from __future__ import annotations

import unicodedata

from pieria.language.analyser.characters import (
    EMOJI,
    IDEOGRAPHS,
    REGIONAL_INDICATORS,
    SYLLABLES,
    CharacterTable,
    within,
)

# Codes for kinds that ASCII has no example of. They are private-use characters; no text produces them itself.
IDEOGRAPH = "\ue000"
SYLLABLE = "\ue001"
SIGN = "\ue002"
PICTURE = "\ue003"
REGIONAL = "\ue004"


def _shape(char: str) -> str:
    if char.isascii():
        return char
    code = ord(char)
    category = unicodedata.category(char)
    if category[0] in "LMN":
        return _letter_shape(code, category)
    if category == "Sc":
        return "$"
    if within(code, REGIONAL_INDICATORS):
        return REGIONAL
    if category[0] == "S" and within(code, EMOJI):
        return PICTURE
    return " "


def _letter_shape(code: int, category: str) -> str:
    if within(code, IDEOGRAPHS):
        return IDEOGRAPH
    if within(code, SYLLABLES):
        return SIGN if category[0] == "M" else SYLLABLE
    return "A" if category in ("Lu", "Lt") else "a"


_SHAPES = CharacterTable(_shape)


def shape_of(folded: str) -> str:
    """Return the shape of a folded text.

    ASCII stays unchanged. Other letters become `a` or `A`, currencies `$`, and the kinds above their codes. All other
    characters become spaces.
    """
    return folded if folded.isascii() else folded.translate(_SHAPES)
