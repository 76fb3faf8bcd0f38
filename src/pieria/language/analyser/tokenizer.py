"""The tokenizer: turn a text into terms, quickly.

Every written text passes through here, so the analysis of each space-delimited word is cached. What only queries need
belongs in `question`.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import NamedTuple

from pieria.language.analyser.fold import fold, fold_aligned
from pieria.language.analyser.stem import stem
from pieria.language.analyser.tokens import tokens
from pieria.language.analyser.words import LONGEST, Placed

_SPACELESS = re.compile(r"\S+")
_SIMPLE = re.compile(r"""[("'\[{*]*([A-Z]?[a-z]+|[A-Z]+s?)[.,;:!?)"'\]}*]*""")
"""An ordinary word with its punctuation. Most words match and need no further analysis."""
_ESCAPE = "\x1b"
_COLOURING = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
"""Terminal control sequences (CSI), such as colours. They show nothing and may occur inside a word. Any other escape
character separates words.
"""


class Span(NamedTuple):
    """A term and its position in the text: `text[start:end]`."""

    term: str
    start: int
    end: int


class _Memory:
    """A two-generation cache of analysed words. A full `recent` replaces `earlier`, which is dropped.

    Thread-safe without a lock: each step replaces one reference. Threads may repeat work but never get a wrong
    result.
    """

    size = 100_000
    longest = 40

    def __init__(self) -> None:
        self.recent: dict[str, tuple[str, ...]] = {}
        self.earlier: dict[str, tuple[str, ...]] = {}

    def learn(self, word: str) -> tuple[str, ...]:
        found = self.earlier.get(word)
        if found is None:
            found = _analysed(word)
        if len(word) <= self.longest:
            if len(self.recent) >= self.size:
                self.earlier, self.recent = self.recent, {}
            self.recent[word] = found
        return found


_memory = _Memory()


def terms(text: str) -> list[str]:
    """Return the terms of any text in order, with repetitions."""
    if _ESCAPE in text:
        text = _COLOURING.sub("", text).replace(_ESCAPE, " ")
    found: list[str] = []
    recent = _memory.recent
    for word in text.split():
        known = recent.get(word)
        found += _memory.learn(word) if known is None else known
    return found


def _analysed(word: str) -> tuple[str, ...]:
    found = _ascii(word, asked=False) if word.isascii() else tokens(fold(word))
    return tuple([term for term, _, _ in found])


def _ascii(word: str, *, asked: bool) -> list[Placed]:
    simple = _SIMPLE.fullmatch(word)
    if simple and len(word) <= LONGEST:
        return [(stem(simple[1].lower()), simple.start(1), simple.end(1))]
    return tokens(word, asked=asked)


def marks(text: str, wanted: Container[str]) -> list[tuple[int, str]]:
    """Return (start of the word, term) for each wanted term. Faster than `spans`, but less precise."""
    if _ESCAPE in text:
        return [(span.start, span.term) for span in spans(text) if span.term in wanted]
    found: list[tuple[int, str]] = []
    recent = _memory.recent
    for match in _SPACELESS.finditer(text):
        held = recent.get(match[0])
        for term in _memory.learn(match[0]) if held is None else held:
            if term in wanted:
                found.append((match.start(), term))
    return found


def spans(text: str) -> list[Span]:
    """Return the terms of a text, each with its slice of the original text."""
    return placed(text, asked=False)


def placed(text: str, *, asked: bool) -> list[Span]:
    """Return `spans` of a text. With `asked`, return the terms that a query looks up instead."""
    if _ESCAPE in text:
        return _placed_in_colours(text, asked=asked)
    found: list[Span] = []
    for match in _SPACELESS.finditer(text):
        word, offset = match[0], match.start()
        held = _placed_lately(word, asked) if len(word) <= _Memory.longest else _placed(word, asked=asked)
        found += [Span(term, offset + start, offset + end) for term, start, end in held]
    return found


def _placed_in_colours(text: str, *, asked: bool) -> list[Span]:
    """Return `placed` of a text with escape sequences, with positions in the original text."""
    plain: list[str] = []
    origins: list[int] = []
    start = 0
    for start_of_next, end in (*(found.span() for found in _COLOURING.finditer(text)), (len(text), len(text))):
        plain.append(text[start:start_of_next].replace(_ESCAPE, " "))
        origins += range(start, start_of_next)
        start = end
    return [
        Span(term, origins[first], origins[after - 1] + 1) for term, first, after in placed("".join(plain), asked=asked)
    ]


@lru_cache(maxsize=20_000)
def _placed_lately(word: str, asked: bool) -> tuple[Placed, ...]:
    return tuple(_placed(word, asked=asked))


def _placed(word: str, *, asked: bool) -> list[Placed]:
    if word.isascii():
        return _ascii(word, asked=asked)
    folded, starts, ends = fold_aligned(word)
    return [(term, starts[start], ends[end - 1]) for term, start, end in tokens(folded, asked=asked)]
