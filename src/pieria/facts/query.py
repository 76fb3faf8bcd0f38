"""Looks up facts, each once: a fact stated by several memories is one answer. Totals and conflicts too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pieria.facts.aliases import Aliases
from pieria.facts.predicates import Predicate, declared_name, is_single, listed, single_valued
from pieria.facts.validity import BEGINNING, Span, span_of, spanned
from pieria.record.days import Given
from pieria.record.fact import Fact, FactQuery, folded, folded_predicate, predicate_keys
from pieria.record.filter import Filter
from pieria.record.reply import Reply
from pieria.record.time import is_over, is_to_come, micros
from pieria.store.facts import FactSpan
from pieria.store.protocol import Reader

Triple = tuple[str, str, str]
DIRECTIONS = ("both", "out", "in")
FEW = 200
"""With more facts than this, reading every alias is cheaper than looking up those of the facts."""
LONGEST_DAY = 25 * 3_600_000_000
"""In microseconds: the day on which clocks are set back."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query by name; all given names must match. `valid_at` None asks for all times."""

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    entity: str | None = None
    direction: str = "both"
    memory: str | None = None
    valid_at: Given | None = None
    limit: int | None = None


def found(reader: Reader, question: Question, filter: Filter) -> list[Fact]:
    """Return the facts that match. The limit keeps the last answers. Facts that do not hold, and repetitions, do not
    count.

    The store cannot apply that limit: choose among the spans, then read only the chosen facts.
    """
    spans = reader.spans(_query(question, Aliases(reader)), filter)
    once = _each_once(reader, spans, question.valid_at, _aliases_in(reader, spans), filter)
    return whole(reader, once if question.limit is None else once[-question.limit :], filter)


def found_each(
    reader: Reader, entities: Collection[str], valid_at: Given | None, limit: int | None, filter: Filter
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
    for span in _each_once(reader, spans, valid_at, aliases, filter):
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


def _each_once(
    reader: Reader, spans: Sequence[FactSpan], valid_at: Given | None, aliases: Aliases, filter: Filter
) -> list[FactSpan]:
    if valid_at is None:
        return at_all_times(spans, aliases)
    within = [span for span in spans if valid_at.includes(span.valid_from, span.valid_until)]
    brief = _last_of_the_day(reader, within, valid_at, filter) if within else frozenset()
    return at_one_time(spans, valid_at.last, brief, aliases)


def _last_of_the_day(reader: Reader, within: Sequence[FactSpan], day: Given, filter: Filter) -> frozenset[str]:
    """Return the ids of facts that began and ended on the day, if no other value followed that day.

    A day is answered by its end, so nothing else would ever find these.
    """
    aliases = Aliases(reader)
    subjects = tuple(dict.fromkeys(key for span in within for key in aliases.group(span.subject_key)))
    predicates = tuple(dict.fromkeys(span.predicate_key for span in within))
    slots: defaultdict[tuple[str, str], list[FactSpan]] = defaultdict(list)
    for span in reader.spans(FactQuery(subject_keys=subjects, predicate_keys=predicates), filter):
        slots[aliases.root(span.subject_key), span.predicate_key].append(span)
    single = {key for key in predicates if is_single(reader, key)}

    def is_followed(span: FactSpan) -> bool:
        end = span.valid_until
        assert end is not None
        until = day.last if span.predicate_key in single else end
        others = slots[aliases.root(span.subject_key), span.predicate_key]
        starts = [other.valid_from for other in others if other.id != span.id and other.valid_from is not None]
        return any(end <= start <= until for start in starts)

    return frozenset(span.id for span in within if not is_followed(span))


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
        predicate_keys=None if question.predicate is None else predicate_keys(question.predicate),
        object_keys=object,
        either_keys=entity,
        memory=question.memory,
    )


