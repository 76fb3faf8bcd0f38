"""Checks a statement and plans its effect: the fact it adds, widens, confirms or ends, and the facts it moves."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from difflib import get_close_matches
from functools import reduce
from typing import Any, NamedTuple

from pieria.errors import InputError, NotFoundError
from pieria.facts.aliases import Aliases
from pieria.facts.predicates import declared_name, is_single
from pieria.facts.validity import (
    BEGINNING,
    Held,
    Said,
    Slot,
    Span,
    as_written,
    begin_today,
    cut,
    spanned,
    stated_span,
    statement_times,
    times_of,
    written_span,
)
from pieria.record import check
from pieria.record.changeset import FOREVER
from pieria.record.days import Given, end_text, read_given, start_text
from pieria.record.draft import Instant, Problems
from pieria.record.fact import (
    Fact,
    FactQuery,
    FactRow,
    checked_name,
    checked_predicate,
    folded,
    folded_predicate,
    predicate_keys,
    row_of,
)
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.time import moment
from pieria.record.trust import AGENT, PERSON, TRUST, lowest, may_overturn
from pieria.store.protocol import Reader

TIMES_TOLD = 3
SHOWN = 5
NAMES_COMPARED = 2_000
"""Most names to compare for a similar spelling: each comparison is slow."""


class Planned(NamedTuple):
    """What to write, and what to return: some of these rows, or facts that need no write."""

    rows: list[FactRow]
    answers: Sequence[FactRow | Fact]
    moved: Sequence[FactRow] = ()
    """The rows of other values that end, move or make room."""


def added(reader: Reader, statement: Statement, filter: Filter) -> Planned:
    slot = _making_room(reader, statement, slot_of(reader, statement, filter))
    statement, said_at = _within_memory(reader, statement, filter)
    return _stated(reader, statement, said_at, slot, filter)


def superseding(reader: Reader, statement: Statement, filter: Filter, replaces: str | None = None) -> Planned:
    """Plan a statement that ends all other values of the subject and predicate when it begins, or only `replaces`."""
    if statement.valid_from is None and statement.valid_until is not None and statement.valid_until <= filter.now:
        if replaces is not None:
            raise InputError("at", "the time when it began, because valid_until is past", None)
        # It is over, from an unknown start on: it ends nothing that holds now.
        return added(reader, statement, filter)
    at = filter.now if statement.valid_from is None else statement.valid_from
    statement, said_at = _within_memory(reader, replace(statement, valid_from=at), filter)
    slot = _making_room(reader, statement, slot_of(reader, statement, filter, every_object=True))
    begin = begin_today(_said(statement, said_at), slot, filter.now).begin
    assert begin is not None
    day = Given(begin, 1 + max(begin, statement.last_start or begin))
    giving_way = {held.fact.id: _giving_way(held, day, slot, filter.now) for held in slot.others}
    ending = {id: rows for id, rows in giving_way.items() if rows is not None}
    if replaces is not None:
        ending = {id: ending[id] for id in _saying(reader, replaces, slot, ending, day, statement)}
    moved = [row for rows in ending.values() for row in rows]
    rest = slot._replace(others=[held for held in slot.others if slot.is_single and held.fact.id not in ending])
    planned = _stated(reader, replace(statement, valid_from=begin), said_at, rest, filter)
    return Planned(moved + planned.rows, planned.answers, [*moved, *planned.moved])


def _giving_way(held: Held, day: Given, slot: Slot, now: int) -> list[FactRow] | None:
    """Return the rows of a value that ends when the day begins; no rows if it has ended on that day, None if it does
    not hold then.

    A value that was stated without a start, only later, held before the day: since when is unknown.
    """
    if held.has_ended_within(Span(day.begin, day.end)):
        return []
    if _holds_on(held, day):
        return cut(held, Span(day.begin, FOREVER))
    if not held.is_undated or not day.begin <= held.span.begin <= now:
        return None
    if held.span.holds(now):
        return [row_of(held.fact)._replace(valid_until=day.begin)]
    return cut(held, Span(day.begin, FOREVER)) if slot.is_single else None


def _holds_on(held: Held, day: Given) -> bool:
    """Return whether a value holds when the day begins, or begins on it."""
    return held.span.holds(day.begin) or day.begin <= held.span.begin < day.end


def _saying(
    reader: Reader, object: str, slot: Slot, ending: Container[str], day: Given, statement: Statement
) -> list[str]:
    """Return the ids, of those that can end, of the facts with this value. Raise `NotFoundError` if there is none."""
    named = Aliases(reader).group(object)
    known = [*slot.same, *slot.others]
    found = [held.fact.id for held in slot.others if held.fact.id in ending and folded(held.fact.object) in named]
    if not found:
        then = ", ".join(dict.fromkeys(held.fact.object for held in known if _holds_on(held, day)))
        hints = [f"What holds then is: {then}." if then else "Nothing holds then that could make room."]
        hints += [_when(held.fact, statement.zone) for held in known if folded(held.fact.object) in named]
        named_fact = f"{statement.subject} {statement.predicate} {object}"
        raise NotFoundError("fact", named_fact, hint=" ".join(hints[: 1 + TIMES_TOLD]))
    return found


def _when(fact: Fact, zone: tzinfo) -> str:
    since = "" if fact.valid_from is None else f" from {start_text(fact.valid_from, zone)}"
    until = "" if fact.valid_until is None else f" until {end_text(fact.valid_until, zone)}"
    return f"{fact.object} holds{since}{until}."


def slot_of(reader: Reader, statement: Statement, filter: Filter, *, every_object: bool = False) -> Slot:
    aliases = Aliases(reader)
    predicate = folded_predicate(statement.predicate)
    single = is_single(reader, predicate)
    objects = aliases.group(statement.object)
    query = FactQuery(
        subject_keys=aliases.group(statement.subject),
        predicate_keys=predicate_keys(statement.predicate),
        object_keys=None if single or every_object else objects,
    )
    slot = Slot([], [], single)
    facts = reader.facts(query, as_written(filter))
    times = times_of(reader, (fact.source_memory for fact in facts), filter)
    stated = statement_times(reader, facts)
    for fact in facts:
        memory = times[fact.source_memory]
        written = written_span(fact, stated, memory)
        span = written.within(memory)
        if span is not None:
            held = Held(fact, span, written, stated.get(fact.id, FOREVER))
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


def _said(statement: Statement, at: int) -> Said:
    return Said(statement.valid_from, statement.valid_until, at, statement.last_start)


def _stated(reader: Reader, statement: Statement, said_at: int, slot: Slot, filter: Filter) -> Planned:
    said = begin_today(_said(statement, said_at), slot, filter.now)
    span = stated_span(said, slot, filter.now)
    moved: list[FactRow] = []
    first_day = Span(span.begin, 1 + (said.last_start or span.begin))
    if not any(held.span.covers(span) for held in slot.same):
        for held in slot.others:
            is_kept = span.end > first_day.end and held.has_ended_within(first_day)
            if held.span.overlaps(span) and not is_kept:
                ends_here = said.end is None and held.span.begin <= max(span.begin, said.last_start or span.begin)
                moved += cut(held, Span(span.begin, FOREVER) if ends_here else span)
    mine = [held for held in slot.same if held.fact.source_memory == statement.memory and held.may_join(span)]
    if mine:
        planned = _merged(mine, statement, span)
    else:
        is_undated = said.begin is None and span.begin == said.at
        planned = _new(reader, statement, span._replace(begin=BEGINNING) if is_undated else span, filter)
    return Planned(moved + planned.rows, planned.answers, moved)


def _merged(mine: list[Held], statement: Statement, span: Span) -> Planned:
    """Merge the facts of this source that the statement meets. The result keeps the id of the first."""
    kept, *absorbed = sorted(mine, key=lambda held: (held.span.begin, held.fact.id))
    is_dated = statement.valid_from is not None
    whole = reduce(lambda time, held: held.join(time, is_dated=is_dated), mine, span)
    said: list[Statement | Fact] = [statement, kept.fact, *(held.fact for held in absorbed)]
    confidences = [each.confidence for each in said if each.confidence is not None]
    sources = [each.source for each in (kept.fact, *said) if each.source is not None]
    old = row_of(kept.fact)
    row = kept.over(whole)._replace(
        confidence=max(confidences, default=None),
        source=sources[0] if sources else None,
        reason=old.reason if whole == kept.written else None,
    )
    rows = [] if row == old else [row]
    rows += [row_of(held.fact)._replace(ended="removed", reason=f"joined with {old.id}") for held in absorbed]
    return Planned(rows, [row if row != old else kept.fact])


def _new(reader: Reader, statement: Statement, span: Span, filter: Filter) -> Planned:
    aliases = Aliases(reader)

    def spelt(name: str) -> str:
        key = folded(name)
        if reader.spelling(key) == name:
            return name
        # The first spelling may be that of a fact that this reader cannot see.
        seen = [found.name for found in reader.names(filter, key) if found.key == key]
        return seen[0] if seen else aliases.display(key) or name

    predicate = folded_predicate(statement.predicate)
    spelt_before = declared_name(reader, predicate) or reader.spelling(predicate, predicate=True)
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


def _within_memory(reader: Reader, statement: Statement, filter: Filter) -> tuple[Statement, int]:
    """Return the statement, limited to the time that its memory holds, and when it was said."""
    if statement.memory is None:
        return statement, filter.now
    source = times_of(reader, [statement.memory], filter).get(statement.memory)
    if source is None:
        hint = "Facts can name memories of this bank that can be seen from here and are not removed."
        raise NotFoundError("memory", statement.memory, hint=hint)
    held = spanned(statement.valid_from, statement.valid_until).within(source)
    if held is None:
        raise InputError("memory", "a memory that holds at the time of the fact", statement.memory)
    valid_from, valid_until = held.bounds()
    said_at = reader.states([statement.memory])[statement.memory].state.at
    return replace(statement, valid_from=valid_from, valid_until=valid_until), said_at


def ended(reader: Reader, statement: Statement, at: Given, reason: str | None, filter: Filter) -> Planned:
    """Plan to end what holds at that instant, or through that day.

    Nothing is erased by its end: a fact that ends the instant it began stays in the history, and is found by its day.
    """
    slot = slot_of(reader, statement, filter, every_object=True)
    ending = [held for held in slot.same if held.span.holds(at.last)]
    ending = ending or [held for held in slot.same if held.written.holds(at.last)]
    if not ending:
        _check_begun(statement, slot, at)
        _check_end(statement, slot, at, filter.now)
        hint = _hint(reader, statement, slot, filter)
        raise NotFoundError("fact", f"{statement.subject} {statement.predicate} {statement.object}", hint=hint)
    rows: list[FactRow] = []
    answers: list[FactRow | Fact] = []
    for held in ending:
        old = row_of(held.fact)
        until = max(at.end, held.written.begin)
        row = old._replace(valid_until=until, reason=reason or (old.reason if until == old.valid_until else None))
        rows += [] if row == old else [row]
        answers.append(held.fact if row == old else row)
    return Planned(rows, answers)


def _check_begun(statement: Statement, slot: Slot, at: Given) -> None:
    """Raise `InputError` if the fact begins only after that time."""
    later = [held for held in slot.same if held.span.begin > at.last]
    if not later:
        return
    first = min(later, key=lambda held: held.span.begin)
    began = start_text(moment(first.span.begin), statement.zone)
    since = "It was stated without a start, so it holds from then. " if first.is_undated else ""
    hint = (
        f"{since}If it began earlier, state it again with that valid_from; if it was never true, remove the fact "
        f"{first.fact.id}."
    )
    wrong = start_text(moment(at.begin), statement.zone)
    raise InputError("at", f"a time that is not before {began}, when the fact begins", wrong, hint=hint)


def _check_end(statement: Statement, slot: Slot, at: Given, now: int) -> None:
    """Raise `InputError` if the fact ends before that time, but after now."""
    planned = [held.written.end for held in slot.same if now < held.written.end <= at.last]
    if planned:
        ends, wrong = end_text(moment(max(planned)), statement.zone), start_text(moment(at.begin), statement.zone)
        hint = "To let it last longer, state it again with a later valid_until."
        raise InputError("at", f"a time up to {ends}, because the fact already ends then", wrong, hint=hint)


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
        return f"It held until {end_text(max(ends), statement.zone)}."
    if slot.others:
        objects = _listed(held.fact.object for held in slot.others)
        return f"Of {statement.subject} {statement.predicate} is known: {objects}."
    subject = FactQuery(subject_keys=Aliases(reader).group(statement.subject))
    predicates = _listed(fact.predicate for fact in reader.facts(subject, filter))
    if predicates:
        return f"Of {statement.subject} is known: {predicates}."
    near = _near(reader, statement.subject, filter)
    advice = "Look for its name in the list of entities." if near is None else f"Did you mean {near}?"
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
    """Bounds are microseconds; None if the caller gave none. Days are days in the zone."""

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
    last_start: int | None = None
    """The last moment of the day given as the start; None for an instant."""
    zone: tzinfo = UTC


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
    zone: tzinfo = UTC,
) -> Statement:
    """Return the statement. Raise one error for all problems. `begins` is the caller's name for the start."""
    problems = Problems()
    triple = checked_triple(problems, subject, predicate, object)
    begin = checked_time(problems, valid_from, begins, zone)
    end = checked_time(problems, valid_until, "valid_until", zone)
    if begin is not None and end is not None and end.end <= begin.begin:
        expected = f"a time after {begins} ({valid_from})"
        problems.found.append(InputError("valid_until", expected, valid_until))
    kept_confidence = None if confidence is None else problems.of(check.number, confidence, "confidence")
    kept_memory = None if memory is None else problems.of(_memory_id, memory)
    kept_source = None if source is None else problems.of(check.name, source, "source")
    problems.settle()
    return Statement(
        *triple,
        valid_from=None if begin is None else begin.begin,
        valid_until=None if end is None else end.end,
        confidence=kept_confidence,
        memory=kept_memory,
        source=kept_source,
        last_start=None if begin is None or begin.begin == begin.end else begin.last,
        zone=zone,
    )


def checked_time(problems: Problems, value: Instant | None, parameter: str, zone: tzinfo) -> Given | None:
    found: Given | None = None if value is None else problems.of(read_given, value, parameter, zone)
    return found


def _memory_id(value: Any) -> str:
    if hasattr(value, "id"):
        raise InputError("memory", "the id of a memory", value, hint="Pass the memory's .id.")
    return check.name(value, "memory")
