"""Extract what a memory names and states, as facts that refer to the memory and are purged with it.

With a language model extraction is slow and may cost money, so it is a job; rules answer at once. Extraction caused by
a write is done or queued in the same transaction, so that nothing fails after it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import EVERYTHING, Core, Plan
from pieria.errors import ConflictError, InputError, PieriaError, PrivacyError
from pieria.facts import statement as adding
from pieria.facts.aliases import Aliases
from pieria.facts.predicates import declaration
from pieria.facts.statement import Statement, checked_statement
from pieria.facts.validity import as_written, shown, times_of
from pieria.record import check
from pieria.record.changeset import Changeset
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
from pieria.record.filter import Filter, Viewer
from pieria.record.job import new_job
from pieria.record.memory import Memory
from pieria.record.reply import Reply
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from datetime import datetime

    from pieria.bank.jobs.run import Work
    from pieria.language.grammar import Named, Triple

SOURCE = "extract"
"""The source of facts extracted by this verb."""
MENTIONS = "mentions"
UNSAID = "its memory does not say so any more"
TIMES = frozenset({"date"})
"""Kinds of names that are not entities."""
KIND = "extract"
"""The kind of its jobs."""
TRIES = 5
"""Tries, if other writers change the memory while it is read."""
log = logging.getLogger(__name__)
Triplet = tuple[str, str, str]


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


def extract(core: Core, id: str, *, entities: bool, statements: bool) -> Extracted:
    check.identifier(id, "id")
    check.flag(entities, "entities")
    check.flag(statements, "statements")
    if not (entities or statements):
        raise InputError("statements", "true, where entities is false", statements)
    holder = core.holder(id)
    with holder.reading() as reader:
        holder.standing(reader, id)
    return _drawn(holder, id, Wanted(entities, statements))


def _drawn(core: Core, id: str, wanted: Wanted) -> Extracted:
    if core.llm is not None:
        with core.writing() as writer:
            return Extracted(core.mind.name, queued=_queued(writer, core.at_hand(writer, id), wanted))
    for _ in range(TRIES):
        found = found_of(core, id, wanted)
        with core.writing() as writer:
            if is_still(core, writer, found.memory):
                for plan in plans_of(core, writer, found):
                    core.write_changes(writer, plan)
                return told_of(core, writer, found)
    raise ConflictError("other writers keep changing it", ids=(id,), hint="Try again in a moment.")


def draw(core: Core, writer: Writer, memory: Memory, wanted: Wanted, read: Read) -> None:
    """Extract in the transaction of the write that set the text."""
    if core.llm is not None:
        _queued(writer, memory, wanted)
        return
    for plan in plans_of(core, writer, found_in(core, memory, wanted, read)):
        core.write_changes(writer, plan)


def draw_anew(core: Core, writer: Writer, before: str, memory: Memory, read: Read) -> None:
    """Extract again from the new text, if the memory had extracted facts."""
    wanted = was_drawn(core, writer, before)
    if wanted is not None:
        draw(core, writer, memory, wanted, read)


def was_drawn(core: Core, reader: Reader, id: str) -> Wanted | None:
    """Return what was extracted before from this id, if the facts are not removed by other means."""
    held = [
        fact
        for fact in drawn_from(reader, id, core.filter())
        if fact.source == SOURCE and (not fact.ended or fact.reason == UNSAID)
    ]
    mentions = [folded_predicate(fact.predicate) == MENTIONS for fact in held]
    return Wanted(any(mentions), not all(mentions)) if held else None


def extracted_for(core: Core, work: Work) -> Plan:
    """Run the extraction job, and return the plan of its last write.

    If the text has changed, the job is stale and the plan is dropped.
    """
    found = found_of(core, *checked_payload(work.payload))
    work.check()
    with core.reading() as reader:
        *first, last = plans_of(core, reader, found)
    for plan in first:
        work.apply(plan)
    return last


def _queued(writer: Writer, memory: Memory, wanted: Wanted) -> str:
    job = new_job(KIND, {"id": memory.id, **wanted._asdict()}, about=memory.reference)
    return writer.enqueue([job])[0]


def checked_payload(payload: Mapping[str, Any]) -> tuple[str, Wanted]:
    """Return the payload of an `extract` job. Raise `InputError` if it is malformed."""
    id = check.identifier(payload.get("id"), "payload.id")
    wanted = Wanted(*(check.flag(payload.get(name), f"payload.{name}") for name in Wanted._fields))
    return id, wanted


class Found(NamedTuple):
    """What a mind found in one version of a memory."""

    memory: Memory
    wanted: Wanted
    entities: tuple[str, ...]
    statements: tuple[Statement, ...]
    left: int

    @property
    def mentions(self) -> list[Statement]:
        id = self.memory.id
        return [Statement(id, MENTIONS, name, memory=id, source=SOURCE) for name in self.entities]


def found_of(core: Core, id: str, wanted: Wanted) -> Found:
    with core.reading() as reader:
        memory = core.at_hand(reader, id)
    return found_in(core, memory, wanted, Read(core))


def found_in(core: Core, memory: Memory, wanted: Wanted, read: Read) -> Found:
    entities, left = _names(core, read, memory) if wanted.entities else ((), 0)
    statements, unkept = _statements(core, read, memory) if wanted.statements else ((), 0)
    return Found(memory, wanted, entities, statements, left + unkept)


def _names(core: Core, read: Read, memory: Memory) -> tuple[tuple[str, ...], int]:
    """Return each entity once, without times, and the number that could not be kept."""
    kept: dict[str, str] = {}
    left = 0
    for named in read.entities(memory.text):
        if named.kind in TIMES:
            continue
        try:
            name = checked_name(_plain(core, named.name, "object"), "object")
            kept.setdefault(folded(name), name)
        except (InputError, PrivacyError) as problem:
            left += 1
            _note(memory, problem)
    return tuple(kept.values()), left


def _statements(core: Core, read: Read, memory: Memory) -> tuple[tuple[Statement, ...], int]:
    kept: dict[Triplet, Statement] = {}
    left = 0
    for triple in read.triples(memory.text):
        try:
            statement = _statement(core, triple, memory)
            kept.setdefault(_key(statement), statement)
        except (InputError, PrivacyError) as problem:
            left += 1
            _note(memory, problem)
    return tuple(kept.values()), left


def _plain(core: Core, said: str, parameter: str) -> str:
    """Return the screened text. Raise `PrivacyError` if it contains a secret, even if the bank only flags secrets."""
    screened = core.screen(said, parameter)
    if screened.flags:
        raise PrivacyError(parameter, [flag.partition(":")[2] for flag in screened.flags])
    return screened.text


def _statement(core: Core, triple: Triple, memory: Memory) -> Statement:
    begin, end = _time_of(triple, memory)
    return checked_statement(
        checked_name(_plain(core, triple.subject, "subject"), "subject"),
        checked_predicate(_plain(core, triple.predicate, "predicate")),
        checked_name(_plain(core, triple.object, "object"), "object"),
        valid_from=begin,
        valid_until=end,
        confidence=triple.confidence,
        memory=memory.id,
        source=SOURCE,
    )


def plans_of(core: Core, reader: Reader, found: Found) -> list[Plan]:
    """Return the plans, usually one. Several values of a single-valued predicate need one plan each, in order."""
    rounds: list[dict[tuple[str, str], list[Statement]]] = [{}]
    aliases = Aliases(reader)
    for statement in found.statements:
        predicate = folded_predicate(statement.predicate)
        slot = aliases.root(folded(statement.subject)), predicate
        single = declaration(reader, predicate) is not None
        free = next((each for each in rounds if not single or slot not in each), None)
        if free is None:
            rounds.append(free := {})
        free.setdefault(slot, []).append(statement)
    parts = [[statement for held in each.values() for statement in held] for each in rounds]
    first = [*found.mentions, *parts[0]]
    return [
        lambda writer: _change(core, writer, found, first, is_first=True),
        *(lambda writer, part=part: _change(core, writer, found, part, is_first=False) for part in parts[1:]),
    ]


def _change(core: Core, writer: Writer, found: Found, part: Iterable[Statement], *, is_first: bool) -> Changeset:
    """Return the facts to add, and in the first plan the end of facts that the text no longer states.

    A fact that a user removed or ended is not added again.
    """
    filter = _seen_as(core, found.memory)
    held = drawn_from(writer, found.memory.id, filter)
    there = {_key(fact) for fact in held if fact.reason != UNSAID or not fact.ended}
    rows: list[FactRow] = []
    if is_first:
        said = {_key(statement) for statement in (*found.mentions, *found.statements)}
        rows += [
            row_of(fact)._replace(ended="removed", reason=UNSAID)
            for fact in held
            if not fact.ended and fact.source == SOURCE and _key(fact) not in said and _was_wanted(fact, found)
        ]
    for statement in part:
        if _key(statement) not in there:
            rows += adding.added(writer, statement, filter).rows
    return Changeset("extract", facts=rows)


def told_of(core: Core, reader: Reader, found: Found) -> Extracted:
    filter = _seen_as(core, found.memory)
    held = {_key(fact): fact for fact in drawn_from(reader, found.memory.id, filter)}
    facts = [held[_key(each)] for each in found.statements if _key(each) in held]
    times = times_of(reader, [found.memory.id], filter)
    told = tuple(shown(fact, times) for fact in facts if not fact.ended)
    return Extracted(core.mind.name, found.entities, told, left=found.left)


def is_still(core: Core, reader: Reader, memory: Memory) -> bool:
    held = reader.states([memory.id], core.filter().having(ids=(memory.id,), viewer=EVERYTHING).anything())
    if memory.id not in held:
        core.standing(reader, memory.id)
    return held[memory.id].state.row == memory.row and not held[memory.id].state.ended


def _seen_as(core: Core, memory: Memory) -> Filter:
    """Return the filter of those who see the memory: a worker has no session of its own."""
    return as_written(core.filter().having(viewer=Viewer(memory.session, memory.channel)))


def _key(of: Fact | Statement) -> Triplet:
    return folded(of.subject), folded_predicate(of.predicate), folded(of.object)


def _was_wanted(fact: Fact, found: Found) -> bool:
    is_mention = folded_predicate(fact.predicate) == MENTIONS and folded(fact.subject) == folded(found.memory.id)
    return found.wanted.entities if is_mention else found.wanted.statements


def _time_of(triple: Triple, memory: Memory) -> tuple[datetime | None, datetime | None]:
    """Return the period that the text names, or else from the memory's time on.

    It stays within the memory's validity.
    """
    begin = _moment(triple.since, memory) or memory.at
    end = _moment(triple.until, memory, is_end=True)
    if end is not None and end <= begin:
        begin, end = (begin, None) if triple.since else (None, end)  # type: ignore[assignment]
    ends = [each for each in (end, memory.valid_until) if each is not None]
    begins = [each for each in (begin, memory.valid_from) if each is not None]
    if begins and ends and max(begins) >= min(ends):
        return None, None
    return begin, end


def _moment(words: str | None, memory: Memory, *, is_end: bool = False) -> datetime | None:
    """Return the time that the words meant when the memory was said."""
    from pieria.language.timewords import timewords

    # A year alone is read as a number; the preposition makes it a time.
    for spelt in (words, f"{'until' if is_end else 'since'} {words}") if words else ():
        for found in timewords(spelt, now=memory.at):
            return found.until if is_end else found.since
    return None


def _note(memory: Memory, problem: PieriaError) -> None:
    log.info("memory %s: a fact from its text could not be stored (%s)", memory.id, problem.code)
