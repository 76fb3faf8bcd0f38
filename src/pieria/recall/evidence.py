"""What is known of a query before scoring, as plain values. `pool` holds what is known of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pieria.language.expected import Expected
from pieria.recall.bm25 import Corpus

Key = tuple[int, int]
"""(index of the source, row in it)."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time that the query names, in microseconds; None for an open end.

    A `yearly` span matches in any year. A `relative` span was counted from now.
    """

    since: int | None
    until: int | None
    yearly: bool = False
    relative: bool = False

    @property
    def is_counted(self) -> bool:
        """Return whether it is a closed span that was counted from now, such as "last week"."""
        return self.relative and self.since is not None and self.until is not None


class Stated(NamedTuple):
    """When a fact held, in microseconds, and whether another value replaced it. Only for a memory that states
    one fact."""

    since: int | None
    until: int | None
    is_replaced: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed query.

    `known` weighs its terms. `wants_done` is how far it asks for an action or advice, 0 to 1, instead of the past.
    """

    known: Corpus
    now: int = 0
    """The moment of asking, in microseconds."""
    spans: Sequence[Span] = ()
    entities: Sequence[frozenset[str]] = ()
    """The terms of each entity that the query names, without authors."""
    wants_done: float = 0.0
    is_overview: bool = False
    is_when: bool = False
    looks_back: bool = False
    """It asks for something that no longer holds."""
    expects: Expected | None = None
    """The kind of value that an answer must hold."""
    is_past: bool = False
    """It is worded in the past tense."""
    heeds_rules: bool = False
    """Standing rules apply where the speaker asks for something, in the first person or as a request."""