def _both(keys: tuple[str, ...] | None, others: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if keys is None or others is None:
        return keys if others is None else others
    return tuple(key for key in keys if key in others)


def at_one_time(spans: Iterable[FactSpan], at: int, also: Collection[str], aliases: Aliases) -> list[FactSpan]:
    """Return the facts that hold at that moment, and those of the ids `also`. Of equal triples keep the one that
    depends on least.
    """
    holding = [span for span in spans if span.holds_at(at) or span.id in also]
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


def is_instant(span: FactSpan) -> bool:
    """Return whether the fact ended the instant it began."""
    return span.valid_from is not None and span.valid_from == span.valid_until


def time_of(span: FactSpan) -> Span:
    return spanned(span.valid_from, span.valid_until)


def _rank(span: FactSpan) -> tuple[bool, int, str]:
    return span.memory not in (None, span.id), span.known_from, span.id


def _widest_first(span: FactSpan) -> tuple[int, int, tuple[bool, int, str]]:
    begin, end = time_of(span)
    return begin, -end, _rank(span)


@dataclass(frozen=True, slots=True)
class Entity(Reply):
    """A name in facts, its aliases, and the number of their facts."""

    name: str
    aliases: tuple[str, ...]
    facts: int


@dataclass(frozen=True, slots=True)
class Conflict(Reply):
    """Facts that contradict each other at one time: one subject, a single-valued predicate, different objects."""

    subject: str
    predicate: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class StatedFact(Reply):
    """A stated fact, the other values that ended or moved for it, and those that hold at some time together with it."""

    fact: Fact
    is_new: bool
    """False if everything was known before, so that nothing was written."""
    is_single_valued: bool
    closed: tuple[Fact, ...]
    """With their new times. A value displaced for its whole time is `removed`."""
    beside: tuple[Fact, ...]

    @property
    def conflicts(self) -> tuple[Fact, ...]:
        """What holds beside it although the predicate has one value at a time."""
        return self.beside if self.is_single_valued else ()


@dataclass(frozen=True, slots=True)
class FactStats(Reply):
    """`facts` counts facts of all times: current, ended and upcoming."""

    entities: int
    facts: int
    current: int
    ended: int
    upcoming: int
    predicates: dict[str, int]
    single_valued: tuple[str, ...]


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
    wanted = single if predicate is None else {folded_predicate(predicate)} & single
    query = FactQuery(
        subject_keys=None if subject is None else aliases.group(subject),
        predicate_keys=tuple(sorted({spelt for key in wanted for spelt in predicate_keys(key)})),
    )
    slots: defaultdict[tuple[str, str], list[FactSpan]] = defaultdict(list)
    for span in at_all_times(reader.spans(query, filter), aliases):
        slots[aliases.root(span.subject_key), folded_predicate(span.predicate_key)].append(span)
    against = {slot: at_odds for slot, spans in slots.items() if (at_odds := _at_odds(spans, aliases))}
    told = [span for slot, at_odds in against.items() for span in (slots[slot][0], *at_odds)]
    facts = {fact.id: fact for fact in whole(reader, told, filter)}
    return [
        Conflict(
            subject=aliases.display(entity) or facts[slots[entity, key][0].id].subject,
            predicate=declared_name(reader, key) or reader.spelling(key, predicate=True) or key,
            facts=tuple(facts[span.id] for span in at_odds),
        )
        for (entity, key), at_odds in sorted(against.items())
    ]


def find_beside(reader: Reader, fact: Fact, filter: Filter) -> list[Fact]:
    """Return other values of the fact's subject and predicate that hold at some time together with it.

    For a single-valued predicate leave out a value that ended on the day on which the next began.
    """
    aliases = Aliases(reader)
    query = FactQuery(subject_keys=aliases.group(fact.subject), predicate_keys=predicate_keys(fact.predicate))
    own, object = span_of(fact), aliases.entity(fact.object)
    is_one = is_single(reader, folded_predicate(fact.predicate))
    spans = at_all_times(reader.spans(query, filter), aliases)
    beside = [span for span in spans if aliases.root(span.object_key) != object and time_of(span).within(own)]
    found = [span for span in beside if not (is_one and _is_handover(time_of(span), own))]
    return whole(reader, found, filter)


def _is_handover(one: Span, other: Span) -> bool:
    """Return whether one value ended on the day on which the other began."""
    return any(
        begun.begin <= over.begin and over.end < begun.end and over.end - begun.begin <= LONGEST_DAY
        for over, begun in ((one, other), (other, one))
    )


def _at_odds(spans: Iterable[FactSpan], aliases: Aliases) -> list[FactSpan]:
    """Return the facts that overlap one with another object, in order of their start."""
    running: list[tuple[FactSpan, int, str]] = []
    found: set[str] = set()
    ordered = sorted((span for span in spans if not is_instant(span)), key=lambda span: time_of(span).begin)
    for span in ordered:
        (begin, end), object = time_of(span), aliases.root(span.object_key)
        running = [item for item in running if item[1] > begin]
        others = [other for other, _, its_object in running if its_object != object]
        against = [other.id for other in others if not _is_handover(time_of(other), time_of(span))]
        found.update([*against, span.id] if against else [])
        running.append((span, end, object))
    return [span for span in ordered if span.id in found]
