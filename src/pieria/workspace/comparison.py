"""Compare two banks: by line, by vector and by search results.

Differences are named by table, never by content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from pieria.bank import Bank
from pieria.bank.core import Core
from pieria.bank.embedding.queue import Embedding
from pieria.bank.jobs.budget import BankMeter, Budgets
from pieria.bank.read.usage import Uses
from pieria.language.analyser import ANALYSER_VERSION
from pieria.record.filter import Viewer
from pieria.record.memory import Memory
from pieria.record.time import moment
from pieria.runtime.background import background
from pieria.store.protocol import Reader, Store

T = TypeVar("T")

AT_ONCE = 500
ASKED = 10
"""The most questions from each of the newest, the oldest and the most important memories."""
WORDS = 12
"""Words of a text used as a question."""
CLOSE = 1e-6
"""Allowed difference between two scores computed from the same numbers."""


class Print(NamedTuple):
    """A table's line count, and a digest of all lines."""

    lines: int
    sha256: str


def prints(reader: Reader, told: Callable[[int], None] = lambda lines: None) -> dict[str, Print]:
    """Return the print of every table, including vectors. `told` gets the number of lines read since its last call."""
    return {table: _printed(reader.lines(table), told) for table in reader.tables()}


def asked_alike(here: Reader, there: Reader, name: str) -> tuple[int, list[str]]:
    """Ask both banks the same questions, taken from their texts. Return the count, and the ids of memories whose
    question gives different results.
    """
    ours, theirs = (_asked(reader, name) for reader in (here, there))
    chosen: dict[str, Memory] = {}
    for order in ("newest", "oldest", "important"):
        chosen.update((memory.id, memory) for memory in ours.list(order=order, limit=ASKED))
    differing = []
    for memory in chosen.values():
        question = " ".join(memory.text.split()[:WORDS])
        if not _alike(_scores(ours, question), _scores(theirs, question)):
            differing.append(memory.id)
    return len(chosen), differing


class _OneReading:
    """A read-only store that returns one given reader."""

    analyser = ANALYSER_VERSION

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @contextmanager
    def reading(self, _seconds: float | None = None) -> Iterator[Reader]:
        """Yield the given reader at once."""
        yield self._reader


def _asked(reader: Reader, name: str) -> Bank:
    """Return a read-only bank: it counts nothing, embeds nothing, and its clock is fixed."""
    store = cast(Store, _OneReading(reader))
    now = moment(reader.head().known)
    meter = BankMeter(store, lambda: now, Budgets(None, None))
    return Bank(
        Core(
            name,
            store,
            embedding=Embedding(store, None, background, meter),
            uses=Uses(store, lambda: now, background),
            meter=meter,
            clock=lambda: now,
            data=Path(),
            viewer=Viewer(everything=True),
            count_uses=False,
        )
    )


def _scores(bank: Bank, question: str) -> dict[str, float]:
    return {hit.memory.id: hit.score for hit in bank.recall(question)}


def _alike(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Compare the scores, except those tied for last place, where either bank may choose differently."""
    least = max((min(each.values()) for each in (some, others) if each), default=0.0) + CLOSE
    above = {id for each in (some, others) for id, score in each.items() if score > least}
    return all(id in some and id in others and abs(some[id] - others[id]) <= CLOSE for id in above)


def _printed(lines: Iterable[Sequence[Any]], told: Callable[[int], None]) -> Print:
    digest, number = sha256(), 0
    for part in _parts(lines):
        for line in part:
            digest.update(json.dumps(list(map(_plain, line))).encode() + b"\n")
        number += len(part)
        told(len(part))
    return Print(number, digest.hexdigest())


def _plain(value: Any) -> Any:
    """Return a value in one form: some stores keep flags as numbers, and whole numbers as floats."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def _parts(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while part := list(islice(left, AT_ONCE)):
        yield part
