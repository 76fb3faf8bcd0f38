"""Whether two banks are the same: line by line, vector by vector, and by what they answer.

For a copy that is to be trusted. What differs is named by its table, never by what stands in it.
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
from pieria.bank.background import background
from pieria.bank.embedding.queue import Embedding
from pieria.bank.jobs.budget import BankMeter, Budgets
from pieria.bank.read.usage import Uses
from pieria.record.analyser import ANALYSER_VERSION
from pieria.record.filter import Viewer
from pieria.record.memory import Memory
from pieria.record.time import moment
from pieria.store.protocol import Reader, Store

T = TypeVar("T")

AT_ONCE = 500
ASKED = 10
"""Questions at most of the newest, as many of the oldest and of the most important."""
WORDS = 12
"""Of a text that make a question."""
CLOSE = 1e-6
"""By how much two scores may differ that were computed of the same numbers."""


class Print(NamedTuple):
    """How many lines a table has, and a digest of all of them."""

    lines: int
    sha256: str


def prints(reader: Reader, told: Callable[[int], None] = lambda lines: None) -> dict[str, Print]:
    """Of every table, vectors among them. `told` hears how many lines were read since it last did."""
    return {table: _printed(reader.lines(table), told) for table in reader.tables()}


def asked_alike(here: Reader, there: Reader, name: str) -> tuple[int, list[str]]:
    """How many questions were asked of both, and the ids of the memories whose texts found other things in the other.

    Their texts are the questions.
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
    """A store as whoever only reads sees it, at the moment of one reader."""

    analyser = ANALYSER_VERSION

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @contextmanager
    def reading(self, _seconds: float | None = None) -> Iterator[Reader]:
        """Nothing is waited for: the reader is there."""
        yield self._reader


def _asked(reader: Reader, name: str) -> Bank:
    """A bank that only reads: it counts nothing, embeds nothing, and its clock stands still."""
    store = cast(Store, _OneReading(reader))
    now = moment(reader.head().known)
    meter = BankMeter(store, lambda: now, Budgets(None, None))
    return Bank(
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


def _scores(bank: Bank, question: str) -> dict[str, float]:
    return {hit.memory.id: hit.score for hit in bank.recall(question)}


def _alike(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Apart from such as share the last place, of which either may have taken any."""
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
    """Flags are numbers in some stores, and a whole number may be kept as a fraction."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def _parts(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while part := list(islice(left, AT_ONCE)):
        yield part
