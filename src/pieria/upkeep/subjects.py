"""Group notes by subject: what they are about, across sessions and days.

Two notes are alike if their vectors are closer than those of other notes, and if they share rare words and names.
Whether they are on one subject is decided by the company they keep: notes that are alike to the same other notes. All
measures are relative to the notes themselves, so no embedder needs thresholds of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heapreplace
from itertools import chain
from math import log
from typing import TYPE_CHECKING, NamedTuple

from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.commonwords import COMMON, TIMES
from pieria.record.memory import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Indices = NDArray[np.int64]

READ = 2_000
"""Characters read of one note."""
NAMED, RARE, USUAL = 1.0, 0.5, 0.2
"""Weights of shared names, words and everyday words, by the log of their rarity."""
MOST_WORDS = 8.0
"""The most that the shared words of one sort count."""
SITTING = 2.0
"""What it counts, in deviations, that two notes were written in one sitting."""
LIMITS = (MOST_WORDS * NAMED, MOST_WORDS * RARE, MOST_WORDS * USUAL, SITTING)
"""The most that what two notes share counts, by its sort."""
ALIKE = 4.0
"""A note that is less like all others than this, in deviations, keeps its own company."""
NEIGHBOURS = 16
"""The notes that a note is known by."""
WINDOW = 2_048
"""Notes before a note that it is compared with."""
BLOCK, STEP, PAIRS = 512, 64, 4_096
"""Notes whose vectors and words are compared at a time, and pairs whose company is."""
ROUNDING = 1e-9
COMMON_IN = (20, 80)
"""A word in more notes of a window than a third, but at least and at most so many, tells no subject."""
TOGETHER = 0.3
"""The least mean closeness of two groups that are one subject: 1 if all keep the same company."""
MOST = 40
"""Members of a group: more are several subjects."""
PRIOR = 10
"""Notes that the spread of unrelated texts counts as, so that a small bank on one subject is not compared with itself
alone."""
SHRUNK = 20
"""Notes of nothing that the mean of the vectors counts as well, so that in a small bank it is not a subject."""
SAMPLE = 2_000
_NAME = re.compile(r"\b(?:(?<=[^\W_],\s)[^\W\d_a-z]\w+|(?<=[^\W_]\s)[^\W\d_a-z]\w+|\w*[a-z][A-Z]\w*|\w+[-_./]\w*\d\w*)")


class Spread(NamedTuple):
    """The usual similarity of two unrelated texts, and its deviation."""

    middle: float
    width: float


@dataclass(frozen=True, slots=True)
class Note:
    """What is compared of a memory."""

    words: frozenset[str]
    names: frozenset[str]
    """Those of the words that may be names: with a capital within a sentence, or with a shape of their own."""
    sitting: int | None = None
    """A number that notes have in common that were written in one go."""


def note_of(memory: Memory, sitting: int | None = None) -> Note:
    text = f"{memory.title or ''} {memory.text[:READ]}"
    labels = " ".join((*memory.tags, *memory.entities))
    telling = {*terms(f"{text} {labels}")} - STOP_WORDS - TIMES
    said = frozenset(term for term in telling if len(term) > 2 and term[0].isalpha())
    return Note(said, frozenset(terms(f"{' '.join(_NAME.findall(text))} {labels}")) & said, sitting)


def subjects(
    notes: Sequence[Note], vectors: Matrix, before: Sequence[Sequence[int]] = (), prior: Spread | None = None
) -> list[list[int]]:
    """Return groups of note numbers, each in order; notes that are on a subject of their own are left out.

    The notes are in order of time. A row of zeros is a note without a vector. Each group of `before` stays together,
    may grow, and never joins another of them. `prior` is how alike unrelated texts are to this embedder.
    """
    if len(notes) < 2:
        return []
    closest = _closest(notes, vectors, prior)
    company = _company(closest, ALIKE if vectors.any() else ALIKE / 2)
    clusters = _Clusters(company, before)
    clusters.join()
    return sorted(sorted(group) for group in clusters.groups() if len(group) > 1)


def spread_of(vectors: Matrix) -> Spread | None:
    """Return how alike pairs of these vectors are; None for fewer than three, or if all are the same."""
    import numpy as np

    count = len(vectors)
    if count < 3:
        return None
    draw = np.random.default_rng(count)
    one = draw.integers(0, count, SAMPLE)
    other = (one + draw.integers(1, count, SAMPLE)) % count
    alike = np.einsum("ij,ij->i", vectors[one], vectors[other])
    middle = float(np.median(alike))
    width = 1.4826 * float(np.median(np.abs(alike - middle)))
    return Spread(middle, width) if width > 1e-6 else None


class _Closest(NamedTuple):
    """The notes most like each one, in rows of the same length, and how alike they are: 0 where there are none."""

    others: Indices
    alike: Matrix


def _closest(notes: Sequence[Note], vectors: Matrix, prior: Spread | None) -> _Closest:
    import numpy as np

    count = len(notes)
    centred, spread, has = _centred(vectors, prior)
    words = _Words(notes)
    kept = min(NEIGHBOURS, count - 1)
    found: list[tuple[Indices, Indices, Matrix]] = []
    for begin, alike in _products(centred):
        end, first = min(begin + BLOCK, count), max(0, begin - WINDOW)
        np.subtract(alike, spread.middle, out=alike)
        np.divide(alike, spread.width, out=alike)
        alike[~has[begin:end]] = 0
        alike[:, ~has[first:end]] = 0
        # Words are counted in up to one more window.
        counted = max(0, (begin - BLOCK) // WINDOW * WINDOW - WINDOW)
        for start in range(begin, end, STEP):
            rows = np.arange(start, min(start + STEP, end))
            part = alike[rows - begin, : rows[-1] + 1 - first]
            part += words.shared(rows, first, counted)
            part[:, start - first :] = np.tril(part[:, start - first :], -1)
            near = np.argpartition(part, -kept)[:, -kept:]
            weights = np.take_along_axis(part, near, 1)
            row, column = np.nonzero(weights > 0)
            found.append((rows[row], near[row, column] + first, weights[row, column] ** 2))
    one, other, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    return _nearest(count, kept, np.r_[one, other], np.r_[other, one], np.r_[weight, weight])


def _products(centred: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yield the first note of each block, and the products of the block's vectors with those of the window before."""
    count = len(centred)
    for start in range(0, count, WINDOW):
        begins = range(start, min(start + WINDOW, count), BLOCK)
        # Threads of numpy's library stay busy for a while after each product, so make several in a row.
        yield from [(at, centred[at : at + BLOCK] @ centred[max(0, at - WINDOW) : at + BLOCK].T) for at in begins]


