"""The codes of one kind of vector in memory, ordered by nearness to a query vector. No SQL here.

A code is the signs of a vector. The number of signs that differ from the query's estimates how near a vector is. That
takes a millisecond for 250,000 codes; the first in this order are then scored from the vectors themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pieria.store.sql.sieves import Sieve
from pieria.store.sqlite.beside import begin
from pieria.store.sqlite.kept import Kept
from pieria.store.vectors import alike, code_width, signs, turned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Places = NDArray[np.intp]

BY_HEART = 10_000
"""Up to this many entries the vectors themselves are in memory, and every answer is exact."""
LEAST_ROOM = 1_024
BLOCK = 32_768
"""This many codes and their counts fit into the processor's cache."""
SHARED = 400_000
"""More codes than this are compared on two threads; starting the second costs as much as a few thousand codes."""
TRIAL = 16_384
"""Size of the sample of codes that estimates the distance of the nearest."""
LEAST_SHELL = 2_048
"""Least size of a shell, within which candidates are sorted better than by differing signs."""
LISTED_SHELL = 6_144
"""The same for a list of places: fewer of its entries are near, so differences tell less."""
WEIGHED = 8_192
"""Shells with more candidates than this keep the order of differing signs."""
LEAST_ERROR = 1e-6
MOST_DIFFERENCES = 65_535
TOO_MANY_GONE = 4
"""Deleted entries are swept out when they exceed this fraction (1/4) of all."""


@dataclass(frozen=True, slots=True)
class View:
    """The codes at one moment. Later additions and sweeps do not change it; deleted entries lose their row."""

    dimension: int
    count: int
    entries: NDArray[np.int64]
    rows: NDArray[np.int64]
    words: NDArray[np.uint64]
    vectors: Floats | None
    kept: Kept

    def of_rows(self, wanted: list[int]) -> Places:
        """Return the places of these rows' entries."""
        return places_of(self.rows[: self.count], wanted)

    def within(self, sieve: Sieve) -> Places:
        """Return the places of entries whose rows pass the sieve."""
        import numpy as np

        assert sieve.marks is not None
        marks = np.frombuffer(sieve.marks, dtype=np.bool_)
        # Rows beyond the marks are clipped to the last mark, which is never set.
        return np.flatnonzero(marks.take(self.rows[: self.count], mode="clip"))


def places_of(rows: NDArray[np.int64], wanted: list[int]) -> Places:
    """Return the places of the wanted rows among `rows`."""
    import numpy as np

    asked = np.zeros(int(rows.max(initial=0)) + 1, dtype=np.bool_)
    listed = np.array(wanted, dtype=np.int64)
    asked[listed[(listed > 0) & (listed < len(asked))]] = True
    return np.flatnonzero(asked[rows])


