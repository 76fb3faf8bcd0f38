"""Make text fit one line: remove control sequences, and cut at a word with an ellipsis."""

from __future__ import annotations

import re

MARK = "…"
_UNSEEN = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]"
)
"""Terminal sequences and control characters, except newline and tab."""


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
