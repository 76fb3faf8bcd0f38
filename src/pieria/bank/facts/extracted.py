"""What extraction reads in a text, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pieria.bank.core import EVERYTHING, Core
from pieria.record.fact import (
    Fact,
    FactQuery,
)
from pieria.record.filter import Filter
from pieria.record.reply import Reply
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.language.grammar import Named, Triple

SOURCE = "extract"
"""The source of facts extracted by this verb."""
MENTIONS = "mentions"
UNSAID = "its memory does not say so any more"
TIMES = frozenset({"date"})
"""Kinds of names that are not entities."""


@dataclass(frozen=True, slots=True)
class Extracted(Reply):
    """What was extracted from a memory, or the id of the job that will do it. `left` could not be kept as facts."""

    engine: str
    entities: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    queued: str | None = None
    left: int = 0


class Wanted(NamedTuple):
    """What to extract from a memory."""

    entities: bool
    statements: bool


class Read:
    """What the mind finds in texts. Each text is read once, if possible before the write that needs it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._named: dict[str, tuple[Named, ...]] = {}
        self._stated: dict[str, tuple[Triple, ...]] = {}

    def ahead(self, text: str, wanted: Wanted) -> None:
        if self._core.llm is None:
            if wanted.entities:
                self.entities(text)
            if wanted.statements:
                self.triples(text)

    def entities(self, text: str) -> tuple[Named, ...]:
        if text not in self._named:
            self._named[text] = tuple(self._core.mind.entities(text))
        return self._named[text]

    def triples(self, text: str) -> tuple[Triple, ...]:
        if text not in self._stated:
            self._stated[text] = tuple(self._core.mind.triples(text))
        return self._stated[text]


def drawn_from(reader: Reader, id: str, filter: Filter) -> list[Fact]:
    """Return the facts that refer to the memory, of any source, removed ones included."""
    return reader.facts(FactQuery(memory=id, include_ended=True), filter.having(viewer=EVERYTHING).anything())


def worded_first(reader: Reader, id: str, filter: Filter) -> dict[str, Fact]:
    """Return the first version of each fact that refers to the memory. A fact that differs from it was corrected."""
    query = FactQuery(memory=id, include_ended=True, every_version=True)
    every = reader.facts(query, filter.having(viewer=EVERYTHING).anything())
    return {fact.id: fact for fact in sorted(every, key=lambda fact: fact.known_from, reverse=True)}
