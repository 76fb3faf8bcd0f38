"""Extracting: what a memory names and states, as facts that name the memory and go with it when it is purged.

Where a language model is asked, that takes long and may cost something, so it is a job; rules answer at once. What has
to be drawn because of a write is drawn, or its job queued, in the very transaction: nothing fails after it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import EVERYTHING, Core, Plan
from pieria.errors import ConflictError, InputError, PieriaError, PrivacyError
from pieria.facts import adding
from pieria.facts.aliases import Aliases
from pieria.facts.predicates import declaration
from pieria.facts.sources import as_written, shown, times_of
from pieria.facts.statement import Statement, checked_statement
from pieria.record import check
from pieria.record.changeset import Changeset
from pieria.record.fact import Fact, FactQuery, FactRow
from pieria.record.factnames import checked_name, checked_predicate, folded, folded_predicate, row_of
from pieria.record.filter import Filter, Viewer
from pieria.record.job import new_job
from pieria.record.memory import Memory
from pieria.record.timewords import timewords
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from datetime import datetime

    from pieria.bank.work import Work
    from pieria.models.mind import Named, Triple

log = logging.getLogger(__name__)

KIND = "extract"
"""The kind of its jobs."""
SOURCE = "extract"
"""The source of facts that were drawn from a memory by this verb."""
MENTIONS = "mentions"
UNSAID = "its memory does not say so any more"
TIMES = frozenset({"date"})
"""What a mind names that is nobody and nothing."""
TRIES = 5
"""So often a memory may be changed by others while it is read."""

Triplet = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was drawn from a memory, or the id of the job that will. `left` could not be kept as facts."""

    engine: str
    entities: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    queued: str | None = None
    left: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "entities": list(self.entities),
            "facts": [fact.as_dict() for fact in self.facts],
            "queued": self.queued,
            "left": self.left,
        }


class Wanted(NamedTuple):
    """What is to be drawn from a memory."""

    entities: bool
    statements: bool


class Read:
    """What the mind finds in texts, each read once: before the write that draws from it, where it is known by then."""

    def __init__(self, bank: Extracting) -> None:
        self._bank = bank
        self._named: dict[str, tuple[Named, ...]] = {}
        self._stated: dict[str, tuple[Triple, ...]] = {}

    def ahead(self, text: str, wanted: Wanted) -> None:
        if self._bank._llm is None:
            if wanted.entities:
                self.entities(text)
            if wanted.statements:
                self.triples(text)

    def entities(self, text: str) -> tuple[Named, ...]:
        if text not in self._named:
            self._named[text] = tuple(self._bank.mind.entities(text))
        return self._named[text]

    def triples(self, text: str) -> tuple[Triple, ...]:
        if text not in self._stated:
            self._stated[text] = tuple(self._bank.mind.triples(text))
        return self._stated[text]


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


