"""Recall of the vector index: the share of an exact scan's nearest vectors that the index also finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from benchmarks.filled import Filled
from benchmarks.rows import Row
from benchmarks.workload import FILTERS, session
from pieria.record.filter import Filter
from pieria.record.time import micros

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

QUESTIONS = 50
TOP = 10
WANTED = 35
"""As many as recall requests."""
BLOCK = 50_000
LEAST = 0.99


class _Vectors(NamedTuple):
    """All vectors of a kind, with their rows and wings."""

    rows: Array
    wings: Array
    vectors: Array


def exactness(filled: Filled) -> Iterator[Row]:
    import numpy as np

    asked = np.stack([filled.question()[1] for _ in range(QUESTIONS)])
    kinds: tuple[Literal["passage", "window"], ...] = ("passage", "window")
    held = {"passage": _passages(filled), "window": _windows(filled)}
    scores = {kind: _scores(held[kind].vectors, asked) for kind in kinds}
    for share, wing in (("100 %", None), *((share, wing) for share, (wing, _) in FILTERS.items())):
        found = {kind: _share(filled, held[kind], scores[kind], asked, wing, kind) for kind in kinds}
        name = f"nearest at {filled.size:,}, a filter passing {share}: as an exact scan finds them"
        whole, windows = found["passage"], found["window"]
        detail = {"questions": QUESTIONS, "top": TOP, "windows": None if windows is None else round(windows, 4)}
        yield Row(name, round(whole or 0.0, 4), "share", f"≥ {LEAST}", (whole or 0.0) >= LEAST, detail)


def _passages(filled: Filled) -> _Vectors:
    import numpy as np

    wings = np.array([place.partition("/")[0] for place in filled.places])
    return _Vectors(np.array(filled.rows), wings, filled.meaning.all)


def _windows(filled: Filled) -> _Vectors:
    import numpy as np

    numbers = [number for number in range(filled.size) if session(number) is not None]
    rows = [filled.rows[number] for number in numbers]
    with filled.bank.core.store.reading() as reader:
        held = reader.vectors(rows, "window")
    wings = np.array([filled.places[number].partition("/")[0] for number in numbers])
    return _Vectors(np.array(rows), wings, np.stack([held[row][0][1] for row in rows]).astype(np.float16))


def _scores(vectors: Array, asked: Array) -> Array:
    import numpy as np

    parts = (vectors[begin : begin + BLOCK].astype(np.float32) for begin in range(0, len(vectors), BLOCK))
    return np.concatenate([part @ asked.T for part in parts])


def _share(
    filled: Filled, held: _Vectors, scores: Array, asked: Array, wing: str | None, kind: Literal["passage", "window"]
) -> float | None:
    """Return the share, or None if the filter lets nothing through."""
    import numpy as np

    filter = Filter(now=micros(filled.bank.clock()), place=wing)
    seen = np.arange(len(held.rows)) if wing is None else np.flatnonzero(held.wings == wing)
    size = min(TOP, len(seen))
    if not size:
        return None
    same = 0
    with filled.bank.core.store.reading() as reader:
        for vector, of in zip(asked, scores[seen].T, strict=True):
            exact = set(held.rows[seen[np.argpartition(-of, size - 1)[:size]]].tolist())
            near = reader.near(vector, filter, WANTED, kind).candidates[:size]
            same += len(exact & {found.row for found in near})
    return same / (size * len(asked))
