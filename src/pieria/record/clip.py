"""Make text fit: on one line, cut at a word with an ellipsis; or in a prompt, by its estimated tokens.

There is no tokenizer here, and estimates err on the high side.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Self

MARK = "…"
_UNSEEN = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]"
)
"""Terminal sequences and control characters, except newline and tab."""
_PER_TOKEN = 3.5
"""Characters of plain text per token; most models fit a little more. Other scripts take about one token a character."""
_OTHER = re.compile("[\u0250-\U0010ffff]")


def plain(text: str) -> str:
    """Return the text as a reader would see it."""
    return text if text.isprintable() else re.sub(_UNSEEN, "", text.replace("\r\n", "\n"))


def clipped(text: str, length: int) -> str:
    """Return the text on one line of at most `length` characters."""
    flat = " ".join(text[: 8 * length].split())
    if len(flat) <= length and len(text) <= 8 * length:
        return flat
    cut = flat[: length - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank and len(head) > length // 2 else cut).rstrip(" ,;:.([`“\"'") + MARK


class Length(NamedTuple):
    """Counts of plain and other characters. Add lengths first and convert to tokens last: only characters add up
    exactly.
    """

    plain: int = 0
    other: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        other = 0 if text.isascii() else len(_OTHER.findall(text))
        return cls(len(text) - other, other)

    def and_(self, more: Length) -> Length:
        return Length(self.plain + more.plain, self.other + more.other)

    @property
    def tokens(self) -> int:
        return math.ceil(self.plain / _PER_TOKEN) + self.other


def estimated_tokens(text: str) -> int:
    return Length.of(text).tokens
