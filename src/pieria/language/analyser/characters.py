"""Unicode blocks the analyser needs, and lookup tables over characters.

`fold` and `shapes` decide what happens to a character; only the ranges belong here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

Blocks = tuple[tuple[int, int], ...]

DECORATED_ALPHABETS: Blocks = (
    (0x00C0, 0x052F),
    (0x1E00, 0x1FFF),
    (0x2C60, 0x2C7F),
    (0xA720, 0xA7FF),
    (0xAB30, 0xAB6F),
)
"""Latin, Greek and Cyrillic: combining marks on these letters are decoration."""

DECORATION: Blocks = (
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06ED),
    (0x0711, 0x074A),
    (0x08CA, 0x08FF),
    (0x180B, 0x180F),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xE0100, 0xE01EF),
)
"""Accents, Hebrew, Arabic and Syriac points, variation selectors. The marks of other scripts (Indic vowel signs,
Thai tones) are part of the word."""

IDEOGRAPHS: Blocks = (
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)

SYLLABLES: Blocks = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17FF),
    (0x1950, 0x19DF),
    (0x1A20, 0x1AAF),
    (0x1B00, 0x1B7F),
    (0x3031, 0x318F),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0xA960, 0xA9FF),
    (0xAA60, 0xAADF),
    (0xAC00, 0xD7FF),
    (0x1AFF0, 0x1B16F),
)
"""Scripts without spaces between words: Thai, Lao, Myanmar, Khmer and related scripts, kana and bopomofo. Also
Hangul, where particles attach to words.
"""

HANGUL_VOWELS_AND_FINALS: Blocks = ((0x1160, 0x11FF),)
SKIN_TONES: Blocks = ((0x1F3FB, 0x1F3FF),)
REGIONAL_INDICATORS: Blocks = ((0x1F1E6, 0x1F1FF),)

EMOJI: Blocks = (
    (0x231A, 0x231B),
    (0x23E9, 0x23FA),
    (0x25FB, 0x25FE),
    (0x2600, 0x27BF),
    (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B55),
    (0x1F000, 0x1FAFF),
)

REMEMBERED = 20_000
"""Most characters a table caches: more than real texts use, and few enough to bound the memory."""

# Codes for kinds that ASCII has no example of. They are private-use characters; no text produces them itself.
IDEOGRAPH = "\ue000"
SYLLABLE = "\ue001"
SIGN = "\ue002"
PICTURE = "\ue003"
REGIONAL = "\ue004"


def within(code: int, blocks: Blocks) -> bool:
    return any(first <= code <= last for first, last in blocks)


class CharacterTable(dict[int, str]):
    """A table for `str.translate` that computes an entry on first use."""

    def __init__(self, of: Callable[[str], str]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, code: int) -> str:
        found = self._of(chr(code))
        if len(self) < REMEMBERED:
            self[code] = found
        return found


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