def _centred(vectors: Matrix, prior: Spread | None) -> tuple[Matrix, Spread, NDArray[np.bool_]]:
    """Return the vectors without what they all share, and how alike two of them usually are."""
    import numpy as np

    has = np.any(vectors != 0, axis=1)
    count = int(has.sum())
    shared = vectors[has].sum(axis=0) / (count + SHRUNK)
    centred: Matrix = vectors - shared
    centred[~has] = 0
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    own = spread_of(centred[has])
    if own is None or prior is None:
        return centred, own or prior or Spread(0.0, 0.1), has
    share = count / (count + PRIOR)
    pooled = (share * mine + (1 - share) * usual for mine, usual in zip(own, prior, strict=True))
    return centred, Spread(*pooled), has


def _nearest(count: int, kept: int, one: Indices, other: Indices, weight: Matrix) -> _Closest:
    """Return the heaviest pairs of each note."""
    import numpy as np

    # A positive float is in the order of its bits, and one key sorts faster than two.
    order = np.argsort((one << 32) - weight.view(np.uint32), kind="stable")
    one, other, weight = one[order], other[order], weight[order]
    starts = np.searchsorted(one, np.arange(count))
    rank = np.arange(len(one)) - starts[one]
    chosen = rank < kept
    others = np.zeros((count, kept), np.int64)
    alike = np.zeros((count, kept), np.float32)
    others[one[chosen], rank[chosen]] = other[chosen]
    alike[one[chosen], rank[chosen]] = weight[chosen]
    return _Closest(others, alike)


