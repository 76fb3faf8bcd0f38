"""Shapes: what kind of character stands at each place of a folded text.

Exists because regular expressions of the standard library know no scripts. A text and its shape have the same length:
patterns run over the shape, slices are taken from the text. What a word is made of does not belong here.
"""

from __future__ import annotations

import unicodedata

from pieria.record.analyser.characters import (
    EMOJI,
    IDEOGRAPHS,
    REGIONAL_INDICATORS,
    SYLLABLES,
    CharacterTable,
    within,
)

# Codes for what ASCII has no example of. They are private characters, which texts themselves never show in a shape.
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
    """ASCII as it is, other letters as `a` or `A`, currencies as `$`, the codes above, and spaces for the rest."""
    return folded if folded.isascii() else folded.translate(_SHAPES)
