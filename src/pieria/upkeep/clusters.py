"""Memories with similar text or labels: clusters that may be merged, and pairs of duplicates.

The similarity matrix is computed one block at a time. Many equal texts cost no more memory than different ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.language.analyser import STOP_WORDS, terms
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.runtime.lazy import cached_property
from pieria.upkeep.groups import audience_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Places = NDArray[np.intp]

STRATEGIES = ("similarity", "tags", "entities")
READ = 2_000
"""Characters of a text whose terms are compared."""
BEND = 2.75
"""Maps term overlap to the scale of vectors: six shared terms of ten give 0.83. One threshold serves both."""
BLOCK = 256
DIGITS = 6
"""Arithmetic differs between machines in further digits, and the order must not."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Similar memories, oldest first. `cohesion` is the mean similarity of two members."""

    memories: tuple[Memory, ...]
    cohesion: float

    @property
    def id(self) -> str:
        return cluster_id(memory.id for memory in self.memories)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "cohesion": round(self.cohesion, DIGITS),
            "ids": [memory.id for memory in self.memories],
            "texts": [memory.text for memory in self.memories],
        }


@dataclass(frozen=True, slots=True)
class Pair:
    one: Memory
    other: Memory
    similarity: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "ids": [self.one.id, self.other.id],
            "similarity": round(self.similarity, DIGITS),
            "texts": [self.one.text, self.other.text],
        }


def cluster_id(members: Iterable[str]) -> str:
    """Return the id. It depends only on the members."""
    said = "\n".join(sorted(members))
    return f"cluster-{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def clustered(
    memories: Sequence[Memory], vectors: Mapping[int, Vector], by: str, least: float, most: int
) -> list[Cluster]:
    """Return the clusters, largest first. A memory is in one cluster at most; those over `most` form another one."""
    found = []
    for apart in _apart(memories):
        likeness = Likeness(apart, vectors, by)
        for places in likeness.groups(least, most):
            members = tuple(apart[place] for place in places)
            found.append(Cluster(members, likeness.cohesion(places)))
    return sorted(found, key=lambda one: (-len(one.memories), -round(one.cohesion, DIGITS), one.id))


def duplicates(
    memories: Sequence[Memory], vectors: Mapping[int, Vector], least: float, most: int
) -> tuple[list[Pair], int]:
    """Return the most similar pairs first, at most `most`, and the number of all pairs."""
    ordered = _in_time(memories)
    likeness = Likeness(ordered, vectors, STRATEGIES[0])
    found, whole = likeness.pairs(least, most)
    return [Pair(ordered[one], ordered[other], share) for one, other, share in found], whole


def cohesion(memories: Sequence[Memory], vectors: Mapping[int, Vector]) -> float:
    return Likeness(memories, vectors, STRATEGIES[0]).cohesion(range(len(memories)))


