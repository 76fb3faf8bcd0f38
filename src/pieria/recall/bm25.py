"""BM25 over the candidates of any store. Pure arithmetic: the same candidates give the same scores everywhere."""

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
"""How much of a text's length counts against it. People's notes differ in length less than web pages do."""
IMAGINED = 1_000
"""Texts that a bank is thought to hold besides its own when it is asked how much an unknown word tells. In a bank of
one memory each word of a question that is not in it would otherwise outweigh five that are."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What ranking needs to know of all that was searched, over every store that took part."""

    mean_length: float
    weights: Mapping[str, float]
    whole: float
    """The weight of the whole question, in the measure of `weights`: a constant, so it changes no order."""


class Ranked(NamedTuple):
    """A candidate with its score; `which` of the sources it is from."""

    score: float
    which: int
    candidate: Candidate

    @property
    def key(self) -> tuple[float, int, int]:
        """Best first; the newer version first among equals. No two have the same."""
        return (-self.score, self.which, -self.candidate.row)


def corpus(documents: int, length: int, frequencies: Mapping[str, int]) -> Corpus:
    """From the number of texts, their terms together, and the texts that hold each term of the question.

    Terms weigh as they divide this bank. What the bank has never seen divides nothing: it only makes the question
    larger, by as much as it would in a bank of some size.
    """
    kept = {term: min(frequency, documents) for term, frequency in frequencies.items()}
    weights = {term: weight(documents, frequency) for term, frequency in kept.items() if frequency}
    telling = {term: weight(documents + IMAGINED, frequency + 1) for term, frequency in kept.items()}
    seen = math.fsum(telling[term] for term in weights)
    whole = math.fsum(weights.values()) * (math.fsum(telling.values()) / seen) if seen else 0.0
    return Corpus(length / max(1, documents), weights, whole)


def lexical(candidate: Candidate, known: Corpus) -> float:
    """BM25 as a share of the most this question could give: 0 to 1, and comparable between banks and questions."""
    if known.whole <= 0:
        return 0.0
    held = candidate.held
    return bm25(known.weights, held.counts, relative(held.length, known.mean_length), LENGTH_SHARE) / known.whole


def bm25(
    weights: Mapping[str, float], counts: Mapping[str, float], relative_length: float, length_share: float
) -> float:
    """Of a text so many times as long as most, where length counts so much against it."""
    damping = SATURATION * (1 - length_share + length_share * relative_length)
    # fsum: the same to the last bit in whatever order a process holds the terms, so that a cursor's place is found.
    return math.fsum(weights.get(term, 0.0) * count / (count + damping) for term, count in counts.items())


def relative(length: float, mean: float) -> float:
    return length / mean if mean else 1.0


def coverage(held_terms: Iterable[str], known: Corpus) -> float:
    """The share of the question's weight that these of its terms have."""
    held = math.fsum(known.weights.get(term, 0.0) for term in held_terms)
    return min(1.0, held / known.whole) if known.whole > 0 else 0.0


def ranked(matches: Sequence[TextMatch], known: Corpus) -> list[Ranked]:
    scored = [
        Ranked(lexical(candidate, known), which, candidate)
        for which, match in enumerate(matches)
        for candidate in match.candidates
    ]
    scored.sort(key=lambda entry: entry.key)
    return scored


def behind_sources(order: Sequence[Id], drawn_from: Iterable[tuple[Id, Id]]) -> list[Id]:
    """The ids in their order, each after those it was drawn from; `drawn_from` are pairs (derived, evidence).

    What is derived moves back, evidence never forward. Where each were drawn from the other, the order stands.
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
