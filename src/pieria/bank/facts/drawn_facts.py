"""Facts that were drawn from memories, opened and changed by the verbs of memories.

Such a fact has an id of its own, but no memory states it. The verbs return one that is made here and stored nowhere.
A fact stated alone goes through the memory that states it: see `statements`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import as_of, check_in_force, check_since
from pieria.bank.delete.quarantine_records import quarantine_error
from pieria.bank.facts.statements import corrected, find_fact, sentence_of
from pieria.errors import ConflictError, InputError
from pieria.record.changeset import Changeset, State
from pieria.record.draft import NewMemory, Problems, checked
from pieria.record.fact import Fact, FactQuery, FactRow, row_of
from pieria.record.filter import Filter
from pieria.record.memory import STATEMENT, Frozen, Judgement, Memory, Origin, Standing, Times
from pieria.record.time import iso, micros, moment
from pieria.record.trust import AGENT, TRUST, lowest, may_overturn

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.facts.validity import Span
    from pieria.store.protocol import Reader, Writer

CHANGEABLE = ("text", "confidence", "valid_from", "valid_until")
"""What an update may change of such a fact."""


class DrawnFact(NamedTuple):
    """A fact as written, its versions that this viewer may see, and the state of its memory."""

    fact: Fact
    versions: Sequence[Fact]
    source: State | None
    zone: tzinfo
    stated: Mapping[str, int]
    """When the fact was stated, if it has no start of its own."""

    @property
    def span(self) -> Span:
        """The time of its memory. No answer shows the fact to hold for longer."""
        from pieria.facts.validity import spanned

        return spanned(None, None) if self.source is None else spanned(self.source.valid_from, self.source.valid_until)

    @property
    def shown(self) -> Fact:
        from pieria.facts.validity import shown

        return shown(self.fact, {self.fact.source_memory: self.span}, {})

    @property
    def held(self) -> Span:
        """The time that it holds. Without a start of its own it holds from when it was stated."""
        from pieria.facts.validity import written_span

        return written_span(self.shown, self.stated, self.span)

    @property
    def numbers(self) -> dict[datetime, int]:
        """The number of each version, by its known beginning. It counts the wordings, as for memories."""
        numbers: dict[datetime, int] = {}
        before = None
        for fact in self.versions:
            sentence = sentence_of(row_of(fact), self.zone)
            numbers[fact.known_from] = max(numbers.values(), default=0) + (sentence != before)
            before = sentence
        return numbers


def seen_versions(reader: Reader, id: str, filter: Filter) -> list[Fact]:
    """Return the versions of a fact that this viewer may see, oldest first."""
    query = FactQuery(ids=(id,), include_ended=True, every_version=True)
    from pieria.facts.validity import as_written, was_seen

    every = [fact for fact in reader.facts(query, as_written(filter)) if was_seen(reader, fact, filter)]
    return sorted(every, key=lambda fact: fact.known_from)


def find_drawn(reader: Reader, id: str, filter: Filter, zone: tzinfo = UTC) -> DrawnFact | None:
    """Return the fact of this id, removed or not, if no memory has the id."""
    fact = find_fact(reader, id, filter)
    if fact is None:
        held = quarantine_error(reader, id)
        if held is not None and find_fact(reader, id, filter.having(quarantined=True)) is not None:
            raise held
        return None
    source = None if fact.memory is None else reader.states([fact.memory], filter.anything()).get(fact.memory)
    state = None if source is None else source.state
    from pieria.facts.validity import statement_times

    return DrawnFact(fact, seen_versions(reader, id, filter), state, zone, statement_times(reader, [fact]))


def is_drawn(core: Core, id: str) -> bool:
    with core.reading() as reader:
        return find_fact(reader, id, core.filter()) is not None


def open_fact(
    core: Core, reader: Reader, id: str, version: int | None, filter: Filter, *, include_removed: bool
) -> Memory | None:
    """Return the memory that states a fact, in a version of it, or None."""
    drawn = find_drawn(reader, id, filter, core.zone)
    if drawn is None:
        return None
    if version is None:
        return None if drawn.fact.ended and not include_removed else _memory_of(core, drawn, drawn.shown)
    numbers = drawn.numbers
    found = [
        fact
        for fact in drawn.versions
        if numbers[fact.known_from] == version
        and (include_removed or not fact.ended)
        and (filter.known_at is None or micros(fact.known_from) <= filter.known_at)
    ]
    return _memory_of(core, drawn, found[-1]) if found else None


def fact_history(core: Core, reader: Reader, id: str) -> tuple[Memory, ...]:
    """Return each version of a fact as the memory that states it, oldest first; nothing if there is no such fact."""
    drawn = find_drawn(reader, id, core.filter(), core.zone)
    return () if drawn is None else tuple(_memory_of(core, drawn, fact) for fact in drawn.versions)


def correct_fact(
    core: Core,
    id: str,
    given: Mapping[str, Any],
    changes: Mapping[str, Any],
    reason: str | None,
    since: int | None,
    via: str,
) -> Memory:
    """Change the object, confidence or time of a fact, and leave its memory unchanged.

    `changes` are the checked values of `given`, without the text.
    """
    text = core.screening.draft(checked(NewMemory(given["text"]))).text if "text" in given else None

    def plan(drawn: DrawnFact) -> FactRow:
        _check_changeable(given, drawn.fact)
        row = row_of(drawn.fact)._replace(**changes)
        if text is not None:
            said = corrected(text, row_of(drawn.shown), core.zone)
            row = row._replace(object=said.object, object_key=said.object_key)
        for name in changes.keys() & {"valid_from", "valid_until"}:
            _check_time(row, drawn.span, name)
        if row != row_of(drawn.fact):
            check_trusted(id, via, drawn.source)
        return row

    return _changed(core, id, "update", plan, reason, since)


def end_fact(
    core: Core, id: str, at: int | None, replacement: str | None, reason: str | None, since: int | None, via: str
) -> Memory:
    """End a fact at a time (default: now)."""
    if replacement is not None:
        hint = "Leave it out, and state the new value as a fact."
        raise InputError("replacement", "no memory in the place of a fact", replacement, hint=hint)

    def plan(drawn: DrawnFact) -> FactRow:
        check_trusted(id, via, drawn.source)
        until = core.now() if at is None else at
        held = drawn.held
        if held.end <= until:
            raise ConflictError("the fact was no longer valid at that time", ids=(id,))
        if until < held.begin:
            raise InputError("at", "a time after the fact's valid_from", iso(moment(until)), hint="Or use remove.")
        return row_of(drawn.fact)._replace(valid_until=until)

    return _changed(core, id, "invalidate", plan, reason, since)


def remove_fact(core: Core, id: str, reason: str | None, since: int | None, via: str) -> Memory:
    def plan(drawn: DrawnFact) -> FactRow:
        check_trusted(id, via, drawn.source)
        return row_of(drawn.fact)._replace(ended="removed")

    return _changed(core, id, "remove", plan, reason, since)


def restore_fact(core: Core, id: str) -> Memory:
    def plan(drawn: DrawnFact) -> FactRow:
        if not drawn.fact.ended:
            raise ConflictError("the fact was not removed", ids=(id,), hint="There is nothing to restore.")
        return row_of(drawn.fact)._replace(ended="")

    return _changed(core, id, "restore", plan, None, None, is_removed=True)


def _changed(
    core: Core,
    id: str,
    what: str,
    plan: Callable[[DrawnFact], FactRow],
    reason: str | None,
    since: int | None,
    *,
    is_removed: bool = False,
) -> Memory:
    """Write the planned row, unless it is the same, and return the fact as a memory."""

    def changeset(writer: Writer) -> Changeset:
        drawn = find_drawn(writer, id, core.filter(), core.zone)
        if drawn is None:
            raise core.missing(writer, id)
        if not is_removed:
            check_in_force(id, drawn.fact.ended)
        check_unchanged(core, drawn, since)
        row, before = plan(drawn), row_of(drawn.fact)
        return Changeset(what, facts=[] if row == before else [row._replace(reason=reason)])

    with core.writing() as writer:
        core.write_changes(writer, changeset)
        found = open_fact(core, writer, id, None, core.filter(), include_removed=True)
        # A fact of an older version gets a memory that states it with its first change.
        return core.at_hand(writer, id) if found is None else found


def check_unchanged(core: Core, drawn: DrawnFact, since: int | None) -> None:
    """Raise `ConflictError` if the fact has changed since the caller read it."""
    if since is None:
        return
    told = [
        (micros(fact.known_from), as_of(fact.id, drawn.numbers[fact.known_from], micros(fact.known_from)))
        for fact in drawn.versions
    ]
    known, current = told[-1]
    before = [said for known_from, said in told if known_from <= since]
    check_since(drawn.fact.id, since, core.now(), known, current, before[-1] if before else None)


def _check_changeable(given: Mapping[str, Any], fact: Fact) -> None:
    problems = Problems()
    for name in given:
        if name not in CHANGEABLE:
            hint = f"It is drawn from the memory {fact.memory}: change that." if fact.memory else None
            expected = "no value: only the text, confidence and valid time of this fact can be changed"
            problems.found.append(InputError(name, expected, given[name], hint=hint))
    problems.settle()


def check_trusted(id: str, via: str, source: State | None) -> None:
    """Raise `ConflictError` if a text by hearsay or from outside changes or ends what was said with more trust."""
    trust = TRUST[lowest(via)]
    if source is not None and trust < TRUST[AGENT] and not may_overturn(via, trust, source.via, source.trust):
        hint = "State the other value as a fact of its own: both hold then, and `facts.conflicts` reports them."
        raise ConflictError("the fact has more trust than this text", ids=(id,), hint=hint)


def _check_time(row: FactRow, source: Span, parameter: str) -> None:
    begin, end = row.valid_from, row.valid_until
    if begin is not None and end is not None and end <= begin:
        raise InputError("valid_until", f"a time after valid_from ({iso(moment(begin))})", iso(moment(end)))
    from pieria.facts.validity import spanned

    if spanned(begin, end).within(source) is None:
        hint = "A fact holds no longer than the memory that it was drawn from."
        raise InputError(parameter, "a time at which the fact's memory holds", None, hint=hint)


def _memory_of(core: Core, drawn: DrawnFact, fact: Fact) -> Memory:
    """Return the memory that states this version of the fact. Its readers, time and trust are those of its source."""
    source = drawn.source
    trust = TRUST[AGENT] if source is None else min(source.trust, TRUST[AGENT])
    via = AGENT if source is None else lowest(source.via, AGENT)
    said = drawn.versions[0].known_from if source is None else moment(source.at)
    body = {name: getattr(fact, name) for name in ("subject", "predicate", "object", "memory")}
    return Memory(
        row=0,
        id=fact.id,
        version=drawn.numbers.get(fact.known_from, 1),
        kind=STATEMENT,
        title=None,
        text=sentence_of(row_of(fact), core.zone),
        place=f"{core.name}/{STATEMENT}" if source is None else source.place,
        scope=("user" if core.is_user_bank else "bank") if source is None else source.scope,
        times=Times(said, fact.known_from, fact.known_until, fact.valid_from, fact.valid_until),
        judgement=Judgement(confidence=fact.confidence, trust=trust),
        origin=Origin(
            source=fact.source,
            channel=None if source is None else source.channel,
            session=None if source is None else source.session,
            via=via,
        ),
        standing=Standing(ended=fact.ended, reason=fact.reason),
        body=Frozen(body),
    )
