"""How many tokens a text takes in a prompt, estimated without anybody's tokenizer: rather too many than too few."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Self

_PER_TOKEN = 3.5
"""Characters of plain text; most models take a little more. Other scripts take about a token a character."""

_OTHER = re.compile("[\u0250-\U0010ffff]")


class Length(NamedTuple):
    """Of a text, in characters of either sort: what is put together adds up exactly, and only then becomes tokens."""

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
