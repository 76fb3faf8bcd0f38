"""How many tokens a text takes in a prompt, estimated without anybody's tokenizer: rather too many than too few."""

from __future__ import annotations

import math

_PER_TOKEN = 3.5
"""Characters of plain text; most models take a little more. Other scripts take about a token a character."""


def estimated_tokens(text: str) -> int:
    plain = len(text) if text.isascii() else sum(character < "\u0250" for character in text)
    return math.ceil(plain / _PER_TOKEN) + len(text) - plain
