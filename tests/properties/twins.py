"""Mirror every bank in a file to a server: each call goes to both stores, and both must answer alike.

The bank above the stores draws ids and decides. Both stores get the same calls from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from pieria.errors import PieriaError
from pieria.store.parts import Holdings, Parts
from pieria.store.postgres import PostgresStore
from pieria.store.protocol import Near, Span, TextMatch, VectorMatch
from pieria.store.sqlite import SQLiteStore

CLOSE = 1e-5
"""Both stores add up similarities of the same numbers in different order."""


class Both:
    """One transaction on both stores. `calls` counts the compared answers."""

    def __init__(self, file: Any, server: Any, calls: dict[str, int]) -> None:
        self._file = file
        self._server = server
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._file, name)
        if not callable(asked):
            return asked
        other = getattr(self._server, name)

        def ask(*given: Any, **named: Any) -> Any:
            given = tuple(list(each) if hasattr(each, "__next__") else each for each in given)
            self._calls[name] = self._calls.get(name, 0) + 1
            here, there = answer(asked, given, named), answer(other, given, named)
            assert alike(here, there), f"{name}{given}{named}: {here!r} here, {there!r} there"
            if isinstance(here, PieriaError):
                raise here
            return iter(here) if name == "dump" else here

        return ask


def answer(asked: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        found = asked(*given, **named)
    except PieriaError as refused:
        return refused
    return list(found) if hasattr(found, "__next__") else found


def alike(here: Any, there: Any) -> bool:
    if isinstance(here, PieriaError):
        return type(here) is type(there) and str(here) == str(there)
    if isinstance(here, VectorMatch):
        return same_nearest(here, there)
    if isinstance(here, TextMatch):
        return by_row(here) == by_row(there)
    if isinstance(here, dict):
        return here.keys() == there.keys() and all(alike(value, there[key]) for key, value in here.items())
    if isinstance(here, Span):
        return near_enough(here.similarity, there.similarity) and here[1:] == there[1:]
    if isinstance(here, np.ndarray):
        return bool(np.array_equal(here, there))
    if isinstance(here, Holdings | Parts):
        return all(alike(getattr(here, of.name), getattr(there, of.name)) for of in fields(here))
    if isinstance(here, list | tuple) and any(isinstance(each, list | tuple | np.ndarray) for each in here):
        return len(here) == len(there) and all(map(alike, here, there))
    return bool(here == there)


def by_row(found: TextMatch) -> TextMatch:
    return replace(found, candidates=sorted(found.candidates))


def near_enough(here: float, there: float) -> bool:
    return math.isclose(here, there, abs_tol=CLOSE)


def same_nearest(here: VectorMatch, there: VectorMatch) -> bool:
    """Return whether the similarities and their order agree. Equal last candidates may be left out on either side."""
    if len(here.candidates) != len(there.candidates):
        return False
    if not all(near_enough(a.similarity, b.similarity) for a, b in zip(here.candidates, there.candidates, strict=True)):
        return False
    last = here.candidates[-1].similarity if here.candidates else 0.0
    return surely(here.candidates, last) == surely(there.candidates, last)


def surely(found: Any, last: float) -> set[tuple[int, int, int, int]]:
    """Return the candidates that are nearer than the last."""
    return {(each.row, each.entry, each.start, each.stop) for each in found if above(each, last)}


def above(each: Near, last: float) -> bool:
    return each.similarity > last + CLOSE


@contextmanager
def twins(url: str) -> Iterator[dict[str, int]]:
    """Mirror every bank that is opened inside this context. Yield the number of comparisons by primitive."""
    calls: dict[str, int] = {}
    servers: dict[int, PostgresStore] = {}
    reading, writing, scrub, close = SQLiteStore.reading, SQLiteStore.writing, SQLiteStore.scrub, SQLiteStore.close

    def twin(store: SQLiteStore) -> PostgresStore:
        made = servers.get(id(store))
        if made is None:
            made = PostgresStore(url, str(Path(store.path)), clock=store._clock, analyser=store.analyser)
            servers[id(store)] = made
            with reading(store) as source, made.writing() as writer:
                if source.head().seq and not writer.head().seq:
                    writer.fill(source, None)
        return made

    @contextmanager
    def read_both(self: SQLiteStore, seconds: float | None = None) -> Iterator[Any]:
        with reading(self, seconds) as file, twin(self).reading(seconds) as server:
            yield Both(file, server, calls)

    @contextmanager
    def write_both(self: SQLiteStore, seconds: float | None = None) -> Iterator[Any]:
        with twin(self).writing(seconds) as server, writing(self, seconds) as file:
            yield Both(file, server, calls)

    def scrub_both(self: SQLiteStore) -> list[str]:
        return scrub(self) + twin(self).scrub()

    def close_both(self: SQLiteStore) -> None:
        close(self)
        made = servers.pop(id(self), None)
        if made is not None:
            made.close()

    with (
        patch.object(SQLiteStore, "reading", read_both),
        patch.object(SQLiteStore, "writing", write_both),
        patch.object(SQLiteStore, "scrub", scrub_both),
        patch.object(SQLiteStore, "close", close_both),
    ):
        yield calls
