"""`bank.facts`: the verbs on facts. They check arguments, plan in the write transaction, and return facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pieria.bank.core import Core
from pieria.bank.facts.drawn_facts import check_trusted, seen_versions
from pieria.bank.results.general import Receipt
from pieria.bank.spans import reported
from pieria.errors import InputError, NotFoundError
from pieria.facts import predicates, query
from pieria.facts import query as querying
from pieria.facts import statement as adding
from pieria.facts import statement as addition
from pieria.facts.aliases import Aliases
from pieria.facts.aliases import Planned as PlannedAlias
from pieria.facts.predicates import Predicate
from pieria.facts.query import DIRECTIONS, Conflict, Entity, FactStats, Question, StatedFact
from pieria.facts.statement import Planned, Statement, checked_statement, checked_time, checked_triple
from pieria.facts.validity import Times, shown, statement_times, times_of, with_start
from pieria.record import check
from pieria.record.changeset import Change, Changeset
from pieria.record.days import Given
from pieria.record.draft import Instant, Problems
from pieria.record.fact import (
    Fact,
    FactRow,
    checked_name,
    checked_predicate,
    fact_of,
    folded,
    folded_predicate,
)
from pieria.record.filter import Filter
from pieria.record.time import moment
from pieria.store.protocol import Reader, Writer

LIMIT = 1_000_000


@reported("facts")
class Facts:
    """The facts of one bank."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: Instant | None = None,
        valid_until: Instant | None = None,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> Fact:
        """State a fact. A known fact is confirmed, extended or made surer, and never duplicated.

        For a single-valued predicate, other values end or move to make room.
        """
        statement = self._screened(
            checked_statement(
                subject,
                predicate,
                object,
                valid_from=valid_from,
                valid_until=valid_until,
                confidence=confidence,
                memory=memory,
                source=source,
                zone=self._core.zone,
            )
        )
        return self._state("facts add", statement, adding.added).facts[0]

    def state(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: Instant | None = None,
        valid_until: Instant | None = None,
        supersede: bool = False,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> StatedFact:
        """State a fact as `add` does, and return also the values that end and those that hold beside it.

        With `supersede` all other values end when it begins, as `supersede` does.
        """
        check.flag(supersede, "supersede")
        statement = self._screened(
            checked_statement(
                subject,
                predicate,
                object,
                valid_from=valid_from,
                valid_until=valid_until,
                confidence=confidence,
                memory=memory,
                source=source,
                zone=self._core.zone,
            )
        )
        what, plans = ("facts supersede", adding.superseding) if supersede else ("facts add", adding.added)
        written = self._state(what, statement, plans)
        fact = written.facts[0]
        with self._core.reading() as reader:
            beside = query.find_beside(reader, fact, self._filter())
            is_single = predicates.is_single(reader, folded_predicate(fact.predicate))
        return StatedFact(fact, written.is_new, is_single, tuple(written.moved), tuple(beside))

    def supersede(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        replaces: str | None = None,
        at: Instant | None = None,
        valid_until: Instant | None = None,
        confidence: float | None = None,
        memory: str | None = None,
        source: str | None = None,
    ) -> Fact:
        """End the other values of the subject and predicate at `at` (default: now), and state this one from then on.

        With `replaces` only that value ends; if it is not valid then, nothing is written.
        """
        if replaces is not None:
            checked_name(replaces, "replaces")
        statement = self._screened(
            checked_statement(
                subject,
                predicate,
                object,
                valid_from=at,
                valid_until=valid_until,
                confidence=confidence,
                memory=memory,
                source=source,
                begins="at",
                zone=self._core.zone,
            )
        )

        def plans(reader: Reader, stated: Statement, filter: Filter) -> Planned:
            return adding.superseding(reader, stated, filter, replaces)

        return self._state("facts supersede", statement, plans).facts[0]

    def invalidate(
        self, subject: str, predicate: str, object: str, *, at: Instant | None = None, reason: str | None = None
    ) -> list[Fact]:
        """End a fact at `at` (default: now). A day includes that day. A time before it began is refused."""
        problems = Problems()
        triple = checked_triple(problems, subject, predicate, object)
        end = checked_time(problems, at, "at", self._core.zone)
        kept_reason = problems.of(self._core.reason, reason)
        problems.settle()
        statement = self._screened(Statement(*triple, zone=self._core.zone))

        def plan(reader: Reader, filter: Filter) -> Planned:
            now = Given(filter.now, filter.now)
            planned = addition.ended(reader, statement, now if end is None else end, kept_reason, filter)
            return self._check_trusted(reader, planned)

        return self._written("facts invalidate", plan).facts

    def remove(self, fact_id: str, *, reason: str | None = None) -> Fact:
        """Remove a fact that should not have been stated from every answer. It stays on record."""
        problems = Problems()
        id = problems.of(check.name, fact_id, "fact_id")
        kept_reason = problems.of(self._core.reason, reason)
        problems.settle()

        def plan(reader: Reader, filter: Filter) -> Planned:
            return self._check_trusted(reader, addition.removed(reader, id, kept_reason, filter))

        return self._written("facts remove", plan).facts[0]

    def purge(self, fact_ids: str | Iterable[str], *, dry_run: bool = False, as_told: str | None = None) -> Receipt:
        """Erase every version of facts for good. Only ids are remembered, so that no import brings the facts back.

        The receipt names what says the same and stays: the source memory and other facts. With `dry_run` nothing is
        erased. `as_told` takes the `digest` of a dry run: raise `ConflictError` if a fact has changed since.
        """
        from pieria.bank.facts.erasure import purged

        problems = Problems()
        ids = problems.of(check.identifiers, fact_ids, "fact_ids")
        problems.of(check.flag, dry_run, "dry_run")
        told = None if as_told is None else problems.of(check.name, as_told, "as_told")
        problems.settle()
        return purged(self._core, ids, told, dry_run=dry_run)

    def query(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        *,
        entity: str | None = None,
        direction: str = "both",
        memory: str | None = None,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        history: bool = False,
        limit: int | None = None,
    ) -> list[Fact]:
        """Return the facts that match all arguments, in order of their beginning. With `memory`, those it states.

        They are valid at `valid_at` (default: now) or, with `history`, at any time. A day means its end in the bank's
        time zone. With `limit`, only the last ones.
        """
        problems = Problems()
        of = problems.of
        for value, parameter in ((subject, "subject"), (object, "object"), (entity, "entity")):
            if value is not None:
                of(checked_name, value, parameter)
        if predicate is not None:
            of(checked_predicate, predicate)
        if memory is not None:
            of(check.identifier, memory, "memory")
        of(check.one_of, direction, "direction", DIRECTIONS)
        if entity is None and direction in ("out", "in"):
            problems.found.append(InputError("direction", "an entity together with it", direction, hint="Give entity."))
        asked = self._time_asked(problems, valid_at, history)
        filter = self._asked(problems, known_at, limit)
        question = Question(
            subject=subject,
            predicate=predicate,
            object=object,
            entity=entity,
            direction=direction,
            memory=memory,
            valid_at=_moment_asked(asked, history, filter),
            limit=limit,
        )
        with self._core.reading() as reader:
            return querying.found(reader, question, filter)

    def query_each(
        self,
        entities: str | Iterable[str],
        *,
        valid_at: Instant | None = None,
        known_at: Instant | None = None,
        history: bool = False,
        limit: int | None = None,
    ) -> dict[str, list[Fact]]:
        """Return the `query` of each entity, by the given names, from one read. `limit` applies to each."""
        problems = Problems()
        names = problems.of(_several, entities)
        asked = self._time_asked(problems, valid_at, history)
        filter = self._asked(problems, known_at, limit)
        at = _moment_asked(asked, history, filter)
        with self._core.reading() as reader:
            return querying.found_each(reader, names, at, limit, filter)

    def timeline(
        self, entity: str | None = None, *, known_at: Instant | None = None, limit: int | None = None
    ) -> list[Fact]:
        """Return the facts of all times in order of their beginning; with `limit`, only the last ones."""
        return self.query(entity=entity, known_at=known_at, history=True, limit=limit)

    def history(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, oldest first, removed ones included."""
        id = check.name(fact_id, "fact_id")
        with self._core.reading() as reader:
            versions = seen_versions(reader, id, self._filter())
            stated = statement_times(reader, versions)
        if not versions:
            raise NotFoundError("fact", fact_id, hint="`query` and `timeline` show the ids.")
        return [with_start(version, stated) for version in versions]

    def declare(self, predicate: str, single_valued: bool = True) -> list[Conflict]:
        """Declare whether a predicate has one value at a time. Change no fact; return the conflicts."""
        problems = Problems()
        problems.of(checked_predicate, predicate)
        problems.of(check.flag, single_valued, "single_valued")
        problems.settle()
        name = self._screened_name(predicate, "predicate")

        def plan(writer: Writer) -> Changeset:
            return Changeset("facts declare", records=predicates.declared(writer, name, single_valued))

        self._core.apply(plan)
        return self.conflicts(predicate=name)

    def predicates(self) -> list[Predicate]:
        """Return the predicates in use and those declared, by name."""
        with self._core.reading() as reader:
            return query.predicates(reader, self._filter())

    def conflicts(self, subject: str | None = None, predicate: str | None = None) -> list[Conflict]:
        """Return facts of a single-valued predicate that are valid at the same time with different objects."""
        problems = Problems()
        if subject is not None:
            problems.of(checked_name, subject, "subject")
        if predicate is not None:
            problems.of(checked_predicate, predicate)
        problems.settle()
        with self._core.reading() as reader:
            return query.conflicts(reader, subject, predicate, self._filter())

    def alias(self, name: str, of: str) -> Entity:
        """Make both names one entity in every look-up, also for existing facts."""
        problems = Problems()
        for value, parameter in ((name, "name"), (of, "of")):
            problems.of(checked_name, value, parameter)
        problems.settle()
        kept, entity = self._screened_name(name, "name"), self._screened_name(of, "of")
        return self._alias("facts alias", lambda aliases: aliases.added(kept, entity), entity)

    def unalias(self, name: str) -> Entity:
        """Remove an alias: the name is an entity of its own again."""
        kept = checked_name(name, "name")
        with self._core.reading() as reader:
            if not Aliases(reader).is_alias(kept):
                # A name redacted when it was written is found by its original.
                kept = self._screened_name(kept, "name")
        return self._alias("facts unalias", lambda aliases: aliases.taken_back(kept), kept)

    def aliases(self) -> dict[str, str]:
        """Return the entity of each alias."""
        with self._core.reading() as reader:
            return Aliases(reader).pairs()

    def entities(self, prefix: str = "") -> list[Entity]:
        """Return every subject and object with its aliases, if one of its names begins with `prefix`."""
        kept = "" if prefix == "" else folded(check.name(prefix, "prefix"))
        with self._core.reading() as reader:
            return query.entities(reader, kept, self._filter())

    def stats(self) -> FactStats:
        filter = self._filter()
        with self._core.reading() as reader:
            return query.stats(reader, moment(filter.now), filter)

    def _state(
        self, what: str, statement: Statement, plans: Callable[[Reader, Statement, Filter], Planned]
    ) -> _Written:
        try:
            return self._written(what, lambda reader, filter: plans(reader, statement, filter))
        except NotFoundError:
            if statement.memory is not None and self._is_the_user_s(statement.memory):
                hint = "The memory is the user's own: open the bank @me, and add the fact there."
                raise NotFoundError("memory", statement.memory, hint=hint) from None
            raise

    def _check_trusted(self, reader: Reader, planned: Planned) -> Planned:
        """Return the plan. Raise `ConflictError` if it ends what has more trust than this caller."""
        states = reader.states([row.memory for row in planned.rows if row.memory is not None])
        for row in planned.rows:
            if row.memory in states:
                check_trusted(row.id, self._core.via, states[row.memory].state)
        return planned

    def _is_the_user_s(self, memory: str) -> bool:
        holder = self._core.holder(memory)
        if holder is self._core:
            return False
        with holder.reading() as reader:
            return memory in reader.states([memory], holder.opening([memory]))

    def _written(self, what: str, plans: Callable[[Reader, Filter], Planned]) -> _Written:
        """Write the plan, and return the facts as an answer shows them."""

        def plan(writer: Writer) -> tuple[Changeset, tuple[Planned, Times, dict[str, int], Changeset]]:
            filter = self._filter()
            made = plans(writer, filter)
            told = [*made.answers, *made.moved]
            facts = [fact_of(each, moment(filter.now)) if isinstance(each, FactRow) else each for each in told]
            times = times_of(writer, (fact.source_memory for fact in facts), filter)
            changeset = Changeset(what, facts=list(made.rows), said_at=filter.now)
            return changeset, (made, times, statement_times(writer, facts), changeset)

        (made, times, stated, changeset), change = self._core.apply_with(plan)
        kept = {row.id: row for row in changeset.facts}

        def answer(fact: FactRow | Fact) -> Fact:
            return shown(_made(kept[fact.id], change) if isinstance(fact, FactRow) else fact, times, stated)

        return _Written(
            [answer(each) for each in made.answers], [answer(row) for row in made.moved], change is not None
        )

    def _alias(self, what: str, plans: Callable[[Aliases], PlannedAlias], name: str) -> Entity:
        def plan(writer: Writer) -> Changeset:
            return Changeset(what, records=plans(Aliases(writer)).records)

        self._core.apply(plan)
        with self._core.reading() as reader:
            return query.entity(reader, name, self._filter())

    def _asked(self, problems: Problems, known_at: Instant | None, limit: int | None) -> Filter:
        """Return the filter of a query, after all its arguments are checked."""
        if limit is not None:
            problems.of(check.whole, limit, "limit", 1, LIMIT)
        known = checked_time(problems, known_at, "known_at", self._core.zone)
        problems.settle()
        return self._filter(known_at=None if known is None else moment(known.last))

    def _time_asked(self, problems: Problems, valid_at: Instant | None, history: bool) -> Given | None:
        """Return the time asked for; None if there is none."""
        problems.of(check.flag, history, "history")
        if history is True and valid_at is not None:
            problems.found.append(InputError("valid_at", "no value together with history", valid_at))
        return checked_time(problems, valid_at, "valid_at", self._core.zone)

    def _filter(self, **values: Any) -> Filter:
        return self._core.filter(**values)

    def _screened(self, statement: Statement) -> Statement:
        source = statement.source
        return replace(
            statement,
            subject=self._screened_name(statement.subject, "subject"),
            predicate=self._screened_name(statement.predicate, "predicate"),
            object=self._screened_name(statement.object, "object"),
            source=None if source is None else self._core.screen(source, "source").text.strip(),
            via=self._core.speaker().via,
        )

    def _screened_name(self, value: str, parameter: str) -> str:
        kept = self._core.screen(value.strip(), parameter)[0]
        return checked_predicate(kept) if parameter == "predicate" else checked_name(kept, parameter)


class _Written(NamedTuple):
    """The facts of a change, the other values that it moved, and whether anything was written."""

    facts: list[Fact]
    moved: list[Fact]
    is_new: bool


def _made(row: FactRow, change: Change | None) -> Fact:
    assert change is not None
    return fact_of(row, change.at)


def _several(entities: object) -> tuple[str, ...]:
    """Return the names, at least one."""
    items = (entities,) if isinstance(entities, str) else entities
    if isinstance(items, bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError("entities", "a name or a list of names", entities)
    kept = tuple(items)
    for name in kept:
        checked_name(name, "entities")
    if not kept:
        raise InputError("entities", "at least one name", entities)
    return kept


def _moment_asked(asked: Given | None, history: bool, filter: Filter) -> Given | None:
    """Return the time to ask for, or None for facts of all times."""
    if history:
        return None
    return Given(filter.now, filter.now) if asked is None else asked
