"""What a store offers about facts: the part of the protocol for `facts`, and for what recall draws from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pieria.record.fact import Fact, FactName, FactQuery
from pieria.record.filter import Filter
from pieria.record.time import is_over, is_to_come


class FactSpan(NamedTuple):
    """A fact by its keys and the time it holds: what it takes to count facts and to choose among them.

    Of the names only the predicate's spelling is here. Instants are microseconds.
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
        """Facts at the filter's known time whose memory, if they name one, is visible, in the order of `valid_from`.

        Each is held to the time its memory holds; with `valid_at` ANY_TIME it comes as it was written.
        """

    def spans(self, query: FactQuery, filter: Filter) -> list[FactSpan]:
        """The same facts in the same order, for a fraction of the cost where many are looked through."""

    def sourceless(self, after: int, limit: int) -> list[tuple[int, Fact]]:
        """Current facts that name no memory, each with its entry: those of later entries, in their order."""

    def last_fact(self) -> int:
        """The entry of the fact that was written last; 0 where there never was one."""

    def drawn(self, keys: Sequence[str], filter: Filter, newest: int, *, ended: bool = False) -> list[FactSpan]:
        """The facts about these names, on either side, that were drawn from a memory which the whole filter lets
        through, and hold at its valid time: no more than so many, those that were written last.

        With `ended` come as many of those that do not hold then.
        """

    def names(self, filter: Filter, prefix: str = "") -> list[FactName]:
        """Every name that stands in a fact the filter lets through, once, in the spelling first seen, by its key."""

    def spelling(self, key: str, *, predicate: bool = False) -> str | None:
        """How the subject or object (or the predicate) of this key was written in any fact there ever was."""
