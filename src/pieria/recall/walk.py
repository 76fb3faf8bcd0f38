"""The state shared by the pages of one recall, so that a later page can go on from the first.

A walk sees the bank of its first page: the moment, the known time and the counts that scores use are pinned. The order
is a rule under these pins (score, then row). Where a bounded look-up could choose otherwise after more writes, it is
the list of rows chosen. Looking up and ranking do not belong here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pieria.recall.bm25 import Corpus, corpus
from pieria.record import cursor as writing
from pieria.record.cursor import is_share, is_whole

LISTED = 400
"""Rows that a cursor lists in order: about 1.5 kB of it."""
PASSED = 12_000
"""Further rows that a cursor may name: those already shown on a very large first page."""
LEFT_OUT = -1
"""Marks the frequency of a term that was not looked up, because the query is too long."""
STAGES = ("everything", "done")
EXPECTED = "the cursor of this very question, filter and bank"
MOMENTS = 2**62


@dataclass(frozen=True, slots=True)
class Pins:
    """The bank as the first page saw it. `known` is by source name, in the order of the sources."""

    now: int
    known: tuple[tuple[str, int], ...]
    documents: int
    length: int
    frequencies: tuple[int, ...]
    """The frequency of each considered term, in order."""
    confidence: float = 0.0

    def corpus(self, terms: Sequence[str]) -> Corpus:
        return corpus(self.documents, self.length, self.asked(terms))

    def asked(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return the terms to look up, each with its frequency."""
        paired = zip(terms, self.frequencies, strict=True)
        return {term: frequency for term, frequency in paired if frequency != LEFT_OUT}


class Reranked(NamedTuple):
    """A reranked row by code: the worth of its place, and the model's score; None if the model gave none."""

    code: int
    worth: float
    score: float | None


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the next page begins: the listed rows, then the rows of a full look-up after `last`.

    `passed` are the candidates of the first page, shown, listed or left out. A look-up must not return them again, and
    every later candidate is scored together with them.
    """

    mark: str
    pins: Pins
    stage: str = "everything"
    passed: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    last: tuple[float, int, int] | None = None
    reranked: tuple[Reranked, ...] = ()
    lowest: float = 1.0
    """The lowest score shown so far. Scores fall over all pages."""

    def code(self, which: int, row: int) -> int:
        """Return one number for a source and a row."""
        return row * len(self.pins.known) + which

    def place(self, code: int) -> tuple[int, int]:
        """Return (index of the source, row)."""
        row, which = divmod(code, len(self.pins.known))
        return which, row

    def cursor(self) -> str:
        """Return the cursor. Listed rows keep their order; rows that were only shown do not need one."""
        pins = self.pins
        shown = sorted(set(self.passed) - set(self.listed))
        return writing.written(
            [
                self.mark, pins.now, pins.known, pins.documents, pins.length, pins.frequencies, pins.confidence,
                STAGES.index(self.stage), _gaps(shown), self.listed, self.last,
                [one for one in self.reranked if one.code in self.listed], self.lowest,
            ]
        )  # fmt: skip


def walk_of(cursor: object, mark: str, terms: int, names: Sequence[str]) -> Walk:
    """Return the walk that a cursor continues. Raise `InputError` if the cursor is invalid or of another query
    or bank."""
    (made_for, now, known, documents, length, frequencies, confidence, stage, gaps, listed, last, places, lowest) = (
        writing.parts_of(cursor, EXPECTED, 13)
    )
    fits = (
        made_for == mark
        and is_whole(now, -MOMENTS, MOMENTS)
        and _is_known(known, names)
        and is_whole(documents)
        and is_whole(length)
        and _are_whole(frequencies, LEFT_OUT, terms)
        and len(frequencies) == terms
        and is_share(confidence)
        and is_whole(stage, 0, len(STAGES) - 1)
        and _are_whole(gaps, 1, PASSED)
        and _are_whole(listed, 1, PASSED)
        and sum(gaps) <= 2**53
        and _is_key(last, len(known))
        and _are_places(places, listed)
        and is_share(lowest)
    )
    if not fits:
        raise writing.foreign(cursor, EXPECTED)
    pins = Pins(now, tuple((name, moment) for name, moment in known), documents, length, tuple(frequencies), confidence)
    passed = (*_sums(gaps), *listed)
    if len(set(passed)) != len(passed):
        raise writing.foreign(cursor, EXPECTED)
    reranked = tuple(Reranked(*place) for place in places)
    after = None if last is None else tuple(last)
    return Walk(made_for, pins, STAGES[stage], passed, tuple(listed), after, reranked, lowest)


def _is_known(value: Any, names: Sequence[str]) -> bool:
    """Return whether it lists some of the sources, in their order, each with a moment."""
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(pair, list) and len(pair) == 2 and is_whole(pair[1], 0, MOMENTS) for pair in value):
        return False
    held = [pair[0] for pair in value]
    return held == [name for name in names if name in held]


def _are_whole(value: Any, low: int, most: int) -> bool:
    return isinstance(value, list) and len(value) <= most and all(is_whole(item, low) for item in value)


def _is_key(value: Any, sources: int) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, list)
        and len(value) == 3
        and type(value[0]) in (int, float)
        and -1 <= value[0] <= 0
        and is_whole(value[1], 0, sources - 1)
        and is_whole(value[2], -(2**53), 0)
    )


def _are_places(value: Any, listed: Sequence[int]) -> bool:
    """Return whether it holds distinct listed rows, each with the worth of its place and a score or None."""
    if not isinstance(value, list) or not all(isinstance(place, list) and len(place) == 3 for place in value):
        return False
    codes = [code for code, _, _ in value]
    return (
        all(is_whole(code, 1) for code in codes)
        and len(set(codes)) == len(codes)
        and set(codes) <= set(listed)
        and all(_is_number(worth) and (score is None or _is_number(score)) for _, worth, score in value)
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _gaps(rising: Sequence[int]) -> list[int]:
    """Return the differences of a rising sequence: they are shorter to write."""
    return [number - before for before, number in zip((0, *rising), rising, strict=False)]


def _sums(gaps: Sequence[int]) -> list[int]:
    found, total = [], 0
    for gap in gaps:
        total += gap
        found.append(total)
    return found
