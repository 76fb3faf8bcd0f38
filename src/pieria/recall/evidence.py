"""What is known of a question before anything is scored: plain values. What is known of candidates is in `pool`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pieria.recall.bm25 import Corpus
from pieria.record.expected import Expected

Key = tuple[int, int]
"""Which source, and a row in it."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time that the question names, in microseconds; None where it has no end.

    One that is of each year is meant in any year. One that is `relative` was counted from now.
    """

    since: int | None
    until: int | None
    yearly: bool = False
    relative: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether it is a stretch of time that was counted from now, as "last week" is."""
        return self.relative and self.since is not None and self.until is not None


class Stated(NamedTuple):
    """The time of a fact that was stated alone, in microseconds, and whether another value holds in its place."""

    since: int | None
    until: int | None
    is_replaced: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as it was read.

    `known` is what its terms weigh. `wants_done` is how far it asks for something to be done or advised, 0 to 1, rather
    than for what was.
    """

    known: Corpus
    now: int = 0
    """The moment of asking, in microseconds."""
    spans: Sequence[Span] = ()
    entities: Sequence[frozenset[str]] = ()
    """The terms of each thing that the question names; authors are not among them."""
    wants_done: float = 0.0
    is_overview: bool = False
    is_when: bool = False
    looks_back: bool = False
    """It asks for what was, and is no longer."""
    expects: Expected | None = None
    """What an answer has to hold."""
    is_past: bool = False
    """It is worded in the past."""
    heeds_rules: bool = False
    """Standing rules bind whoever asks for something, in the first person or by a request."""
