"""Totals over a bank's facts: its entities, its counts, and its conflicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pieria.facts.aliases import Aliases
from pieria.facts.predicates import Predicate, listed, single_valued
from pieria.facts.query import alike, at_all_times, time_of, whole, widest
from pieria.record.fact import Fact, FactQuery
from pieria.record.factnames import folded, folded_predicate
from pieria.record.filter import Filter
from pieria.record.time import is_over, is_to_come, micros
from pieria.store.facts import FactSpan
from pieria.store.protocol import Reader


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in facts, its aliases, and the number of their facts."""

    name: str
    aliases: tuple[str, ...]
    facts: int

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "aliases": list(self.aliases), "facts": self.facts}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that contradict each other at one time: one subject, a single-valued predicate, different objects."""

    subject: str
    predicate: str
    facts: tuple[Fact, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "predicate": self.predicate,
            "facts": [fact.as_dict() for fact in self.facts],
        }


@dataclass(frozen=True, slots=True)
class FactStats:
    """`facts` counts facts of all times: current, ended and upcoming."""

    entities: int
    facts: int
    current: int
    ended: int
    upcoming: int
    predicates: dict[str, int]
    single_valued: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "entities": self.entities,
            "facts": self.facts,
            "current": self.current,
            "ended": self.ended,
            "upcoming": self.upcoming,
            "predicates": dict(self.predicates),
            "single_valued": list(self.single_valued),
        }


def entities(reader: Reader, prefix: str, filter: Filter) -> list[Entity]:
    """Return the entities by name. `prefix` may match any of an entity's names."""
    aliases = Aliases(reader, all_at_once=True)
    names: dict[str, str] = {}
    counts: defaultdict[str, int] = defaultdict(int)
    matching: set[str] = set()
    for key, name, number in reader.names(filter):
        root = aliases.root(key)
        counts[root] += number
        names.setdefault(root, aliases.display(root) or name)
        matching.update([root] if key.startswith(prefix) else [])
    for alias, name in aliases.pairs().items():
        root = folded(name)
        names.setdefault(root, name)
        matching.update([root] if folded(alias).startswith(prefix) or root.startswith(prefix) else [])
    found = [Entity(names[root], aliases.names(root), counts[root]) for root in matching]
    return sorted(found, key=lambda entity: (folded(entity.name), entity.name))


def entity(reader: Reader, name: str, filter: Filter) -> Entity:
    """Return the entity for a name."""
    aliases = Aliases(reader)
    root = aliases.entity(name)
    facts = reader.spans(FactQuery(either_keys=aliases.group(name)), filter)
    return Entity(aliases.display(root) or reader.spelling(root) or name, aliases.names(root), len(facts))


def predicates(reader: Reader, filter: Filter) -> list[Predicate]:
    aliases = Aliases(reader, all_at_once=True)
    groups = alike(reader.spans(FactQuery(), filter), aliases).values()
    return listed(reader, Counter(span.predicate for group in groups for span in widest(group)))


def stats(reader: Reader, now: datetime, filter: Filter) -> FactStats:
    aliases = Aliases(reader, all_at_once=True)
    entities: set[str] = set()
    spelt: Counter[str] = Counter()
    current = ended = upcoming = 0
    at = micros(now)
    spans = reader.spans(FactQuery(), filter.having(valid_at=None))
    for (subject, _, object), group in alike(spans, aliases).items():
        entities.update((subject, object))
        current += any(span.holds_at(at) for span in group)
        for span in widest(group):
            spelt[span.predicate] += 1
            ended += is_over(span.valid_until, at)
            upcoming += is_to_come(span.valid_from, at)
    predicates = listed(reader, spelt)
    return FactStats(
        entities=len(entities),
        facts=spelt.total(),
        current=current,
        ended=ended,
        upcoming=upcoming,
        predicates={predicate.name: predicate.facts for predicate in predicates if predicate.facts},
        single_valued=tuple(predicate.name for predicate in predicates if predicate.single_valued),
    )


def conflicts(reader: Reader, subject: str | None, predicate: str | None, filter: Filter) -> list[Conflict]:
    aliases = Aliases(reader, all_at_once=True)
    single = single_valued(reader)
    wanted = set(single) if predicate is None else {folded_predicate(predicate)} & set(single)
    query = FactQuery(
        subject_keys=None if subject is None else aliases.group(subject), predicate_keys=tuple(sorted(wanted))
    )
    slots: defaultdict[tuple[str, str], list[FactSpan]] = defaultdict(list)
    for span in at_all_times(reader.spans(query, filter), aliases):
        slots[aliases.root(span.subject_key), span.predicate_key].append(span)
    against = {slot: at_odds for slot, spans in slots.items() if (at_odds := _at_odds(spans, aliases))}
    told = [span for slot, at_odds in against.items() for span in (slots[slot][0], *at_odds)]
    facts = {fact.id: fact for fact in whole(reader, told, filter)}
    return [
        Conflict(
            subject=aliases.display(entity) or facts[slots[entity, key][0].id].subject,
            predicate=single[key],
            facts=tuple(facts[span.id] for span in at_odds),
        )
        for (entity, key), at_odds in sorted(against.items())
    ]


def _at_odds(spans: Iterable[FactSpan], aliases: Aliases) -> list[FactSpan]:
    """Return the facts that overlap one with another object, in order of their start."""
    running: list[tuple[FactSpan, int, str]] = []
    found: set[str] = set()
    ordered = sorted(spans, key=lambda span: time_of(span).begin)
    for span in ordered:
        (begin, end), object = time_of(span), aliases.root(span.object_key)
        running = [item for item in running if item[1] > begin]
        against = [other.id for other, _, its_object in running if its_object != object]
        found.update([*against, span.id] if against else [])
        running.append((span, end, object))
    return [span for span in ordered if span.id in found]
