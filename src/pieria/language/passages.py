"""Passages: split a long text into pieces that fit one vector, cut where a reader would pause.

An embedder reads only about two hundred words. A passage that starts in the middle of a thought means something else.
Passages cover the whole text. Scoring them belongs in recall.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pieria.language.letters import UNSPACED
from pieria.language.sentences import sentences

LIMIT = 900
"""Most characters of a passage."""
WORDS = 180
"""Most words of a passage. A character of a script without spaces counts as one word."""


LEAD = 200
"""Characters at the beginning that represent a whole text until its passages are embedded. They take a fifth of the
time of a passage and mostly show the topic.
"""


class Passage(NamedTuple):
    """`text[start:end]`."""

    start: int
    end: int


class _Piece(NamedTuple):
    """A unit that is not split further: a paragraph or turn that fits, a sentence, a line of code, or a part of one."""

    start: int
    end: int
    block: int
    code: bool = False
    cut: bool = False
    """Whether its block had to be split."""
    repeats: bool = False
    """Whether it is a whole sentence, with which the next passage may overlap."""


_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})([^\n]*)")
_TURN = re.compile(
    r"""[ \t]{0,8} (?: [\[(] [^\])\n]{1,40} [\])] [ \t]{0,3} )?
        [*_]{0,2} \w [\w\ .'’-]{0,40} [*_]{0,2} (?: : [*_]{0,2} [ \t] | ： )""",
    re.VERBOSE,
)
_PAUSE = re.compile(r"[,;:、，；：)\]}/|-]")
_JOINERS = "\u200d\ufe0e\ufe0f"
_LONGEST_CLUSTER = 16


class _Size:
    """The size limits of a passage, applied to one text."""

    def __init__(self, text: str, limit: int, words: int) -> None:
        self._words = [word.start() for word in _WORD.finditer(text)]
        self._end = len(text)
        self._per_passage = words
        self.limit = limit

    def reach(self, start: int) -> int:
        beyond = bisect_left(self._words, start) + self._per_passage
        by_words = self._words[beyond] if beyond < len(self._words) else self._end
        return min(start + self.limit, by_words)


def passages(text: str, limit: int = LIMIT, words: int = WORDS) -> list[Passage]:
    """Return the passages of a text in order. They cover everything but white space, with at most `limit` characters
    each.

    A text that fits is one passage. A longer one is cut before a turn, at a blank line, around a fenced block of
    code, then between sentences, then between words. Inside a split paragraph, a passage begins with the last
    sentence of the passage before it.
    """
    if not text or text.isspace():
        return []
    if len(text) <= min(limit, words):
        return [Passage(0, len(text))]
    size = _Size(text, limit, words)
    if size.reach(0) >= len(text):
        return [Passage(0, len(text))]
    return list(_packed(_pieces(text, size), size))


def lead(text: str) -> str:
    """Return the beginning of a text. A short text is returned whole."""
    if len(text) <= LEAD:
        return text
    end = text.rfind(" ", LEAD // 2, LEAD + 1)
    return text[: end if end > 0 else LEAD]


def _packed(pieces: Iterable[_Piece], size: _Size) -> Iterator[Passage]:
    last: _Piece | None = None
    start = 0
    for piece in pieces:
        if last is None:
            start = piece.start
        elif not _joins(last, piece) or piece.end > size.reach(start):
            yield Passage(start, last.end)
            start = last.start if _begins_again(last, piece, size) else piece.start
        last = piece
    if last is not None:
        yield Passage(start, last.end)


def _joins(last: _Piece, piece: _Piece) -> bool:
    return last.block == piece.block or not (last.code or piece.code or piece.cut)


def _begins_again(last: _Piece, piece: _Piece, size: _Size) -> bool:
    is_short = last.end - last.start <= size.limit // 3
    return last.repeats and last.block == piece.block and is_short and piece.end <= size.reach(last.start)


def _pieces(text: str, size: _Size) -> Iterator[_Piece]:
    for block, (first, last, code) in enumerate(_blocks(text)):
        start, end = _trimmed(text, first, last)
        if start == end:
            continue
        if end <= size.reach(start):
            yield _Piece(start, end, block, code)
        elif code:
            for line in _LINE.finditer(text, start, end):
                yield from _cut(text, *_trimmed(text, *line.span()), _Piece(0, 0, block, code, cut=True), size)
        else:
            for sentence in sentences(text, start, end):
                yield from _cut(text, *sentence, _Piece(0, 0, block, cut=True, repeats=True), size)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, is code): paragraphs and turns with their continuation, and fenced blocks."""
    start, fence = 0, ""
    for line in _LINE.finditer(text):
        begin, end = line.span()
        mark = _FENCE.match(text, begin, end)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                yield start, end, True
                start, fence = end, ""
        elif mark:
            yield start, begin, False
            start, fence = begin, mark[1]
        elif line[0].isspace() or _TURN.match(text, begin, end):
            yield start, begin, False
            start = begin
    yield start, len(text), bool(fence)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    rest = text[start:end].lstrip()
    return end - len(rest), end - len(rest) + len(rest.rstrip())


def _cut(text: str, start: int, end: int, like: _Piece, size: _Size) -> Iterator[_Piece]:
    """Yield the piece, or its parts if it is too long, cut between words if possible."""
    repeats = like.repeats and end <= size.reach(start)
    while start < end:
        reach = min(size.reach(start), end)
        bound = reach if reach == end else _bound(text, start, reach)
        first, last = _trimmed(text, start, bound)
        if first < last:
            yield like._replace(start=first, end=last, repeats=repeats)
        start = bound


def _bound(text: str, start: int, reach: int) -> int:
    """Return where to cut: before the last word that does not fit, after the last pause, or between two characters."""
    if text[reach].isspace() or text[reach - 1].isspace():
        return reach
    half = start + (reach - start) // 2
    for place in range(reach - 1, half, -1):
        if text[place].isspace():
            return place
    pauses = [pause.end() for pause in _PAUSE.finditer(text, half, reach)]
    if pauses:
        return pauses[-1]
    for place in range(reach, max(half, reach - _LONGEST_CLUSTER), -1):
        if not _clings(text[place]) and text[place - 1] not in _JOINERS:
            return place
    return reach


def _clings(char: str) -> bool:
    """Return whether the character combines with the one before it."""
    return char in _JOINERS or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"
