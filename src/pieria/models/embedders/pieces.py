"""The pieces (tokens) that a model reads, counted so that passages can be cut to fit.

A model with a tokenizer counts with that; other models get an estimate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_PART = re.compile(r"[^\W\d_]{1,4}|\d{1,2}|[^\s\w]|_")
_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts whose letters each count as a piece."""


class Pieces(Protocol):
    """How a model splits texts."""

    @property
    def limit(self) -> int:
        """The number of pieces that the model reads; it ignores the rest of a text."""

    def count(self, text: str) -> int: ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the position of each piece, in order: `text[start:end]`."""


class WordPieces:
    """A WordPiece tokenizer. `ids` adds the marker tokens that the model was trained with."""

    # Characters of a long text to tokenize first: enough to fill the model in most scripts.
    _PREFIX = 4_096

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        # A published tokenizer may be set to truncate and pad; both would break counting.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        blank = tokenizer.encode("")
        self._marks = len(blank.ids)
        self._end = blank.ids[-1]
        self._longest = longest

    @property
    def limit(self) -> int:
        return self._longest - self._marks

    def count(self, text: str) -> int:
        return len(self._read(text).ids)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = self._read(text).offsets
        return found

    def ids(self, text: str) -> tuple[list[int], bool]:
        """Return the model's input, and whether the text was truncated.

        Tokenizes no more of the text than needed. Cuts only between words, because no piece spans such a cut.
        """
        end = self._PREFIX
        while end < len(text):
            cut = _space_before(text, end)
            if cut:
                ids: list[int] = self._tokenizer.encode(text[:cut]).ids
                if len(ids) > self._longest:
                    break
            end *= 2
        else:
            ids = self._tokenizer.encode(text).ids
        if len(ids) <= self._longest:
            return ids, False
        return [*ids[: self._longest - 1], self._end], True

    def _read(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)


def _space_before(text: str, end: int) -> int:
    """Return the last space or newline before the end, or 0. Other whitespace may not separate pieces."""
    return max(text.rfind(" ", 0, end), text.rfind("\n", 0, end), 0)


class EstimatedPieces:
    """An estimate for a model without a known tokenizer: about as many pieces as usual, or more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    @property
    def limit(self) -> int:
        return self._limit

    def count(self, text: str) -> int:
        return len(self.offsets(text))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for match in _PART.finditer(text):
            start, end = match.span()
            if _WIDE.search(match[0]):
                found += [(place, place + 1) for place in range(start, end)]
            else:
                found.append((start, end))
        return found
