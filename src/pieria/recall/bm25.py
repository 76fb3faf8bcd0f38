"""BM25 over the candidates of any store. Pure arithmetic: the same candidates get the same scores everywhere."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pieria.store.protocol import Candidate, TextMatch
from pieria.store.text import weight

Id = TypeVar("Id", bound=Hashable)
SATURATION = 1.2
LENGTH_SHARE = 0.6
"""Weight of a text's length against it. People's notes differ in length less than web pages do."""
IMAGINED = 1_000
"""Texts added to a bank's own when weighing an unknown term. Otherwise, in a bank of one memory, one unknown term would
outweigh five known ones."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The statistics that ranking needs, summed over every store that was searched."""

    mean_length: float
    weights: Mapping[str, float]
    whole: float
    """The weight of the whole query, in the unit of `weights`: a constant, so it changes no order."""


class Ranked(NamedTuple):
    """A candidate by its key; `which` is the index of its source."""

    key: tuple[float, int, int]
    """Best score first, and the newer version first among equals. No two keys are equal."""
    which: int
    candidate: Candidate


def corpus(documents: int, length: int, frequencies: Mapping[str, int]) -> Corpus:
    """Return the corpus for this number of texts, their total length, and the document frequency of each query term.

    Terms weigh by how rare they are in this bank. A term that the bank lacks ranks nothing. It only adds to the weight
    of the query, by its weight in a bank of `IMAGINED` more texts.
    """
    kept = {term: min(frequency, documents) for term, frequency in frequencies.items()}
    weights = {term: weight(documents, frequency) for term, frequency in kept.items() if frequency}
    telling = {term: weight(documents + IMAGINED, frequency + 1) for term, frequency in kept.items()}
    seen = math.fsum(telling[term] for term in weights)
    whole = math.fsum(weights.values()) * (math.fsum(telling.values()) / seen) if seen else 0.0
    return Corpus(length / max(1, documents), weights, whole)


def lexical(candidate: Candidate, known: Corpus) -> float:
    """Return BM25 as a share of the most that this query could give: 0 to 1, comparable between banks and queries."""
    if known.whole <= 0:
        return 0.0
    held = candidate.held
    relative_length = held.length / known.mean_length if known.mean_length else 1.0
    damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative_length)
    weights = known.weights
    # fsum is exact in any order of terms, so that every process finds the place of a cursor.
    gains = [weights.get(term, 0.0) * count / (count + damping) for term, count in held.counts.items()]
    return math.fsum(gains) / known.whole


def coverage(held_terms: Iterable[str], known: Corpus) -> float:
    """Return the share of the query's weight that these terms hold."""
    held = math.fsum(known.weights.get(term, 0.0) for term in held_terms)
    return min(1.0, held / known.whole) if known.whole > 0 else 0.0


def ranked(matches: Sequence[TextMatch], known: Corpus) -> list[Ranked]:
    """Return all candidates, best first."""
    found = []
    for which, match in enumerate(matches):
        for candidate in match.candidates:
            found.append(Ranked((-lexical(candidate, known), which, -candidate.row), which, candidate))
    found.sort()
    return found


def behind_sources(order: Sequence[Id], drawn_from: Iterable[tuple[Id, Id]]) -> list[Id]:
    """Return the ids in order, each after its evidence; `drawn_from` holds pairs (derived, evidence).

    Derived ids move back, evidence never moves forward. A cycle keeps its order.
    """
    present = set(order)
    waits_for: dict[Id, set[Id]] = {}
    holds_back: dict[Id, list[Id]] = {}
    for derived, evidence in drawn_from:
        if derived in present and evidence in present and derived != evidence:
            waits_for.setdefault(derived, set()).add(evidence)
            holds_back.setdefault(evidence, []).append(derived)
    rank = {id: place for place, id in enumerate(order)}
    placed: dict[Id, None] = {}
    waiting: set[Id] = set()

    def place(first: Id) -> None:
        ready = [first]
        while ready:
            id = ready.pop()
            placed[id] = None
            waiting.discard(id)
            freed = []
            for derived in holds_back.get(id, ()):
                waits_for[derived].discard(id)
                if not waits_for[derived] and derived in waiting:
                    freed.append(derived)
            ready.extend(sorted(set(freed), key=rank.__getitem__, reverse=True))

    for id in order:
        if waits_for.get(id):
            waiting.add(id)
        else:
            place(id)
    return [*placed, *(id for id in order if id in waiting)]
