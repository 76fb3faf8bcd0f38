"""Split a text into sentences, in every script, in prose and in chat lines.

Passages and standing rules both use it. Processing a sentence does not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Sentence(NamedTuple):
    """`text[start:end]` without surrounding white space."""

    start: int
    end: int


# A run of marks is matched as a whole from its first mark, or not at all, so each mark is read once.
_ENDING = re.compile(
    r"""
    (?<![.!?…]) (?P<mark> [.!?…]++ ) ["'”’»)\]*_]*+ (?= \s | \Z )
  | [。！？｡]++ [」』”’）)】]*+
  | [\n\r\u2028\u2029]++
    """,
    re.VERBOSE,
)
_SHORT = (
    "mr mrs ms dr prof st sr jr vs etc e.g i.e eg ie cf fig vol approx dept inc ltd co corp gen col lt sgt capt rev "
    "hon bzw z.b d.h ca bd nr str"
)
_ABBREVIATIONS = frozenset(_SHORT.split())
_LONGEST_ABBREVIATION = 6
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[A-Z]")
_MONTH = re.compile(
    r" (?:Jan(?:uar|uary)?|Feb(?:ruar|ruary)?|M(?:är|ar)z|March|Apr(?:il)?|Ma[iy]|Jun[ie]?|Jul[iy]?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|O[kc]t(?:ober)?|Nov(?:ember)?|De[zc](?:ember)?)\b"
)
"""What follows a day that is written as an ordinal: 3. März."""
_WRAPPED = 60
"""A line of this length may be wrapped: it continues if the next line begins with a lower-case letter."""


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Sentence]:
    """Yield the sentences of `text[start:end]` in order. They cover everything but white space."""
    stop = len(text) if end is None else end
    line = begin = start
    for found in _ENDING.finditer(text, start, stop):
        if found["mark"] is None and text[found.start()] in "\n\r\u2028\u2029":
            ends, line = not _wraps(text, line, found, stop), found.end()
        else:
            ends = found["mark"] is None or not _abbreviates(text, begin, found.start(), found["mark"])
        if ends:
            yield from _trimmed(text, begin, found.end())
            begin = found.end()
    yield from _trimmed(text, begin, stop)


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    whole = text[start:end]
    rest = whole.lstrip()
    if rest:
        yield Sentence(end - len(rest), end - len(rest) + len(rest.rstrip()))


def _wraps(text: str, line: int, found: re.Match[str], stop: int) -> bool:
    is_one_break = found[0] in ("\n", "\r\n", "\r")
    return (
        is_one_break and found.start() - line >= _WRAPPED and text[found.end() : min(found.end() + 1, stop)].islower()
    )


def _abbreviates(text: str, begin: int, mark_at: int, mark: str) -> bool:
    """Return whether the full stop belongs to an abbreviation such as `Dr.` or `J. R. R.`, or marks a pause."""
    if mark != ".":
        return mark.startswith(("..", "…")) and text[mark_at + len(mark) : mark_at + len(mark) + 2].strip().islower()
    before = text[max(begin, mark_at - _LONGEST_ABBREVIATION) : mark_at]
    word = re.split(r"[\s(\"'“‘]", before)[-1]
    if word.isdigit():
        return len(word) <= 2 and _MONTH.match(text, mark_at + 1) is not None
    return word.lower() in _ABBREVIATIONS or (_INITIALS.fullmatch(word) is not None and word != "I")
