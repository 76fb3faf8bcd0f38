"""Passages: a long text in pieces that one vector can stand for, cut where a reader would pause.

Exists because an embedder reads some two hundred words and no more, and because a passage that begins in the middle of
a thought means something else. Everything of a text lies in some passage. What a passage scores belongs to recall.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pieria.record.letters import UNSPACED
from pieria.record.sentences import sentences

LIMIT = 900
"""Characters of a passage."""
WORDS = 180
"""Words of a passage. A character of a script without spaces counts as one."""


LEAD = 200
"""Characters of the beginning that stand for a whole text for a while: they are embedded in a fifth of the time that a
passage takes, and what a text is about mostly stands there."""


class Passage(NamedTuple):
    """`text[start:end]`."""

    start: int
    end: int


class _Piece(NamedTuple):
    """What is not cut any further: a paragraph or a turn that fits, a sentence, a line of code, or part of one."""

    start: int
    end: int
    block: int
    code: bool = False
    cut: bool = False
    """Whether its block had to be cut."""
    repeats: bool = False
    """Whether it is a whole sentence, which the next passage may begin with again."""


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
    """How far a passage may reach."""

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
    """The passages of a text in order, none beyond `limit` characters; they hold everything but white space.

    A text that fits is one passage. A longer one is cut before a turn, at a blank line, around a fenced block of code,
    then between sentences, then between words. Where a paragraph had to be cut, a passage begins with the last
    sentence of the one before it.
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
    """The beginning of a text, which is all of one that is short."""
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
    """(start, end, whether it is code): paragraphs and turns with what follows them, and fenced blocks."""
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
    """The piece, or where it is too long what it falls into, between words if possible."""
    repeats = like.repeats and end <= size.reach(start)
    while start < end:
        reach = min(size.reach(start), end)
        bound = reach if reach == end else _bound(text, start, reach)
        first, last = _trimmed(text, start, bound)
        if first < last:
            yield like._replace(start=first, end=last, repeats=repeats)
        start = bound


def _bound(text: str, start: int, reach: int) -> int:
    """Where to cut: before the last word that does not fit, after the last pause, or between two characters."""
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
    """Whether the character is drawn as part of the one before it."""
    return char in _JOINERS or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"