def _apart(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Yield the memories of each audience: a merged memory must not show a reader what another session keeps
    private."""
    audiences: dict[Any, list[Memory]] = {}
    for memory in _in_time(memories):
        audiences.setdefault(audience_of(memory), []).append(memory)
    yield from audiences.values()


def _in_time(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (micros(memory.at), memory.row))


class Likeness:
    """Similarity of memories, 0 to 1: by vectors if both have one, else by terms, or by labels."""

    def __init__(self, memories: Sequence[Memory], vectors: Mapping[int, Vector], by: str) -> None:
        import numpy as np

        self._memories = memories
        self._by = by
        held = [vectors.get(memory.row) if by == STRATEGIES[0] else None for memory in memories]
        self._bare = np.array([vector is None for vector in held], bool)
        self._any_bare = bool(self._bare.any())
        dimension = next((len(vector) for vector in held if vector is not None), 0)
        self._matrix = np.zeros((len(held), dimension), np.float32)
        for place, vector in enumerate(held):
            if vector is not None:
                self._matrix[place] = vector

    def groups(self, least: float, most: int) -> Iterator[list[int]]:
        """Yield groups: each memory not in a group yet, with the nearest others not in a group."""
        import numpy as np

        free = np.ones(len(self._memories), bool)
        for start in range(0, len(free), BLOCK):
            places = np.flatnonzero(free[start : start + BLOCK]) + start
            for place, products in zip(places.tolist(), self._products(places), strict=True):
                if not free[place]:
                    continue
                row = self._row(place, products)
                near = np.flatnonzero(free & (row >= least))
                near = near[near != place]
                if len(near):
                    nearest = near[np.lexsort((near, -row[near]))][: most - 1]
                    members = np.sort(np.append(nearest, place))
                    free[members] = False
                    yield members.tolist()

    def pairs(self, least: float, most: int) -> tuple[list[tuple[int, int, float]], int]:
        """Return the most similar pairs, and the number of all pairs above `least`."""
        import numpy as np

        best = np.empty((0, 3))
        whole = 0
        for start in range(0, len(self._memories), BLOCK):
            block = self._block(np.arange(start, min(start + BLOCK, len(self._memories))))
            later = np.arange(block.shape[1]) > np.arange(start, start + len(block))[:, None]
            ones, others = np.nonzero(later & (block >= least))
            whole += len(ones)
            found = np.column_stack((ones + start, others, block[ones, others]))
            best = np.concatenate((best, found))
            best = best[np.lexsort((best[:, 1], best[:, 0], -best[:, 2]))][:most]
        return [(int(one), int(other), float(share)) for one, other, share in best], whole

    def cohesion(self, places: Sequence[int]) -> float:
        import numpy as np

        block = self._block(np.array(places))
        shares = [float(block[number][other]) for number, other in _pairs(places)]
        return sum(shares) / len(shares) if shares else 1.0

    def _block(self, places: Places) -> Vector:
        """Return the similarity of each of these memories to every memory."""
        import numpy as np

        products = self._products(places)
        rows = [self._row(place, row) for place, row in zip(places.tolist(), products, strict=True)]
        return np.stack(rows)

    def _products(self, places: Places) -> Vector:
        found: Vector = self._matrix[places] @ self._matrix.T
        return found

    def _row(self, place: int, products: Vector) -> Vector:
        """Return similarities by vector where both have one, and by terms elsewhere."""
        import numpy as np

        if self._bare[place]:
            products = self._words.shares(place).astype(np.float32)
        elif self._any_bare:
            products[self._bare] = self._words.shares(place)[self._bare]
        row: Vector = np.clip(products, 0.0, 1.0).round(DIGITS)
        return row

    @cached_property
    def _words(self) -> _Words:
        return _Words([self._said(memory) for memory in self._memories])

    def _said(self, memory: Memory) -> frozenset[str]:
        if self._by == STRATEGIES[0]:
            said = frozenset(terms(memory.text[:READ]))
            return said - STOP_WORDS or said
        return frozenset(label.casefold() for label in getattr(memory, self._by))


def _pairs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of (index in `places`, place of the other memory)."""
    for number in range(len(places)):
        for other in places[number + 1 :]:
            yield number, other


class _Words:
    """The share of terms, or labels, that two memories have in common."""

    def __init__(self, said: Sequence[frozenset[str]]) -> None:
        import numpy as np

        holders: dict[str, list[int]] = {}
        for place, words in enumerate(said):
            for word in words:
                holders.setdefault(word, []).append(place)
        self._said = said
        self._holders = {word: np.array(places) for word, places in holders.items()}
        self._sizes = np.array([len(words) for words in said])

    def shares(self, place: int) -> NDArray[np.float64]:
        import numpy as np

        held = [self._holders[word] for word in self._said[place]]
        if not held:
            return np.zeros(len(self._said))
        shared = np.bincount(np.concatenate(held), minlength=len(self._said))
        every = self._sizes[place] + self._sizes - shared
        share: NDArray[np.float64] = (shared / every) ** (1 / BEND)
        return share
