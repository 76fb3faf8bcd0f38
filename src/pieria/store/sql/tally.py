"""Counts a query's terms in many texts at once. Pure arithmetic on numbers of terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pieria.language.glance import Glance
from pieria.store.parts import Holdings, Parts, Run, Terms

Numbers = NDArray[np.int32]
PART, MOST_PARTS = 180, 64
"""Terms in one part of a long text, about as many as a vector represents; and the parts considered."""
LONG = PART + PART // 4
"""The least number of terms of a text with parts."""
UNKNOWN, STOP = -1, -2
"""Numbers of an unknown term and of the end of a text; no term has either."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text's terms as numbers, in order, followed by `STOP`. `length` counts all terms; for a very long text
    `numbers` holds only the first ones.
    """

    numbers: Numbers
    length: int
    distinct: int
    glance: Glance


class Texts:
    """Some texts by row, and the numbers of their terms."""

    def __init__(self, of: Mapping[int, Wording], numbers: Mapping[str, int]) -> None:
        self.of = of
        self._numbers = numbers
        each = list(of.values())
        self._whole = np.concatenate([one.numbers for one in each] or [np.empty(0, dtype=np.int32)])
        with_end = np.array([len(one.numbers) for one in each], dtype=np.intp)
        self._sizes = with_end - 1
        self._starts = np.cumsum(with_end) - with_end
        self._line = np.repeat(np.arange(len(each)), with_end)

    def holdings(self, terms: Sequence[str], runs: Sequence[Run]) -> Holdings:
        places = [self._places(term) for term in terms]
        return Holdings(
            rows=list(self.of),
            counts=self._counted(places),
            lengths=np.array([one.length for one in self.of.values()], dtype=float),
            distinct=np.array([one.distinct for one in self.of.values()], dtype=float),
            runs=self._counted([self._places_of(run) for run in runs]),
            parts=self._parts(places),
            glances=[one.glance for one in self.of.values()],
        )

    def each(self, terms: Sequence[str]) -> dict[int, Terms]:
        """Return the counts of each text, without runs."""
        counts = self.holdings(terms, ()).counts.T.astype(int).tolist()
        return {
            row: Terms(
                one.length,
                one.distinct,
                {term: number for term, number in zip(terms, counts[line], strict=True) if number},
            )
            for line, (row, one) in enumerate(self.of.items())
        }

    def _places(self, term: str) -> NDArray[np.intp]:
        return np.flatnonzero(self._whole == self._numbers.get(term, UNKNOWN))

    def _places_of(self, run: Run) -> NDArray[np.intp]:
        """Return where the run begins. `STOP` after each text keeps a run from crossing into the next."""
        found = self._places(run[0])
        for ahead, term in enumerate(run[1:], 1):
            found = found[found + ahead < len(self._whole)]
            found = found[self._whole[found + ahead] == self._numbers.get(term, UNKNOWN)]
        return found

    def _counted(self, places: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
        found = np.zeros((len(places), len(self.of)))
        for number, where in enumerate(places):
            found[number] = np.bincount(self._line[where], minlength=len(self.of))
        return found

    def _parts(self, places: Sequence[NDArray[np.intp]]) -> Parts:
        """Return the parts of all long texts that contain any of the terms, in order."""
        is_long = self._sizes >= LONG
        if not is_long.any() or not places:
            return Parts(np.empty(0, dtype=np.intp), np.zeros((len(places), 0)), np.empty(0))
        keys = []
        for where in places:
            line = self._line[where]
            part = (where - self._starts[line]) // PART
            keys.append((line * MOST_PARTS + part)[is_long[line] & (part < MOST_PARTS)])
        there = np.unique(np.concatenate(keys))
        counts = np.array([np.bincount(np.searchsorted(there, key), minlength=len(there)) for key in keys], dtype=float)
        lines, numbers = there // MOST_PARTS, there % MOST_PARTS
        lengths = np.minimum(PART, self._sizes[lines] - numbers * PART)
        return Parts(lines, counts, lengths.astype(float))