class Codes:
    """Grows at its end. The caller must hold the lock of the `Scan` it belongs to."""

    def __init__(self, dimension: int, room: int = LEAST_ROOM) -> None:
        import numpy as np

        self.dimension = dimension
        self.count = 0
        self._gone = 0
        self._entries = np.zeros(room, dtype=np.int64)
        self._rows = np.zeros(room, dtype=np.int64)
        self._words = np.zeros((code_width(dimension) // 8, room), dtype=np.uint64)
        self._vectors = np.zeros((0, dimension), dtype=np.float32)
        self._learnt = 0
        self._kept = Kept(dimension, room)

    def add(self, entries: NDArray[np.int64], rows: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Append entries; their numbers must be higher than all present ones."""
        import numpy as np

        begin, end = self.count, self.count + len(entries)
        if end > len(self._entries):
            self._make_room(end)
        self._entries[begin:end] = entries
        self._rows[begin:end] = rows
        self._words[:, begin:end] = np.ascontiguousarray(codes).view(np.uint64).T
        self.count = end

    def _make_room(self, least: int) -> None:
        import numpy as np

        room = max(least, len(self._entries) + len(self._entries) // 2)
        for name in ("_entries", "_rows", "_words"):
            held = getattr(self, name)
            larger = np.zeros((*held.shape[:-1], room), dtype=held.dtype)
            larger[..., : self.count] = held[..., : self.count]
            setattr(self, name, larger)
        self._keep_anew()

    def _keep_anew(self) -> None:
        """Start a new cache after entries moved or when it is full. Existing views keep the old one."""
        self._kept = Kept(self.dimension, len(self._entries))

    def drop(self, entries: NDArray[np.int64]) -> None:
        """Delete those of the entries that are present."""
        import numpy as np

        entries = np.unique(entries)
        places = np.searchsorted(self._entries[: self.count], entries)
        entries, places = entries[places < self.count], places[places < self.count]
        places = places[(self._entries[places] == entries) & (self._rows[places] > 0)]
        self._rows[places] = 0
        self._gone += len(places)
        if self._gone > max(LEAST_ROOM, self.count // TOO_MANY_GONE):
            self._sweep()

    def _sweep(self) -> None:
        import numpy as np

        kept = np.flatnonzero(self._rows[: self.count])
        self._vectors = self._vectors[kept[kept < self._learnt]]
        self._learnt = len(self._vectors)
        self._entries, self._rows, self._words = self._entries[kept], self._rows[kept], self._words[:, kept]
        self.count, self._gone = len(kept), 0
        self._keep_anew()

    def unknown(self) -> NDArray[np.int64]:
        """Return the entries whose vectors are still to be loaded; none if there are too many to keep all."""
        if self.count > BY_HEART:
            self._vectors, self._learnt = self._vectors[:0].copy(), 0
            return self._entries[:0]
        return self._entries[self._learnt : self.count]

    def learn(self, vectors: Floats) -> None:
        """Store the vectors of the unknown entries, in their order."""
        import numpy as np

        end = self._learnt + len(vectors)
        if end > len(self._vectors):
            larger = np.zeros((min(BY_HEART, 2 * end), self.dimension), dtype=np.float32)
            larger[: self._learnt] = self._vectors[: self._learnt]
            self._vectors = larger
        self._vectors[self._learnt : end] = vectors
        self._learnt = end

    def view(self) -> View:
        vectors = self._vectors[: self.count] if self._learnt == self.count else None
        if self._kept.is_full:
            self._keep_anew()
        return View(self.dimension, self.count, self._entries, self._rows, self._words, vectors, self._kept)

    def copy(self) -> Codes:
        """Return a copy for changes that may be rolled back."""
        import copy

        other = copy.copy(self)
        for name in ("_entries", "_rows", "_words", "_vectors"):
            setattr(other, name, getattr(self, name).copy())
        other._keep_anew()
        return other


class ByHeart:
    """The places of a view, all or some, the nearest first, with exact similarities."""

    scored = True

    def __init__(self, view: View, question: Floats, places: Places | None) -> None:
        import numpy as np

        assert view.vectors is not None
        rows = view.rows[: view.count]
        places = np.arange(view.count) if places is None else places
        self._left = places[rows[places] > 0]
        self.similarities = alike(view.vectors, question)
        self.whole = len(self._left)
        self._nearest = np.zeros(0, dtype=np.intp)

    def take(self, number: int) -> Places:
        """Return up to `number` further places; empty when there are no more."""
        import numpy as np

        if not len(self._nearest):
            scores = self.similarities[self._left]
            size = max(number, LEAST_SHELL)
            order = np.argpartition(-scores, size) if size < len(scores) else np.arange(len(scores))
            first = order[:size]
            self._nearest = self._left[first[np.argsort(-scores[first], kind="stable")]]
            self._left = self._left[order[size:]]
        part, self._nearest = self._nearest[:number], self._nearest[number:]
        return part

    def learn(self, places: Places, similarities: Floats) -> None:
        """Do nothing: all similarities are known."""

    @property
    def left(self) -> bool:
        return bool(len(self._nearest) or len(self._left))

    def overlooked(self, least: float) -> float:
        """Return 0: all that is left is less similar than what was taken."""
        return 0.0


class ByCode:
    """The places of a view ordered by differing signs, in shells; within a shell, by estimated similarity."""

    scored = False

    def __init__(self, view: View, question: Floats, places: Places | None) -> None:
        import numpy as np

        self._view = view
        self._places = places
        aside = turned(question[None, :])
        asked = signs(aside)[0].view(np.uint64)
        self._weights = _weights(aside[0], view.words.shape[0])
        self._differences = _differences(view, asked, places)
        self.whole = len(self._differences)
        self._reached = -1
        self._estimates = np.empty(view.count, dtype=np.float32)
        self._is_weighed = False
        self._learnt: list[tuple[Floats, Floats]] = []
        self._left = np.zeros(0, dtype=np.intp)
        self._best_left = np.zeros(0, dtype=np.float32)

    def take(self, number: int) -> Places:
        """Return up to `number` further places, fewer if a shell ends; empty when there are no more."""
        while not len(self._left) and self._reached < MOST_DIFFERENCES:
            self._left, self._best_left = self._next_shell(
                max(number, LEAST_SHELL if self._places is None else LISTED_SHELL)
            )
        part, self._left, self._best_left = self._left[:number], self._left[number:], self._best_left[number:]
        return part

    @property
    def left(self) -> bool:
        """Whether there may be more places."""
        return bool(len(self._left)) or self._reached < MOST_DIFFERENCES

    def learn(self, places: Places, similarities: Floats) -> None:
        """Record the exact similarities of some places that were taken."""
        if self._is_weighed:
            self._learnt.append((self._estimates[places], similarities))

    def overlooked(self, least: float) -> float:
        """Return how many of the shell's remaining places are expected to be more similar than `least`.

        The error of the estimates is learnt from the places that were scored.
        """
        import numpy as np

        if not self._learnt or not len(self._best_left):
            return np.inf
        estimates, similar = (np.concatenate(parts) for parts in zip(*self._learnt, strict=True))
        middle, spread = float(estimates.mean()), float(estimates.var())
        slope = float(((estimates - middle) * similar).mean()) / spread if spread else 0.0
        base = float(similar.mean()) - slope * middle
        error = float(np.std(similar - (slope * estimates + base))) or LEAST_ERROR
        behind = np.clip((least - base - slope * self._best_left) / error, 0, None)
        return float((0.5 * np.exp(-0.717 * behind - 0.416 * behind * behind)).sum())

    def _next_shell(self, number: int) -> tuple[Places, Floats]:
        """Return the next shell's places, with their estimates if it is small enough for them."""
        import numpy as np

        reach = self._reach_of(number)
        within = self._differences <= reach
        if self._reached >= 0:
            within &= self._differences > self._reached
        shell = np.flatnonzero(within)
        self._reached = reach
        differences = self._differences[shell]
        places = shell if self._places is None else self._places[shell]
        there = self._view.rows[places] > 0
        places, differences = places[there], differences[there]
        self._is_weighed = len(places) <= WEIGHED
        if not self._is_weighed:
            return places[np.argsort(differences, kind="stable")], np.zeros(0, dtype=np.float32)
        estimates = self._weighed(places)
        self._estimates[places] = estimates
        order = np.argsort(-estimates)
        return places[order], estimates[order]

    def _reach_of(self, number: int) -> int:
        """Return the limit of differing signs for a shell of about `number` codes, judged by a sample."""
        import numpy as np

        step = max(1, self.whole // TRIAL)
        trial = self._differences[::step]
        beyond = trial[trial > self._reached]
        wanted = -(-number // step)
        if len(beyond) <= wanted:
            return MOST_DIFFERENCES
        return int(np.partition(beyond, wanted)[wanted])

    def _weighed(self, places: Places) -> Floats:
        """Return the query's numbers summed with the codes' signs: a better estimate than the count of differences."""
        import numpy as np

        codes = np.ascontiguousarray(self._view.words[:, places].T).view(np.uint8)
        values = codes.astype(np.intp) + 256 * np.arange(codes.shape[1])
        # `sum` of NumPy takes four times as long for such short lines.
        summed: Floats = np.einsum("ij->i", self._weights.take(values))
        return summed


def _weights(question: Floats, words: int) -> Floats:
    """Return the sum of the query's numbers with the signs of each value of each byte of a code."""
    import numpy as np

    held = np.zeros((words * 8, 8), dtype=np.float32)
    held.reshape(-1)[: len(question)] = question
    values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32)
    return held @ (2 * values - 1).T


def _differences(view: View, asked: NDArray[np.uint64], places: Places | None) -> NDArray[np.uint16]:
    """Return the number of differing signs of all codes, or of those at these places."""
    import numpy as np

    words = view.words[:, : view.count] if places is None else view.words[:, places]
    whole = words.shape[1]
    found = np.zeros(whole, dtype=np.uint16)
    half = whole // 2 if whole > SHARED else whole

    def count_rest() -> None:
        _count_into(found[half:], words[:, half:], asked)

    begun = begin(count_rest) if half < whole else None
    _count_into(found[:half], words[:, :half], asked)
    if begun is not None:
        begun.result()
    elif half < whole:
        count_rest()
    return found


def _count_into(found: NDArray[np.uint16], words: NDArray[np.uint64], asked: NDArray[np.uint64]) -> None:
    import numpy as np

    whole = len(found)
    room = min(BLOCK, whole)
    differing = np.empty(room, dtype=np.uint64)
    counted, summed = np.empty(room, dtype=np.uint8), np.empty(room, dtype=np.uint8)
    for start in range(0, whole, BLOCK):
        end = min(start + BLOCK, whole)
        size = end - start
        # Three words differ in at most 192 signs, which fits into a byte; adding bytes is fastest.
        for first in range(0, len(words), 3):
            summed[:size] = 0
            for word in range(first, min(first + 3, len(words))):
                np.bitwise_xor(words[word, start:end], asked[word], out=differing[:size])
                np.bitwise_count(differing[:size], out=counted[:size])
                np.add(summed[:size], counted[:size], out=summed[:size])
            found[start:end] += summed[:size]
