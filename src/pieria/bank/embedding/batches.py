"""Embed texts in batches, each text once, and skip texts that the model refuses for good.

A server that refuses one text for its length or content fails the whole call. If a plain word still works, the batch is
split until the refused text is alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pieria.errors import PieriaError
from pieria.models import Embedder
from pieria.models.meter import Meter
from pieria.store.protocol import Pending, Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 64
"""Texts per model call if they are short: see `Embedder.room`."""
PLAIN = "Pieria"
log = logging.getLogger(__name__)


class Made(NamedTuple):
    vectors: dict[str, NDArray[np.float32]]
    refused: dict[str, PieriaError]


def made(embedder: Embedder, texts: Sequence[str], may_go_on: Callable[[], bool], meter: Meter) -> Made | None:
    """Return the vectors of the texts, or None if `may_go_on` stops the work. Equal texts are embedded once.

    `may_go_on` runs before each call. Raise the model's errors, except refusals of single texts.
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
    """Split a batch that the model refused, down to single texts where necessary."""
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


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of a bank's vectors, for `plan` and `doctor`.

    `usable` says that this process can compare a query with them. `reason` says why not, or gives a note.
    """

    model: str | None
    usable: bool
    pending: int
    reason: str | None = None

    def as_dict(self) -> dict[str, object]:
        told = {"model": self.model, "usable": self.usable, "pending": self.pending, "note": self.reason}
        return {name: value for name, value in told.items() if value is not None}


class Refused:
    """The refused texts of one bank. The next process tries them again."""

    def __init__(self) -> None:
        self._why: dict[Pending, PieriaError] = {}

    def clear(self) -> None:
        self._why.clear()

    def add(self, refused: Mapping[Pending, PieriaError]) -> None:
        for item, problem in refused.items():
            log.warning("a %s of the memory in row %d is set aside: %s", item.what, item.row, problem.message)
        self._why |= refused

    def others(self, reader: Reader, most: int) -> list[Pending]:
        """Return pending texts without the refused ones."""
        return [item for item in reader.pending(most + len(self._why)) if item not in self._why][:most]

    @property
    def told(self) -> str | None:
        """The number of refused texts, and the reason for the last one."""
        if not self._why:
            return None
        last = list(self._why.values())[-1]
        return f"{len(self._why):,} texts were refused and are set aside: {last.message}"
