"""Checks a statement and plans its effect: the fact it adds, widens, confirms or ends, and the facts it moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

from pieria.errors import InputError, NotFoundError
from pieria.facts.aliases import Aliases
from pieria.facts.predicates import Declaration, declaration
from pieria.facts.validity import (
    Held,
    Slot,
    Span,
    as_written,
    cut,
    joined,
    over,
    own_time,
    span_of,
    spanned,
    stated_span,
    times_of,
)
from pieria.record import check
from pieria.record.changeset import FOREVER
from pieria.record.draft import Instant, Problems, interval, moment
from pieria.record.fact import (
    Fact,
    FactQuery,
    FactRow,
    checked_name,
    checked_predicate,
    folded,
    folded_predicate,
    row_of,
)
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.time import iso, micros
from pieria.record.trust import AGENT, PERSON, TRUST, lowest, may_overturn
from pieria.store.protocol import Reader

TIMES_TOLD = 3
SHOWN = 5
NAMES_COMPARED = 2_000
"""Most names to compare for a similar spelling: each comparison is slow."""
NEVER_HELD = "it was said not to have held"


class Planned(NamedTuple):
    """What to write, and what to return: some of these rows, or facts that need no write."""

    rows: list[FactRow]
    answers: Sequence[FactRow | Fact]


def added(reader: Reader, statement: Statement, filter: Filter) -> Planned:
    slot = _making_room(reader, statement, slot_of(reader, statement, filter))
    return _stated(reader, _within_memory(reader, statement, filter), slot, filter.now)


def superseding(reader: Reader, statement: Statement, filter: Filter, replaces: str | None = None) -> Planned:
    """Plan a statement that ends all other values of the subject and predicate when it begins, or only `replaces`."""
    at = filter.now if statement.valid_from is None else statement.valid_from
    statement = _within_memory(reader, replace(statement, valid_from=at), filter)
    begin = statement.valid_from
    assert begin is not None
    slot = _making_room(reader, statement, slot_of(reader, statement, filter, every_object=True))
    ending = [held for held in slot.others if held.span.holds(begin)]
    if replaces is not None:
        ending = _saying(reader, replaces, slot, begin, statement)
    rows = [row for held in ending for row in cut(held, Span(begin, FOREVER))]
    rest = slot._replace(others=[held for held in slot.others if slot.declared and held not in ending])
    planned = _stated(reader, statement, rest, filter.now)
    return Planned(rows + planned.rows, planned.answers)


def _saying(reader: Reader, object: str, slot: Slot, at: int, statement: Statement) -> list[Held]:
    """Return the facts with this value at that moment. Raise `NotFoundError` if there is none."""
    named = Aliases(reader).group(object)
    known = [*slot.same, *slot.others]
    found = [held for held in slot.others if held.span.holds(at) and folded(held.fact.object) in named]
    if not found:
        then = ", ".join(dict.fromkeys(held.fact.object for held in known if held.span.holds(at)))
        hints = [f"What holds then is: {then}." if then else "Nothing holds then that could make room."]
        hints += [_when(held.fact) for held in known if folded(held.fact.object) in named]
        named_fact = f"{statement.subject} {statement.predicate} {object}"
        raise NotFoundError("fact", named_fact, hint=" ".join(hints[: 1 + TIMES_TOLD]))
    return found


def _when(fact: Fact) -> str:
    since = "" if fact.valid_from is None else f" from {iso(fact.valid_from)}"
    until = "" if fact.valid_until is None else f" until {iso(fact.valid_until)}"
    return f"{fact.object} holds{since}{until}."


def slot_of(reader: Reader, statement: Statement, filter: Filter, *, every_object: bool = False) -> Slot:
    aliases = Aliases(reader)
    predicate = folded_predicate(statement.predicate)
    declared = declaration(reader, predicate)
    objects = aliases.group(statement.object)
    query = FactQuery(
        subject_keys=aliases.group(statement.subject),
        predicate_keys=(predicate,),
        object_keys=None if declared or every_object else objects,
    )
    slot = Slot([], [], declared)
    facts = reader.facts(query, as_written(filter))
    times = times_of(reader, (fact.source_memory for fact in facts), filter)
    stated = _stated_at(reader, facts) if declared else {}
    for fact in facts:
        span = span_of(fact).within(times[fact.source_memory])
        if span is not None:
            held = Held(fact, span, stated.get(fact.id, micros(fact.known_from)))
            (slot.same if folded(fact.object) in objects else slot.others).append(held)
    return slot


def _making_room(reader: Reader, statement: Statement, slot: Slot) -> Slot:
    """Return the slot without values that the statement must not displace, because they are trusted more. Such values
    and the statement both hold, and contradict each other.
    """
    via, trust = statement.via, TRUST[lowest(statement.via)]
    memories = [held.fact.memory for held in slot.others if held.fact.memory is not None]
    states = reader.states([*memories, *([] if statement.memory is None else [statement.memory])])
    if statement.memory in states:
        via, trust = states[statement.memory].state.via, states[statement.memory].state.trust
    if TRUST[lowest(via)] >= TRUST[AGENT]:
        return slot
    told = [(held, states.get(held.fact.memory or "")) for held in slot.others]
    return slot._replace(
        others=[
            held
            for held, memory in told
            if memory is None or may_overturn(via, trust, memory.state.via, memory.state.trust)
        ]
    )


def _stated_at(reader: Reader, facts: Sequence[Fact]) -> dict[str, int]:
    """Return when each fact stated alone was said. Its memory keeps that time through later changes of the fact."""
    alone = [fact.id for fact in facts if fact.memory == fact.id]
    return {id: held.state.at for id, held in reader.states(alone).items()} if alone else {}


def _stated(reader: Reader, statement: Statement, slot: Slot, now: int) -> Planned:
    span = stated_span(statement.valid_from, statement.valid_until, slot, now)
    rows: list[FactRow] = []
    if not any(held.span.covers(span) for held in slot.same):
        for held in slot.others:
            if held.span.overlaps(span):
                own = own_time(held, slot.declared, span.begin, now)
                ends_here = statement.valid_until is None and own.begin <= span.begin
                rows += cut(held, Span(span.begin, FOREVER) if ends_here else span, own)
    mine = [held for held in slot.same if held.fact.source_memory == statement.memory and held.span.meets(span)]
    planned = _merged(mine, statement, span) if mine else _new(reader, statement, span, slot.declared)
    return Planned(rows + planned.rows, planned.answers)


def _merged(mine: list[Held], statement: Statement, span: Span) -> Planned:
    """Merge the facts of this source that the statement meets. The result keeps the id of the first."""
    kept, *absorbed = sorted(mine, key=lambda held: (held.span.begin, held.fact.id))
    whole = joined([span, *(held.written() for held in mine)])
    said: list[Statement | Fact] = [statement, kept.fact, *(held.fact for held in absorbed)]
    confidences = [each.confidence for each in said if each.confidence is not None]
    sources = [each.source for each in (kept.fact, *said) if each.source is not None]
    old = row_of(kept.fact)
    row = over(old, whole)._replace(
        confidence=max(confidences, default=None),
        source=sources[0] if sources else None,
        reason=old.reason if whole == kept.written() else None,
    )
    rows = [] if row == old else [row]
    rows += [row_of(held.fact)._replace(ended="removed", reason=f"joined with {old.id}") for held in absorbed]
    return Planned(rows, [row if row != old else kept.fact])


def _new(reader: Reader, statement: Statement, span: Span, declared: Declaration | None) -> Planned:
    aliases = Aliases(reader)

    def spelt(name: str) -> str:
        key = folded(name)
        return reader.spelling(key) or aliases.display(key) or name

    predicate = folded_predicate(statement.predicate)
    spelt_before = declared.name if declared else reader.spelling(predicate, predicate=True)
    begin, end = span.bounds()
    row = FactRow(
        id=new_id(),
        subject=spelt(statement.subject),
        subject_key=folded(statement.subject),
        predicate=spelt_before or statement.predicate,
        predicate_key=predicate,
        object=spelt(statement.object),
        object_key=folded(statement.object),
        valid_from=begin,
        valid_until=end,
        confidence=statement.confidence,
        memory=statement.memory,
        source=statement.source,
        ended="",
        reason=None,
    )
    return Planned([row], [row])


def _within_memory(reader: Reader, statement: Statement, filter: Filter) -> Statement:
    """Return the statement, limited to the time that its memory holds."""
    if statement.memory is None:
        return statement
    source = times_of(reader, [statement.memory], filter).get(statement.memory)
    if source is None:
        hint = "Facts can name memories of this bank that can be seen from here and are not removed."
        raise NotFoundError("memory", statement.memory, hint=hint)
    held = spanned(statement.valid_from, statement.valid_until).within(source)
    if held is None:
        raise InputError("memory", "a memory that holds at the time of the fact", statement.memory)
    valid_from, valid_until = held.bounds()
    return replace(statement, valid_from=valid_from, valid_until=valid_until)


def ended(reader: Reader, statement: Statement, at: int, reason: str | None, filter: Filter) -> Planned:
    """Plan to end what holds at that moment. If nothing does, remove facts that begin later."""
    slot = slot_of(reader, statement, filter, every_object=True)
    ending = [held for held in slot.same if held.span.holds(at)] or [held for held in slot.same if held.span.begin > at]
    if not ending:
        hint = _hint(reader, statement, slot, filter)
        raise NotFoundError("fact", f"{statement.subject} {statement.predicate} {statement.object}", hint=hint)
    rows = [
        row_of(held.fact)._replace(valid_until=at, reason=reason)
        if held.written().begin < at
        else row_of(held.fact)._replace(ended="removed", reason=reason or NEVER_HELD)
        for held in ending
    ]
    return Planned(rows, rows)


def removed(reader: Reader, id: str, reason: str | None, filter: Filter) -> Planned:
    found = reader.facts(FactQuery(ids=(id,), include_ended=True), as_written(filter))
    if not found:
        raise NotFoundError("fact", id, hint="`query` and `timeline` show the ids.")
    if found[0].ended:
        raise NotFoundError("fact", id, hint="It was removed before.")
    rows = [row_of(found[0])._replace(ended="removed", reason=reason)]
    return Planned(rows, rows)


def _hint(reader: Reader, statement: Statement, slot: Slot, filter: Filter) -> str:
    """Return the nearest hint: the fact's own end, else other facts in its place, else names with similar spelling."""
    ends = [held.fact.valid_until for held in slot.same if held.fact.valid_until is not None]
    if ends:
        return f"It ended at {iso(max(ends))}."
    if slot.others:
        objects = _listed(held.fact.object for held in slot.others)
        return f"Of {statement.subject} {statement.predicate} is known: {objects}."
    subject = FactQuery(subject_keys=Aliases(reader).group(statement.subject))
    predicates = _listed(fact.predicate for fact in reader.facts(subject, filter))
    if predicates:
        return f"Of {statement.subject} is known: {predicates}."
    near = _near(reader, statement.subject, filter)
    advice = "`entities` lists the names." if near is None else f"Did you mean {near}?"
    return f"No fact is about {statement.subject}. {advice}"


