"""Remembered text may come from anyone, so characters that a terminal would obey are spelt out.

Pure functions over text; colours and tables are in `shown`.
"""

from __future__ import annotations

import re

# Control characters (escape sequences begin with one), direction overrides, invisible characters that can hide text,
# and surrogates. Joiners stay: emoji and Persian need them.
_OBEYED = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SPELT_OUT = re.compile(f"[{_OBEYED}]")
_SPACES = re.compile(r"\s+")


def inert(text: str, *, one_line: bool = False) -> str:
    """Return the text with invisible characters spelt out. Tabs and line breaks stay, or become spaces with
    `one_line`.
    """
    if text.isprintable():
        return text
    told = _SPELT_OUT.sub(_spelt, text.replace("\r\n", "\n"))
    return _SPACES.sub(" ", told).strip() if one_line else told


def inert_json(written: str) -> str:
    """Return JSON with invisible characters as escapes, so that no data is lost."""
    return written if written.isascii() and "\x7f" not in written else _SPELT_OUT.sub(_escaped, written)


def _spelt(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
