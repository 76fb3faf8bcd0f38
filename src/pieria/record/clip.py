"""Texts made fit for a line: without what only a screen understands, and cut at a word with a mark that says so."""

from __future__ import annotations

import re

MARK = "…"
_UNSEEN = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]"
)
"""Colours and other commands to a screen, and control characters but for the line's end and the tab."""


def plain(text: str) -> str:
    """The text as it would be read."""
    return text if text.isprintable() else re.sub(_UNSEEN, "", text.replace("\r\n", "\n"))


def clipped(text: str, length: int) -> str:
    """On one line, with so many characters at most."""
    flat = " ".join(text[: 8 * length].split())
    if len(flat) <= length and len(text) <= 8 * length:
        return flat
    cut = flat[: length - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank and len(head) > length // 2 else cut).rstrip(" ,;:.([`“\"'") + MARK
