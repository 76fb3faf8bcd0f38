"""Looks facts up, each once: what several memories say is one fact to whoever asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pieria.facts.aliases import Aliases
from pieria.facts.intervals import BEGINNING, span_of
from pieria.facts.names import folded_predicate
from pieria.record.fact import Fact, FactQuery
from pieria.record.filter import Filter
from pieria.record.time import micros, moment
from pieria.store.protocol import Reader

Triple = tuple[str, str, str]

DIRECTIONS = ("both", "out", "in")
FEW = 200
"""Up to so many facts, looking up the aliases of each name costs less than reading every alias there is."""


@dataclass(frozen=True, slots=True)
class Question:
    """Names as asked for; all that are given must match. `valid_at` None asks for every time."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    entity: str | None = None
    direction: str = "both"
    valid_at: int | None = None
    limit: int | None = None


def found(reader: Reader, question: Question, filter: Filter) -> list[Fact]:
    """The limit is of answers and keeps the last: rows that do not hold, or say what another one says, are none.

    So the store cannot apply it, and as many rows are read as the names in the question stand in.
    """
    facts = reader.facts(_query(question, Aliases(reader)), filter)
    aliases = Aliases(reader, all_at_once=len(facts) > FEW)
    if question.valid_at is None:
        once = at_all_times(facts, aliases)
    else:
        once = at_one_time(facts, moment(question.valid_at), aliases)
    return once if question.limit is None else once[-question.limit :]


def _query(question: Question, aliases: Aliases) -> FactQuery:
    subject = None if question.subject is None else aliases.group(question.subject)
    object = None if question.object is None else aliases.group(question.object)
    entity = None if question.entity is None else aliases.group(question.entity)
    if question.direction == "out":
        subject, entity = _both(subject, entity), None
    elif question.direction == "in":
        object, entity = _both(object, entity), None
    return FactQuery(
        subject_keys=subject,
        predicate_keys=None if question.predicate is None else (folded_predicate(question.predicate),),
        object_keys=object,
        either_keys=entity,
    )


def _both(keys: tuple[str, ...] | None, others: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if keys is None or others is None:
        return keys if others is None else others
    return tuple(key for key in keys if key in others)


def at_one_time(facts: Iterable[Fact], at: datetime, aliases: Aliases) -> list[Fact]:
    """What holds at the moment; of facts of the same words the one that depends on least."""
    holding = [fact for fact in facts if fact.holds_at(at)]
    once: dict[Triple, Fact] = {}
    for fact in holding:
        said = triple(fact, aliases)
        if said not in once or _rank(fact) < _rank(once[said]):
            once[said] = fact
    kept = {fact.id for fact in once.values()}
    return [fact for fact in holding if fact.id in kept]


def at_all_times(facts: Iterable[Fact], aliases: Aliases) -> list[Fact]:
    """Every fact but those of the same words whose whole time another one covers."""
    every = list(facts)
    kept = {fact.id for group in alike(every, aliases).values() for fact in widest(group)}
    return [fact for fact in every if fact.id in kept]


def alike(facts: Iterable[Fact], aliases: Aliases) -> dict[Triple, list[Fact]]:
    """The facts of the same words."""
    found: dict[Triple, list[Fact]] = {}
    for fact in facts:
        said = triple(fact, aliases)
        if said in found:
            found[said].append(fact)
        else:
            found[said] = [fact]
    return found


def widest(group: list[Fact]) -> list[Fact]:
    """Of facts of the same words those whose time no other one covers."""
    if len(group) == 1:
        return group
    kept: list[Fact] = []
    reached = BEGINNING
    for fact in sorted(group, key=_widest_first):
        end = span_of(fact).end
        if end > reached:
            kept.append(fact)
            reached = end
    return kept


def triple(fact: Fact, aliases: Aliases) -> Triple:
    return aliases.entity(fact.subject), folded_predicate(fact.predicate), aliases.entity(fact.object)


def _rank(fact: Fact) -> tuple[bool, int, str]:
    return fact.memory is not None, micros(fact.known_from), fact.id


def _widest_first(fact: Fact) -> tuple[int, int, tuple[bool, int, str]]:
    span = span_of(fact)
    return span.begin, -span.end, _rank(fact)
