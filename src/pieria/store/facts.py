"""What a store offers for facts: the part of the protocol for `facts` and for the facts that recall uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pieria.record.fact import Fact, FactName, FactQuery
from pieria.record.filter import Filter
from pieria.record.time import is_over, is_to_come


class FactSpan(NamedTuple):
    """A fact's keys and valid time: enough to count facts and to choose among them.

    Of the names it has only the predicate's spelling. Instants are microseconds.
    """

    id: str
    subject_key: str
    predicate: str
    predicate_key: str
    object_key: str
    valid_from: int | None
    valid_until: int | None
    memory: str | None
    known_from: int

    def holds_at(self, moment: int) -> bool:
        return not is_to_come(self.valid_from, moment) and not is_over(self.valid_until, moment)


class FactReader(Protocol):
    def facts(self, query: FactQuery, filter: Filter) -> list[Fact]:
        """Return the facts at the filter's known time, ordered by `valid_from`. A memory that a fact names must be
        visible.

        A fact's valid time is cut to its memory's; with `valid_at` ANY_TIME it comes as written.
        """

    def spans(self, query: FactQuery, filter: Filter) -> list[FactSpan]:
        """Return the same facts in the same order as `facts`, at a fraction of the cost for many."""

    def sourceless(self, after: int, limit: int) -> list[tuple[int, Fact]]:
        """Return (entry, fact) of current facts that name no memory, with entries after `after`, in order of entry."""

    def last_fact(self) -> int:
        """Return the entry of the newest fact; 0 if there never was one."""

    def drawn(self, keys: Sequence[str], filter: Filter, newest: int, *, ended: bool = False) -> list[FactSpan]:
        """Return the `newest` facts last written that have one of these names as subject or object.

        Each was drawn from a memory that passes the whole filter, and holds at the filter's valid time. With `ended`,
        add up to `newest` facts that do not hold then.
        """

    def names(self, filter: Filter, prefix: str = "") -> list[FactName]:
        """Return each name in the facts that pass the filter once, in the spelling first seen, ordered by key."""

    def spelling(self, key: str, *, predicate: bool = False) -> str | None:
        """Return how any fact, current or past, spelt the subject or object (or the predicate) with this key."""
