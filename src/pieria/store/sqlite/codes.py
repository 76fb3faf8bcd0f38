"""The codes of one kind of vector in memory, and the order in which they are near a question. No SQL here.

A code is the signs of a vector. How many of them differ from the question's tells roughly how near a vector is: it
costs a millisecond a quarter of a million, and what comes first in that order is scored from the vectors themselves.
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
"""Up to so many entries the vectors themselves are kept in memory, and every answer is exact."""
LEAST_ROOM = 1_024
BLOCK = 32_768
"""As many codes at a time stay in the processor's cache with all that is counted of them."""
SHARED = 400_000
"""More codes than this are compared on two threads; handing over a half takes as long as comparing a few thousand."""
TRIAL = 16_384
"""Of so many codes it is measured how far the nearest lie."""
LEAST_SHELL = 2_048
"""Within a shell, candidates are brought into a better order than that of their differences."""
LISTED_SHELL = 6_144
"""Of a list, more: few of its lines may be near at all, and differences tell less of what is far."""
WEIGHED = 8_192
"""More candidates than this are left in the order of their differences."""
LEAST_ERROR = 1e-6
MOST_DIFFERENCES = 65_535
TOO_MANY_GONE = 4
"""What is gone is swept out when it is more than this part of all."""


@dataclass(frozen=True, slots=True)
class View:
    """The codes of one moment. Later entries and moves do not touch it; what goes meanwhile loses its row in it."""

    dimension: int
    count: int
    entries: NDArray[np.int64]
    rows: NDArray[np.int64]
    words: NDArray[np.uint64]
    vectors: Floats | None
    kept: Kept

    def of_rows(self, wanted: list[int]) -> Places:
        """Where the entries of these rows are."""
        return places_of(self.rows[: self.count], wanted)

    def within(self, sieve: Sieve) -> Places:
        """Where the entries are whose rows a condition lets through."""
        import numpy as np

        assert sieve.marks is not None
        marks = np.frombuffer(sieve.marks, dtype=np.bool_)
        # What lies beyond the marks takes the last of them, which is never set.
        return np.flatnonzero(marks.take(self.rows[: self.count], mode="clip"))


def places_of(rows: NDArray[np.int64], wanted: list[int]) -> Places:
    """Where these stand among the rows."""
    import numpy as np

    asked = np.zeros(int(rows.max(initial=0)) + 1, dtype=np.bool_)
    listed = np.array(wanted, dtype=np.int64)
    asked[listed[(listed > 0) & (listed < len(asked))]] = True
    return np.flatnonzero(asked[rows])


class Codes:
    """Grows at its end. Whoever calls holds the lock of the index that this belongs to."""

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
        """Their numbers come after all that are here."""
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
        """After entries were moved, or when it is full: whoever looks at it keeps the one he has."""
        self._kept = Kept(self.dimension, len(self._entries))

    def drop(self, entries: NDArray[np.int64]) -> None:
        """Those of them that are here."""
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
        """The entries whose vectors are to be learnt by heart."""
        if self.count > BY_HEART:
            self._vectors, self._learnt = self._vectors[:0].copy(), 0
            return self._entries[:0]
        return self._entries[self._learnt : self.count]

    def learn(self, vectors: Floats) -> None:
        """Those of the unknown entries, in their order."""
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
        """For changes that may never come to be."""
        import copy

        other = copy.copy(self)
        for name in ("_entries", "_rows", "_words", "_vectors"):
            setattr(other, name, getattr(self, name).copy())
        other._keep_anew()
        return other


class ByHeart:
    """The places of a view, all of them or a few, from the nearest on; the similarities are the true ones."""

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
        """The next ones, no more than that many; none when there are no more."""
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
        """Nothing that was not known."""

    @property
    def left(self) -> bool:
        return bool(len(self._nearest) or len(self._left))

    def overlooked(self, least: float) -> float:
        """What is left is less similar than what was taken."""
        return 0.0


class ByCode:
    """The same by the signs that differ, taken in shells; the nearer ones of a shell come first, by estimate."""

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
        """The next ones: no more than that many, and fewer where a shell ends; none when there are no more."""
        while not len(self._left) and self._reached < MOST_DIFFERENCES:
            self._left, self._best_left = self._next_shell(
                max(number, LEAST_SHELL if self._places is None else LISTED_SHELL)
            )
        part, self._left, self._best_left = self._left[:number], self._left[number:], self._best_left[number:]
        return part

    @property
    def left(self) -> bool:
        """Whether there may be more."""
        return bool(len(self._left)) or self._reached < MOST_DIFFERENCES

    def learn(self, places: Places, similarities: Floats) -> None:
        """How similar some that were taken are in truth."""
        if self._is_weighed:
            self._learnt.append((self._estimates[places], similarities))

    def overlooked(self, least: float) -> float:
        """How many of what is left of the shell are more similar than that, to all expectation.

        How far an estimate goes wrong is learnt from those that were scored.
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
        """Its places, with their estimates if they have any."""
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
        """How many signs must differ for a shell to hold about so many, judged by a part of all."""
        import numpy as np

        step = max(1, self.whole // TRIAL)
        trial = self._differences[::step]
        beyond = trial[trial > self._reached]
        wanted = -(-number // step)
        if len(beyond) <= wanted:
            return MOST_DIFFERENCES
        return int(np.partition(beyond, wanted)[wanted])

    def _weighed(self, places: Places) -> Floats:
        """The question's numbers summed over the signs: nearer to the similarity than the count of differences."""
        import numpy as np

        codes = np.ascontiguousarray(self._view.words[:, places].T).view(np.uint8)
        values = codes.astype(np.intp) + 256 * np.arange(codes.shape[1])
        # NumPy's own sum of so short lines takes four times as long.
        summed: Floats = np.einsum("ij->i", self._weights.take(values))
        return summed


def _weights(question: Floats, words: int) -> Floats:
    """For each byte of a code and each value of it, what its signs make of the question's numbers there."""
    import numpy as np

    held = np.zeros((words * 8, 8), dtype=np.float32)
    held.reshape(-1)[: len(question)] = question
    values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32)
    return held @ (2 * values - 1).T


def _differences(view: View, asked: NDArray[np.uint64], places: Places | None) -> NDArray[np.uint16]:
    """How many signs differ, of every code or of those at these places."""
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
        # Three words differ in 192 signs at most, which a byte can hold; adding bytes is the cheapest.
        for first in range(0, len(words), 3):
            summed[:size] = 0
            for word in range(first, min(first + 3, len(words))):
                np.bitwise_xor(words[word, start:end], asked[word], out=differing[:size])
                np.bitwise_count(differing[:size], out=counted[:size])
                np.add(summed[:size], counted[:size], out=summed[:size])
            found[start:end] += summed[:size]