def _listed(names: Iterable[str]) -> str:
    once = list(dict.fromkeys(names))
    return ", ".join(once[:SHOWN]) + (", …" if len(once) > SHOWN else "")


def _near(reader: Reader, name: str, filter: Filter) -> str | None:
    key = folded(name)
    names = {held.key: held.name for held in reader.names(filter, key[:1])}
    near = get_close_matches(key, list(names)[:NAMES_COMPARED], 1)
    return names[near[0]] if near else None


@dataclass(frozen=True, slots=True)
class Statement:
    """Bounds are microseconds; None if the caller gave none."""

    subject: str
    predicate: str
    object: str
    valid_from: int | None = None
    valid_until: int | None = None
    confidence: float | None = None
    memory: str | None = None
    source: str | None = None
    via: str = PERSON
    """The channel of a statement without a memory."""


def checked_triple(problems: Problems, subject: object, predicate: object, object: object) -> tuple[str, str, str]:
    return (
        problems.of(checked_name, subject, "subject"),
        problems.of(checked_predicate, predicate),
        problems.of(checked_name, object, "object"),
    )


def checked_statement(
    subject: object,
    predicate: object,
    object: object,
    *,
    valid_from: Instant | None = None,
    valid_until: Instant | None = None,
    confidence: float | None = None,
    memory: str | None = None,
    source: str | None = None,
    begins: str = "valid_from",
) -> Statement:
    """Return the statement. Raise one error for all problems. `begins` is the caller's name for the start."""
    problems = Problems()
    triple = checked_triple(problems, subject, predicate, object)
    if begins == "valid_from":
        begin, end = interval(problems, valid_from, valid_until)
    else:
        begin, end = checked_moment(problems, valid_from, begins), None
    kept_confidence = None if confidence is None else problems.of(check.number, confidence, "confidence")
    kept_memory = None if memory is None else problems.of(_memory_id, memory)
    kept_source = None if source is None else problems.of(check.name, source, "source")
    problems.settle()
    return Statement(*triple, begin, end, kept_confidence, kept_memory, kept_source)


def checked_moment(problems: Problems, value: Instant | None, parameter: str) -> int | None:
    found: int | None = None if value is None else problems.of(moment, value, parameter)
    return found


def _memory_id(value: Any) -> str:
    if hasattr(value, "id"):
        raise InputError("memory", "the id of a memory", value, hint="Pass the memory's .id.")
    return check.name(value, "memory")
