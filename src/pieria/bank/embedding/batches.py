"""Texts through a model: a few in each call, each text once, and past those that the model refuses for good.

A server may refuse one text for its length or for what it says, and with it the whole call. So that such a text stands
in nobody's way, it is narrowed down to, after a plain word has shown that it is the texts and not the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pieria.errors import PieriaError
from pieria.models import Embedder
from pieria.models.meter import Meter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 64
"""Texts that a model is given at once, where they are short: see `Embedder.room`."""
PLAIN = "Pieria"


class Made(NamedTuple):
    vectors: dict[str, NDArray[np.float32]]
    refused: dict[str, PieriaError]


def made(embedder: Embedder, texts: Sequence[str], may_go_on: Callable[[], bool], meter: Meter) -> Made | None:
    """A text once, however often it stands there: a turn without neighbours is its own window.

    None where it may not go on before all are made: one long text may be many passages. `may_go_on` is asked before
    each call. Raises what the model raises, but for single texts that it refuses.
    """
    found = Made({}, {})
    for part in _parts(list(dict.fromkeys(texts)), embedder.room):
        if not may_go_on():
            return None
        try:
            _make(embedder, part, found, meter)
        except PieriaError as problem:
            if problem.retryable:
                raise
            embedder.passages([PLAIN], meter)
            _narrow(embedder, part, found, meter)
    return found


def _parts(texts: Sequence[str], room: int) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) == AT_ONCE or size + len(text) > room):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def _make(embedder: Embedder, texts: Sequence[str], found: Made, meter: Meter) -> None:
    found.vectors.update(zip(texts, embedder.passages(texts, meter).vectors, strict=True))


def _narrow(embedder: Embedder, texts: Sequence[str], found: Made, meter: Meter) -> None:
    """Of texts of which the model refused some: one by one only where it must be."""
    middle = (len(texts) + 1) // 2
    for part in (texts[:middle], texts[middle:]):
        try:
            if part:
                _make(embedder, part, found, meter)
        except PieriaError as problem:
            if problem.retryable:
                raise
            if len(part) > 1:
                _narrow(embedder, part, found, meter)
            else:
                found.refused[part[0]] = problem
