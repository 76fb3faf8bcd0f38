"""Find memories that say nearly the same as a whole text, so that a caller can avoid duplicates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pieria.bank.core import Core
from pieria.bank.read.recall import CAUGHT_UP
from pieria.errors import PieriaError
from pieria.language.analyser import terms
from pieria.record import check
from pieria.record.draft import NewMemory, checked
from pieria.record.filter import Filter
from pieria.record.memory import LISTED_KINDS, Memory
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BY_VECTORS, BY_WORDS = "vectors", "words"
CANDIDATES = 20
"""Candidates per passage."""
RARE = 64
"""The number of rarest terms to look up when there are no vectors."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similarity of a memory, from 0 to 1: by the `vectors` of its passages, or by `words` if it has none yet."""

    memory: Memory
    similarity: float
    by: str


def similar(core: Core, text: str, *, k: int, least: float) -> list[Likeness]:
    kept = core.screening.draft(checked(NewMemory(text))).text
    check.whole(k, "k", 1, 100)
    check.number(least, "least")
    filter = core.filter(kinds=LISTED_KINDS)
    core.embedding.catch_up(CAUGHT_UP, math.inf)
    found = _by_vectors(core, kept, filter)
    with core.reading() as reader:
        likeness = {row: (alike, BY_VECTORS) for row, alike in (found or {}).items()}
        if found is None or reader.pending_count():
            shares = _by_words(reader, kept, filter)
            embedded = () if found is None else reader.vectors(list(shares))
            likeness |= {row: (share, BY_WORDS) for row, share in shares.items() if row not in embedded}
        for twin in reader.twins(kept, terms(kept), filter):
            likeness[twin.row] = (1.0, likeness.get(twin.row, (1.0, BY_WORDS))[1])
        best = sorted(likeness.items(), key=lambda each: (-each[1][0], each[0]))
        chosen = [(row, alike, by) for row, (alike, by) in best if alike >= least][:k]
        shown = reader.memories([row for row, _, _ in chosen], filter)
    return [Likeness(shown[row], alike, by) for row, alike, by in chosen if row in shown]


def embedded(core: Core, ids: str | Iterable[str]) -> set[str]:
    found = set[str]()
    for holder, theirs in core.holders(check.identifiers(ids, "ids")).items():
        with holder.reading() as reader:
            rows = {id: holder.standing(reader, id).state.row for id in theirs}
            embedded = reader.vectors(list(rows.values()))
        found |= {id for id, row in rows.items() if row in embedded}
    return found


def _by_vectors(core: Core, text: str, filter: Filter) -> dict[int, float] | None:
    """Return similarities by row, or None without vectors to compare."""
    embedder = core.embedding.embedder
    with core.reading() as reader:
        is_usable = core.embedding.readiness(reader).usable
    if embedder is None or not is_usable:
        return None
    from pieria.language.passages import passages

    parts = passages(text)
    try:
        read = embedder.passages([text[part.start : part.end] for part in parts], core.meter.of_readers)
    except PieriaError:
        # `doctor` reports why the model fails; compare by words.
        return None
    weights = [part.end - part.start for part in parts]
    with core.reading() as reader:
        return _together(reader, list(read.vectors), weights, filter)


def _together(
    reader: Reader, vectors: list[NDArray[np.float32]], weights: list[int], filter: Filter
) -> dict[int, float]:
    """Return similarities by row. The nearest memories of each passage are compared with all passages."""
    rows = sorted({near.row for vector in vectors for near in reader.near(vector, filter, CANDIDATES).candidates})
    worth: dict[int, float] = defaultdict(float)
    for vector, weight in zip(vectors, weights, strict=True):
        for row, span in reader.similarities(vector, rows).items():
            worth[row] += weight * max(0.0, span.similarity)
    whole = sum(weights)
    return {row: min(1.0, value / whole) for row, value in worth.items()}


def _by_words(reader: Reader, text: str, filter: Filter) -> dict[int, float]:
    """Return by row the share of distinct words that both texts have."""
    own = set(terms(text))
    rarest = _rarest(reader, own)
    found = reader.text(rarest, filter, CANDIDATES * 5, 5_000).candidates if rarest else ()
    held = reader.counts([candidate.row for candidate in found], own)
    return {row: _share(len(one.counts), len(own), one.distinct) for row, one in held.items()}


def _rarest(reader: Reader, own: Collection[str]) -> list[str]:
    frequencies = reader.frequencies(sorted(own))
    there = [term for term in own if frequencies.get(term)]
    return sorted(there, key=lambda term: (frequencies[term], term))[:RARE]


def _share(shared: int, one: int, other: int) -> float:
    every = one + other - shared
    return shared / every if every else 0.0
