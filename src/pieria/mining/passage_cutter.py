"""Cut a file into passages that can be read alone: at definitions and headings first, then at pauses.

The passages together are the complete text. No word is cut. This module does not know how a bank stores passages.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pieria.language.letters import UNSPACED
from pieria.language.sentences import sentences

LIMIT = 2_400
"""Characters of a passage, such as a function or section. The bank embeds it in pieces that fit its model."""
LEAST = 400
"""A passage does not end before this length for a better place to cut."""
CODE, MARKDOWN, PROSE = "code", "markdown", "prose"

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})([^\n]*)")
_HEADING = re.compile(r"(#{1,6})\s")
_CLOSING = re.compile(r"\s*[\])}>;,]*\s*\Z|\s*(?:end|else|elif|except|finally|then|fi|done)\b")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_JOINERS = "\u200d\ufe0e\ufe0f"
_WITHIN_WORDS = "_'’"
_TAB = 4
_DEEPEST = 20
_BLANK_BEFORE, _NONE_BEFORE = 0, 30
"""Penalty on cutting at a line without a blank line before it."""
_IN_FENCE = 90


class Bound(NamedTuple):
    """A place to cut; a lower rank is better."""

    at: int
    rank: int


def cut(text: str, kind: str = PROSE, limit: int = LIMIT, least: int = LEAST) -> list[str]:
    """Return the passages of a text, in order. Blank text joins the passage before it; an all-blank text has none."""
    if not text.strip():
        return []
    bounds = list(_BOUNDS[kind](text)) if len(text) > limit else []
    places = [bound.at for bound in bounds]
    passages, begin = [], 0
    while len(text) - begin > limit:
        first, last = bisect_left(places, begin + min(least, limit // 2)), bisect_right(places, begin + limit)
        at = _best(bounds[first:last]) or _pause(text, begin, min(least, limit // 2), limit)
        if at is None:
            break
        passages.append(text[begin:at])
        begin = at
    return _without_blank([*passages, text[begin:]])


def _without_blank(passages: Sequence[str]) -> list[str]:
    """Join passages of only white space to their neighbour."""
    kept: list[str] = []
    carried = ""
    for passage in passages:
        if passage.strip():
            kept.append(carried + passage)
            carried = ""
        elif kept:
            kept[-1] += passage
        else:
            carried += passage
    return kept


def _best(within_reach: Sequence[Bound]) -> int | None:
    """Return the last of the best places."""
    return min(within_reach, key=lambda bound: (bound.rank, -bound.at)).at if within_reach else None


def _pause(text: str, begin: int, least: int, limit: int) -> int | None:
    """Return a place to cut within a line: the last sentence in reach, else the last word, else the end of a long
    word.

    None if there is no such place up to the end.
    """
    reach = begin + limit
    ends = [sentence.start for sentence in sentences(text, begin, reach) if sentence.start >= begin + least]
    if ends and not cuts_word(text, ends[-1]):
        return ends[-1]
    near = range(reach, begin + max(least, 1) - 1, -1)
    spaced = next((at for at in near if text[at - 1].isspace() and not text[at].isspace()), None)
    if spaced is not None:
        return spaced
    beyond = range(reach + 1, len(text))
    free = (at for where in (near, beyond) for at in where if not text[at].isspace() and not cuts_word(text, at))
    return next(free, None)


def cuts_word(text: str, at: int) -> bool:
    """Return whether a cut there would split a word or a combined character."""
    before, behind = text[at - 1], text[at]
    if before.isspace() or behind.isspace():
        return False
    if behind in _JOINERS or before in _JOINERS or unicodedata.category(behind)[0] == "M":
        return True
    if _UNSPACED.match(before) or _UNSPACED.match(behind):
        return False
    return _wordlike(before) and _wordlike(behind)


def _wordlike(char: str) -> bool:
    return char.isalnum() or char in _WITHIN_WORDS or unicodedata.category(char)[0] == "M"


def _code_bounds(text: str) -> Iterator[Bound]:
    """Yield the lines; the best are the least indented with a blank line before them, where something new begins."""
    blank = False
    for line in _LINE.finditer(text):
        written = line[0]
        if written.isspace():
            blank = True
            continue
        if line.start() and not _CLOSING.match(written):
            yield Bound(line.start(), _indent(written) + (_BLANK_BEFORE if blank else _NONE_BEFORE))
        blank = False


def _markdown_bounds(text: str) -> Iterator[Bound]:
    """Yield headings by level, then paragraphs, then lines. Lines in a fenced block are the last choice."""
    blank, fence = False, ""
    for line in _LINE.finditer(text):
        written = line[0]
        mark = _FENCE.match(written)
        heading = None if fence else _HEADING.match(written)
        if written.isspace():
            blank = True
        elif line.start():
            rank = _IN_FENCE if fence else len(heading[1]) if heading else 10 if blank else 40
            yield Bound(line.start(), rank)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        blank = written.isspace()


def _prose_bounds(text: str) -> Iterator[Bound]:
    """Yield paragraphs. Lines of prose may be wrapped anywhere, so sentences are better places."""
    blank = False
    for line in _LINE.finditer(text):
        if not line[0].isspace() and blank:
            yield Bound(line.start(), 0)
        blank = line[0].isspace()


def _indent(line: str) -> int:
    wide = len(line) - len(line.lstrip())
    tabs = line[:wide].count("\t")
    return min((wide - tabs) // _TAB + tabs, _DEEPEST)


_BOUNDS = {CODE: _code_bounds, MARKDOWN: _markdown_bounds, PROSE: _prose_bounds}
