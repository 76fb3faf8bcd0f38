"""Estimate the tokens of a text in a prompt without a tokenizer. Estimates err on the high side."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Self

_PER_TOKEN = 3.5
"""Characters of plain text per token; most models fit a little more. Other scripts take about one token a character."""

_OTHER = re.compile("[\u0250-\U0010ffff]")


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
