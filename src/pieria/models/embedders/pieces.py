"""Counting a text in the pieces a model reads, so that passages can be cut to what it takes in.

A model with a tokenizer of its own counts with that; for one that cannot be asked there is an estimate.
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
"""Scripts of which a letter is a piece."""


class Pieces(Protocol):
    @property
    def limit(self) -> int:
        """How many pieces of a text the model reads; the rest is cut off."""

    def count(self, text: str) -> int: ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where in the text each piece stands, in order: `text[start:end]`."""


class WordPieces:
    """The pieces of a WordPiece tokenizer, and their ids with the marks around them that the model was trained on."""

    # Reading starts with this many characters of a long text: more than fill the model in most scripts.
    _PREFIX = 4_096

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        # The file of a published model may cut and pad as it likes; here it does neither.
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
        """What the model is given, and whether that is less than the text.

        No more of the text is read than is needed. It is cut between words alone, where no piece spans the cut.
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
    """The last place before the end at which a word is over, or 0. Not all that looks like space is read as such."""
    return max(text.rfind(" ", 0, end), text.rfind("\n", 0, end), 0)


class EstimatedPieces:
    """Pieces for a model whose tokenizer is not at hand: about as many as common ones make of the text, or more."""

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
