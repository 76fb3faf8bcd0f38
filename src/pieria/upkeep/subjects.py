"""Group notes by subject: what they are about, across sessions and days.

Two notes are alike if their vectors are closer than those of other notes, and if they share rare words and names.
Whether they are on one subject is decided by the company they keep: notes that are alike to the same other notes. All
measures are relative to the notes themselves, so no embedder needs thresholds of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heapreplace
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
ALIKE = 4.0
"""A note that is less like all others than this, in deviations, keeps its own company."""
NEIGHBOURS = 16
"""The notes that a note is known by."""
WINDOW = 2_048
"""Notes before a note that it is compared with."""
BLOCK = 512
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
_NAME = re.compile(r"(?<=[^\W_],\s)[^\W\d_a-z]\w+|(?<=[^\W_]\s)[^\W\d_a-z]\w+|\w*[a-z][A-Z]\w*|\w+[-_./]\w*\d\w*")


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
    said = frozenset(term for term in terms(f"{text} {labels}") if _tells(term))
    return Note(said, frozenset(terms(f"{' '.join(_NAME.findall(text))} {labels}")) & said, sitting)


def _tells(term: str) -> bool:
    return len(term) > 2 and term[0].isalpha() and term not in STOP_WORDS and term not in TIMES


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
    company = _company(len(notes), closest, ALIKE if vectors.any() else ALIKE / 2)
    clusters = _Clusters(company, before)
    clusters.join(closest)
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
    for begin in range(0, count, BLOCK):
        end, first = min(begin + BLOCK, count), max(0, begin - WINDOW)
        alike = (centred[begin:end] @ centred[first:end].T - spread.middle) / spread.width
        alike[~has[begin:end]] = 0
        alike[:, ~has[first:end]] = 0
        for number in range(begin, end):
            row = alike[number - begin, : number - first]
            row += words.shared(number, first)
            np.maximum(row, 0, out=row)
            near = np.argpartition(row, -kept)[-kept:] if len(row) > kept else np.arange(len(row))
            near = near[row[near] > 0]
            found.append((np.full(len(near), number), near + first, row[near] ** 2))
        if begin % WINDOW == 0:
            words.forget(begin - WINDOW)
    one, other, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    return _nearest(count, kept, np.r_[one, other], np.r_[other, one], np.r_[weight, weight])


def _centred(vectors: Matrix, prior: Spread | None) -> tuple[Matrix, Spread, NDArray[np.bool_]]:
    """Return the vectors without what they all share, and how alike two of them usually are."""
    import numpy as np

    has = np.any(vectors != 0, axis=1)
    count = int(has.sum())
    shared = vectors[has].sum(axis=0) / (count + SHRUNK)
    centred = np.where(has[:, None], vectors - shared, 0).astype(np.float32)
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

    order = np.lexsort((-weight, one))
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
    """How much the words that a note shares with earlier ones tell."""

    def __init__(self, notes: Sequence[Note]) -> None:
        import numpy as np

        self._notes, self._numpy = notes, np
        found = Counter(word for note in notes for word in note.words)
        small = {word for note in notes for word in note.words - note.names}
        usual = _usual()
        total = len(notes)
        self._weights: dict[str, tuple[int, float]] = {}
        for word, number in found.items():
            sort, weight = (2, USUAL) if word in usual else (0, NAMED) if word not in small else (1, RARE)
            if number > 1:
                self._weights[word] = sort, weight * log(total / number) if total > number else weight * log(2)
        self._seen: defaultdict[str, list[int]] = defaultdict(list)
        self._sittings: defaultdict[int, list[int]] = defaultdict(list)

    def shared(self, number: int, first: int) -> Matrix:
        """Return the weight of what is shared with each note from `first` to before `number`."""
        np = self._numpy
        sums = np.zeros((3, number - first), np.float32)
        least, most = COMMON_IN
        tells = max(least, min(most, (number - first) // 3))
        for word in self._notes[number].words:
            held = self._weights.get(word)
            if held is None:
                continue
            places = self._seen[word]
            if places and len(places) <= tells:
                near = np.array(places) - first
                sums[held[0], near[near >= 0]] += held[1]
            places.append(number)
        limits = MOST_WORDS * np.array([[NAMED], [RARE], [USUAL]], np.float32)
        shared: Matrix = np.minimum(sums, limits).sum(axis=0)
        sitting = self._notes[number].sitting
        if sitting is not None:
            near = np.array(self._sittings[sitting], np.int64) - first
            shared[near[near >= 0]] += SITTING
            self._sittings[sitting].append(number)
        return shared

    def forget(self, before: int) -> None:
        """Drop what lies before the window."""
        if before > 0:
            for word, places in list(self._seen.items()):
                kept = [place for place in places if place >= before]
                if kept:
                    self._seen[word] = kept
                else:
                    del self._seen[word]


@cache
def _usual() -> frozenset[str]:
    """Return the terms of everyday words."""
    return frozenset(terms(" ".join(COMMON)))


def _company(count: int, closest: _Closest, least: float) -> list[dict[int, float]]:
    """Return for each note the notes it is alike to, itself included, as a vector of length 1."""
    import numpy as np

    own = np.maximum(0.5 * closest.alike.max(axis=1), least**2)
    length = np.sqrt((closest.alike.astype(np.float64) ** 2).sum(axis=1) + own**2)
    rows = []
    for number in range(count):
        row = dict(zip(closest.others[number].tolist(), (closest.alike[number] / length[number]).tolist(), strict=True))
        rows.append(
            {other: weight for other, weight in row.items() if weight > 0} | {number: own[number] / length[number]}
        )
    return rows


class _Clusters:
    """Groups that grow by the closest pair first, as long as all of the two keep the same company on average."""

    def __init__(self, company: Sequence[Mapping[int, float]], before: Sequence[Sequence[int]]) -> None:
        self._sums: dict[int, dict[int, float]] = {number: dict(row) for number, row in enumerate(company)}
        self._members = {number: [number] for number in range(len(company))}
        self._of = list(range(len(company)))
        self._fixed: set[int] = set()
        for group in before:
            first, *others = group
            for other in others:
                self._merge(self._of[first], self._of[other])
            self._fixed.add(self._of[first])

    def groups(self) -> Iterable[list[int]]:
        return self._members.values()

    def join(self, closest: _Closest) -> None:
        queue = []
        for number, (others, alike) in enumerate(zip(closest.others.tolist(), closest.alike.tolist(), strict=True)):
            for other, weight in zip(others, alike, strict=True):
                if weight > 0 and other < number:
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
            elif -near > promised + 1e-9:
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
        for number, weight in self._sums.pop(other).items():
            sums[number] = sums.get(number, 0.0) + weight
        moved = self._members.pop(other)
        self._members[one] += moved
        for number in moved:
            self._of[number] = one
        if other in self._fixed:
            self._fixed.add(one)
