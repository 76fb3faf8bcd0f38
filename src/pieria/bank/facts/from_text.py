"""Check what a mind finds in the text of a memory, and plan the changes that record it as facts.

`extraction` decides when. Only a bank that extracts facts imports this module.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pieria.bank.core import EVERYTHING, Core, Plan
from pieria.bank.facts.extracted import (
    MENTIONS,
    SOURCE,
    TIMES,
    UNSAID,
    Extracted,
    Read,
    Wanted,
    drawn_from,
    worded_first,
)
from pieria.errors import InputError, PieriaError, PrivacyError
from pieria.facts import statement as adding
from pieria.facts.aliases import Aliases
from pieria.facts.predicates import is_single
from pieria.facts.statement import Statement, checked_statement
from pieria.facts.validity import as_written, shown, statement_times, times_of
from pieria.record.changeset import Changeset
from pieria.record.fact import (
    Fact,
    FactRow,
    checked_name,
    checked_predicate,
    folded,
    folded_predicate,
    row_of,
)
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import Memory
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from pieria.language.grammar import Triple

log = logging.getLogger(__name__)
Triplet = tuple[str, str, str]


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
    begin, end = _time_of(triple, memory, core.zone)
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
        single = is_single(reader, predicate)
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

    A fact that a user removed, ended or corrected is not added again, and a corrected one stays.
    """
    filter = _seen_as(core, found.memory)
    held = drawn_from(writer, found.memory.id, filter)
    first = worded_first(writer, found.memory.id, filter)
    was = {fact.id: _key(first[fact.id]) for fact in held}
    there = {key for fact in held if fact.reason != UNSAID or not fact.ended for key in (_key(fact), was[fact.id])}
    rows: list[FactRow] = []
    if is_first:
        said = {_key(statement) for statement in (*found.mentions, *found.statements)}
        rows += [
            row_of(fact)._replace(ended="removed", reason=UNSAID)
            for fact in held
            if not fact.ended
            and fact.source == SOURCE
            and _key(fact) == was[fact.id]
            and _key(fact) not in said
            and _was_wanted(fact, found)
        ]
    for statement in part:
        if _key(statement) not in there:
            rows += adding.added(writer, statement, filter).rows
    return Changeset("extract", facts=rows)


def told_of(core: Core, reader: Reader, found: Found) -> Extracted:
    filter = _seen_as(core, found.memory)
    held = {_key(fact): fact for fact in drawn_from(reader, found.memory.id, filter)}
    facts = [held[_key(each)] for each in found.statements if _key(each) in held]
    times, stated = times_of(reader, [found.memory.id], filter), statement_times(reader, facts)
    told = tuple(shown(fact, times, stated) for fact in facts if not fact.ended)
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


def _time_of(triple: Triple, memory: Memory, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return the period that the text names, or else from the memory's time on.

    It stays within the memory's validity.
    """
    begin = _moment(triple.since, memory, zone) or memory.at
    end = _moment(triple.until, memory, zone, is_end=True)
    if end is not None and end <= begin:
        begin, end = (begin, None) if triple.since else (None, end)  # type: ignore[assignment]
    ends = [each for each in (end, memory.valid_until) if each is not None]
    begins = [each for each in (begin, memory.valid_from) if each is not None]
    if begins and ends and max(begins) >= min(ends):
        return None, None
    return begin, end


def _moment(words: str | None, memory: Memory, zone: tzinfo, *, is_end: bool = False) -> datetime | None:
    """Return the time that the words meant when the memory was said."""
    from pieria.language.timewords import timewords

    # A year alone is read as a number; the preposition makes it a time.
    for spelt in (words, f"{'until' if is_end else 'since'} {words}") if words else ():
        for found in timewords(spelt, now=memory.at, zone=zone):
            return found.until if is_end else found.since
    return None


def _note(memory: Memory, problem: PieriaError) -> None:
    log.info("memory %s: a fact from its text could not be stored (%s)", memory.id, problem.code)