class Extracting(Core):
    def extract(self, id: str, *, entities: bool = True, statements: bool = True) -> Extracted:
        """Writes down as facts what a memory names (`id mentions name`) and what it states.

        By rules at once; where a language model is set, a job asks it. The same text twice adds nothing; of a text that
        has changed, what it does not say any more is taken back.
        """
        check.identifier(id, "id")
        check.flag(entities, "entities")
        check.flag(statements, "statements")
        if not (entities or statements):
            raise InputError("statements", "true, where entities is false", statements)
        holder = self._holder(id)
        with holder._reading() as reader:
            holder._standing(reader, id)
        return holder._drawn(id, Wanted(entities, statements))

    def _drawn(self, id: str, wanted: Wanted) -> Extracted:
        if self._llm is not None:
            with self._writing() as writer:
                return Extracted(self.mind.name, queued=_queued(writer, self._at_hand(writer, id), wanted))
        for _ in range(TRIES):
            found = self._found(id, wanted)
            with self._writing() as writer:
                if self._is_still(writer, found.memory):
                    for plan in self._plans(writer, found):
                        self._applied(writer, plan)
                    return self._told(writer, found)
        raise ConflictError("it is changed again and again", ids=(id,), hint="Try again in a moment.")

    def _draw(self, writer: Writer, memory: Memory, wanted: Wanted, read: Read) -> None:
        """With the write that gave it its text."""
        if self._llm is not None:
            _queued(writer, memory, wanted)
            return
        for plan in self._plans(writer, self._found_in(memory, wanted, read)):
            self._applied(writer, plan)

    def _draw_anew(self, writer: Writer, before: str, memory: Memory, read: Read) -> None:
        """What had been drawn from a memory is drawn from its new text."""
        wanted = self._was_drawn(writer, before)
        if wanted is not None:
            self._draw(writer, memory, wanted, read)

    def _was_drawn(self, reader: Reader, id: str) -> Wanted | None:
        """From this text or an earlier one, and not taken back by anybody else."""
        held = [
            fact
            for fact in _drawn_from(reader, id, self._filter())
            if fact.source == SOURCE and (not fact.ended or fact.reason == UNSAID)
        ]
        mentions = [folded_predicate(fact.predicate) == MENTIONS for fact in held]
        return Wanted(any(mentions), not all(mentions)) if held else None

    def _extracted_for(self, work: Work) -> Plan:
        """The work of its job, which is stale by itself once the text has changed. Returns what it still writes."""
        found = self._found(*checked_payload(work.payload))
        work.check()
        with self._reading() as reader:
            *first, last = self._plans(reader, found)
        for plan in first:
            work.apply(plan)
        return last

    def _found(self, id: str, wanted: Wanted) -> Found:
        with self._reading() as reader:
            memory = self._at_hand(reader, id)
        return self._found_in(memory, wanted, Read(self))

    def _found_in(self, memory: Memory, wanted: Wanted, read: Read) -> Found:
        entities, left = self._names(read, memory) if wanted.entities else ((), 0)
        statements, unkept = self._statements(read, memory) if wanted.statements else ((), 0)
        return Found(memory, wanted, entities, statements, left + unkept)

    def _names(self, read: Read, memory: Memory) -> tuple[tuple[str, ...], int]:
        """Each thing once, without times."""
        kept: dict[str, str] = {}
        left = 0
        for named in read.entities(memory.text):
            if named.kind in TIMES:
                continue
            try:
                name = checked_name(self._plain(named.name, "object"), "object")
                kept.setdefault(folded(name), name)
            except (InputError, PrivacyError) as problem:
                left += 1
                _note(memory, problem)
        return tuple(kept.values()), left

    def _statements(self, read: Read, memory: Memory) -> tuple[tuple[Statement, ...], int]:
        kept: dict[Triplet, Statement] = {}
        left = 0
        for triple in read.triples(memory.text):
            try:
                statement = self._statement(triple, memory)
                kept.setdefault(_key(statement), statement)
            except (InputError, PrivacyError) as problem:
                left += 1
                _note(memory, problem)
        return tuple(kept.values()), left

    def _plain(self, said: str, parameter: str) -> str:
        """A secret is no fact, whatever becomes of the text that it stands in."""
        screened = self._screen(said, parameter)
        if screened.flags:
            raise PrivacyError(parameter, [flag.partition(":")[2] for flag in screened.flags])
        return screened.text

    def _statement(self, triple: Triple, memory: Memory) -> Statement:
        begin, end = _time_of(triple, memory)
        return checked_statement(
            checked_name(self._plain(triple.subject, "subject"), "subject"),
            checked_predicate(self._plain(triple.predicate, "predicate")),
            checked_name(self._plain(triple.object, "object"), "object"),
            valid_from=begin,
            valid_until=end,
            confidence=triple.confidence,
            memory=memory.id,
            source=SOURCE,
        )

    def _plans(self, reader: Reader, found: Found) -> list[Plan]:
        """One, unless the text gives several values for what has one at a time: each must see what was before it."""
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
            lambda writer: self._change(writer, found, first, is_first=True),
            *(lambda writer, part=part: self._change(writer, found, part, is_first=False) for part in parts[1:]),
        ]

    def _change(self, writer: Writer, found: Found, part: Iterable[Statement], *, is_first: bool) -> Changeset:
        """What is not there yet; what somebody took back or ended stays so. First goes what is not said any more."""
        filter = self._seen_as(found.memory)
        held = _drawn_from(writer, found.memory.id, filter)
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

    def _told(self, reader: Reader, found: Found) -> Extracted:
        filter = self._seen_as(found.memory)
        held = {_key(fact): fact for fact in _drawn_from(reader, found.memory.id, filter)}
        facts = [held[_key(each)] for each in found.statements if _key(each) in held]
        times = times_of(reader, [found.memory.id], filter)
        told = tuple(shown(fact, times) for fact in facts if not fact.ended)
        return Extracted(self.mind.name, found.entities, told, left=found.left)

    def _is_still(self, reader: Reader, memory: Memory) -> bool:
        held = reader.states([memory.id], self._filter().having(ids=(memory.id,), viewer=EVERYTHING).anything())
        if memory.id not in held:
            self._standing(reader, memory.id)
        return held[memory.id].state.row == memory.row and not held[memory.id].state.ended

    def _seen_as(self, memory: Memory) -> Filter:
        """By those who see the memory: a worker has no session of its own."""
        return as_written(self._filter().having(viewer=Viewer(memory.session, memory.channel)))


def _drawn_from(reader: Reader, id: str, filter: Filter) -> list[Fact]:
    """The facts that name the memory, whatever their source and end."""
    return reader.facts(FactQuery(memory=id, include_ended=True), filter.having(viewer=EVERYTHING).anything())


def _queued(writer: Writer, memory: Memory, wanted: Wanted) -> str:
    job = new_job(KIND, {"id": memory.id, **wanted._asdict()}, about=memory.reference)
    return writer.enqueue([job])[0]


def _key(of: Fact | Statement) -> Triplet:
    return folded(of.subject), folded_predicate(of.predicate), folded(of.object)


def _was_wanted(fact: Fact, found: Found) -> bool:
    is_mention = folded_predicate(fact.predicate) == MENTIONS and folded(fact.subject) == folded(found.memory.id)
    return found.wanted.entities if is_mention else found.wanted.statements


def _time_of(triple: Triple, memory: Memory) -> tuple[datetime | None, datetime | None]:
    """From the time the text names or, without one, from when it was said; never outside the memory's own time."""
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
    """What a text meant by its time when it was said."""
    # A year by itself is a number, and one of these makes it a time.
    for spelt in (words, f"{'until' if is_end else 'since'} {words}") if words else ():
        for found in timewords(spelt, now=memory.at):
            return found.until if is_end else found.since
    return None


def _note(memory: Memory, problem: PieriaError) -> None:
    log.info("memory %s: something of it could not be kept as a fact (%s)", memory.id, problem.code)


def checked_payload(payload: Mapping[str, Any]) -> tuple[str, Wanted]:
    """Raises for what no `extract` has queued."""
    id = check.identifier(payload.get("id"), "payload.id")
    wanted = Wanted(*(check.flag(payload.get(name), f"payload.{name}") for name in Wanted._fields))
    return id, wanted