class _Words:
    """How much the words that notes share tell, and their sitting. Each is a sign, and has a number."""

    def __init__(self, notes: Sequence[Note]) -> None:
        import numpy as np

        told = _told(notes)
        numbers = {sign: number for number, sign in enumerate(told)}
        each = [[numbers[sign] for sign in (*note.words, note.sitting) if sign in numbers] for note in notes]
        lengths = np.array(list(map(len, each)))
        self._count = len(notes)
        self._sorts = np.array([sort for sort, _ in told.values()], np.int64)
        self._weights = np.array([weight for _, weight in told.values()], np.float32)
        # The signs of one note after another. In the sorted keys, the notes of one sign follow another.
        self._starts = np.r_[0, np.cumsum(lengths)]
        self._signs = np.fromiter(chain.from_iterable(each), np.int64, self._starts[-1])
        keys = self._signs * self._count + np.repeat(np.arange(self._count), lengths)
        order = np.argsort(keys)
        self._keys = keys[order]
        self._places = np.empty_like(order)
        self._places[order] = np.arange(len(order))

    def shared(self, rows: Indices, first: int, counted: int) -> Matrix:
        """Return a line for each note of `rows`: what it shares with each earlier note from `first`.

        A word in too many notes from `counted` tells nothing.
        """
        import numpy as np

        held = slice(self._starts[rows[0]], self._starts[rows[-1] + 1])
        signs, places = self._signs[held], self._places[held]
        note = np.repeat(rows, np.diff(self._starts[rows[0] : rows[-1] + 2]))
        sorts = self._sorts[signs]
        least, most = COMMON_IN
        tells = np.clip((note - first) // 3, least, most)
        tells[sorts == len(LIMITS) - 1] = self._count
        known = places - np.searchsorted(self._keys, signs * self._count + counted)
        near = np.searchsorted(self._keys, signs * self._count + first)
        lengths = np.where(known <= tells, places - near, 0)
        ends = np.cumsum(lengths)
        others = self._keys[np.arange(lengths.sum()) + np.repeat(near - ends + lengths, lengths)] % self._count
        width = rows[-1] + 1 - first
        cells = np.repeat((note - rows[0]) * width - first, lengths) + others
        sorts, weights = np.repeat(sorts, lengths), np.repeat(self._weights[signs], lengths)
        shared = np.zeros(len(rows) * width, np.float32)
        sums = np.zeros_like(shared)
        # Few cells have a sum, so all others stay untouched.
        for sort, limit in enumerate(LIMITS):
            some = sorts == sort
            at = cells[some]
            np.add.at(sums, at, weights[some])
            shared[at] += np.minimum(sums[at], np.float32(limit))
            sums[at] = 0
        return shared.reshape(len(rows), width)


def _told(notes: Sequence[Note]) -> dict[str | int | None, tuple[int, float]]:
    """Return the sort and weight of each word and each sitting of several notes."""
    found = Counter(chain.from_iterable(note.words for note in notes))
    small = set(chain.from_iterable(note.words - note.names for note in notes))
    usual = _usual()
    total = len(notes)
    told: dict[str | int | None, tuple[int, float]] = {}
    for word, number in found.items():
        if number > 1:
            sort, weight = (2, USUAL) if word in usual else (0, NAMED) if word not in small else (1, RARE)
            told[word] = sort, weight * log(total / number) if total > number else weight * log(2)
    sittings = Counter(note.sitting for note in notes if note.sitting is not None)
    return told | {sitting: (3, SITTING) for sitting, number in sittings.items() if number > 1}


@cache
def _usual() -> frozenset[str]:
    """Return the terms of everyday words."""
    return frozenset(terms(" ".join(COMMON)))


class _Company(NamedTuple):
    """The notes that each note is alike to, itself last, and how much: each line of weights is a vector of length 1."""

    others: Indices
    weights: NDArray[np.float64]


def _company(closest: _Closest, least: float) -> _Company:
    import numpy as np

    own = np.maximum(0.5 * closest.alike.max(axis=1), least**2)
    length = np.sqrt((closest.alike.astype(np.float64) ** 2).sum(axis=1) + own**2)
    others = np.c_[closest.others, np.arange(len(own))]
    return _Company(others, np.c_[closest.alike, own] / length[:, None])


def _likely_pairs(company: _Company, grouped: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a note and an earlier one that it is alike to, without those that keep too different company.

    Pairs with a note of `grouped` are all among them: the company of their groups is not known here.
    """
    import numpy as np

    number, place = np.nonzero(company.weights > 0)
    other = company.others[number, place]
    number, other = number[other < number], other[other < number]
    width = company.others.shape[1]
    for start in range(0, len(number), PAIRS):
        one, two = number[start : start + PAIRS], other[start : start + PAIRS]
        same = company.others[one][:, :, None] == company.others[two][:, None, :]
        pair, cell = np.divmod(np.flatnonzero(same), width * width)
        left, right = np.divmod(cell, width)
        shared = company.weights[one[pair], left] * company.weights[two[pair], right]
        near = np.bincount(pair, shared, len(one)) >= TOGETHER - ROUNDING
        near |= grouped[one] | grouped[two]
        yield from zip(one[near].tolist(), two[near].tolist(), strict=True)


class _Clusters:
    """Groups that grow by the closest pair first, as long as all of the two keep the same company on average."""

    def __init__(self, company: _Company, before: Sequence[Sequence[int]]) -> None:
        self._company = company
        self._sums = [
            {other: weight for other, weight in zip(*row, strict=True) if weight > 0}
            for row in zip(company.others.tolist(), company.weights.tolist(), strict=True)
        ]
        self._members = {number: [number] for number in range(len(self._sums))}
        self._of = list(range(len(self._sums)))
        self._fixed: set[int] = set()
        for group in before:
            first, *others = group
            for other in others:
                self._merge(self._of[first], self._of[other])
            self._fixed.add(self._of[first])

    def groups(self) -> Iterable[list[int]]:
        return self._members.values()

    def join(self) -> None:
        import numpy as np

        queue = []
        grouped = np.array([len(self._members[group]) > 1 for group in self._of])
        for number, other in _likely_pairs(self._company, grouped):
            near = self._closeness(self._of[number], self._of[other])
            if near >= TOGETHER:
                queue.append((-near, number, other))
        heapify(queue)
        while queue:
            promised, number, other = queue[0]
            one, two = self._of[number], self._of[other]
            near = self._closeness(one, two) if one != two and self._may_join(one, two) else 0.0
            if near < TOGETHER:
                heappop(queue)
            elif -near > promised + ROUNDING:
                heapreplace(queue, (-near, number, other))
            else:
                heappop(queue)
                self._merge(one, two)

    def _may_join(self, one: int, other: int) -> bool:
        return not {one, other} <= self._fixed and len(self._members[one]) + len(self._members[other]) <= MOST

    def _closeness(self, one: int, other: int) -> float:
        """Return the mean similarity of company over all pairs."""
        small, large = self._sums[one], self._sums[other]
        if len(small) > len(large):
            small, large = large, small
        common = 0.0
        for number in small.keys() & large.keys():
            common += small[number] * large[number]
        return common / (len(self._members[one]) * len(self._members[other]))

    def _merge(self, one: int, other: int) -> None:
        if one == other:
            return
        if len(self._members[one]) < len(self._members[other]):
            one, other = other, one
        sums = self._sums[one]
        for number, weight in self._sums[other].items():
            sums[number] = sums.get(number, 0.0) + weight
        self._sums[other] = {}
        moved = self._members.pop(other)
        self._members[one] += moved
        for number in moved:
            self._of[number] = one
        if other in self._fixed:
            self._fixed.add(one)
