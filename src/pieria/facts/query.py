"""Looks up facts, each once: a fact stated by several memories is one answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pieria.facts.aliases import Aliases
from pieria.facts.intervals import BEGINNING, Span, spanned
from pieria.record.fact import Fact, FactQuery
from pieria.record.factnames import folded, folded_predicate
from pieria.record.filter import Filter
from pieria.store.facts import FactSpan
from pieria.store.protocol import Reader

Triple = tuple[str, str, str]

DIRECTIONS = ("both", "out", "in")
FEW = 200
"""With more facts than this, reading every alias is cheaper than looking up those of the facts."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query by name; all given names must match. `valid_at` None asks for all times."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    entity: str | None = None
    direction: str = "both"
    memory: str | None = None
    valid_at: int | None = None
    limit: int | None = None


def found(reader: Reader, question: Question, filter: Filter) -> list[Fact]:
    """Return the facts that match. The limit keeps the last answers. Facts that do not hold, and repetitions, do not
    count.

    The store cannot apply that limit: choose among the spans, then read only the chosen facts.
    """
    spans = reader.spans(_query(question, Aliases(reader)), filter)
    once = _each_once(spans, question.valid_at, _aliases_in(reader, spans))
    return whole(reader, once if question.limit is None else once[-question.limit :], filter)


def found_each(
    reader: Reader, entities: Collection[str], valid_at: int | None, limit: int | None, filter: Filter
) -> dict[str, list[Fact]]:
    """Return the facts of each entity, with shared look-ups."""
    asked = Aliases(reader)
    asked.look_up(map(folded, entities))
    roots = {name: asked.entity(name) for name in entities}
    asked.look_up(roots.values())
    keys = dict.fromkeys(key for name in entities for key in asked.group(name))
    spans = reader.spans(FactQuery(either_keys=tuple(keys)), filter)
    aliases = _aliases_in(reader, spans)
    about: dict[str, list[FactSpan]] = {root: [] for root in roots.values()}
    for span in _each_once(spans, valid_at, aliases):
        for root in {aliases.root(span.subject_key), aliases.root(span.object_key)} & about.keys():
            about[root].append(span)
    last = {root: those if limit is None else those[-limit:] for root, those in about.items()}
    ids = dict.fromkeys(span.id for those in last.values() for span in those)
    held = {fact.id: fact for fact in reader.facts(FactQuery(ids=tuple(ids)), filter)}
    return {name: [held[span.id] for span in last[root]] for name, root in roots.items()}


def _aliases_in(reader: Reader, spans: Sequence[FactSpan]) -> Aliases:
    """Return the aliases of the names in these facts, read at once."""
    aliases = Aliases(reader, all_at_once=len(spans) > FEW)
    aliases.look_up(key for span in spans for key in (span.subject_key, span.object_key))
    return aliases


def _each_once(spans: Sequence[FactSpan], valid_at: int | None, aliases: Aliases) -> list[FactSpan]:
    return at_all_times(spans, aliases) if valid_at is None else at_one_time(spans, valid_at, aliases)


def whole(reader: Reader, spans: Iterable[FactSpan], filter: Filter) -> list[Fact]:
    """Return the facts of these spans, in the store's order."""
    return reader.facts(FactQuery(ids=tuple(span.id for span in spans)), filter)


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
        memory=question.memory,
    )


def _both(keys: tuple[str, ...] | None, others: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if keys is None or others is None:
        return keys if others is None else others
    return tuple(key for key in keys if key in others)


def at_one_time(spans: Iterable[FactSpan], at: int, aliases: Aliases) -> list[FactSpan]:
    """Return the facts that hold at that moment. Of equal triples keep the one that depends on least."""
    holding = [span for span in spans if span.holds_at(at)]
    kept = {min(group, key=_rank).id for group in alike(holding, aliases).values()}
    return [span for span in holding if span.id in kept]


def at_all_times(spans: Iterable[FactSpan], aliases: Aliases) -> list[FactSpan]:
    """Return every fact, except those whose time an equal triple covers."""
    every = list(spans)
    kept = {span.id for group in alike(every, aliases).values() for span in widest(group)}
    return [span for span in every if span.id in kept]


def alike(spans: Iterable[FactSpan], aliases: Aliases) -> dict[Triple, list[FactSpan]]:
    """Return the facts grouped by triple."""
    found: dict[Triple, list[FactSpan]] = {}
    for span in spans:
        said = aliases.root(span.subject_key), span.predicate_key, aliases.root(span.object_key)
        if said in found:
            found[said].append(span)
        else:
            found[said] = [span]
    return found


def widest(group: list[FactSpan]) -> list[FactSpan]:
    """Return those of equal triples whose time no other covers."""
    if len(group) == 1:
        return group
    kept: list[FactSpan] = []
    reached = BEGINNING
    for span in sorted(group, key=_widest_first):
        end = time_of(span).end
        if end > reached:
            kept.append(span)
            reached = end
    return kept


def time_of(span: FactSpan) -> Span:
    return spanned(span.valid_from, span.valid_until)


def _rank(span: FactSpan) -> tuple[bool, int, str]:
    return span.memory not in (None, span.id), span.known_from, span.id


def _widest_first(span: FactSpan) -> tuple[int, int, tuple[bool, int, str]]:
    begin, end = time_of(span)
    return begin, -end, _rank(span)
