"""Take in links and facts of another system, repeatedly: the counterpart of `bank.capture.sources` for memories.

Ids derive from their origin, so a second run finds what the first one wrote. Reading the other system does not belong
here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pieria.bank.capture.sources import CHANGED, CORRECTED, NEW, PURGED, REMOVED, UNCHANGED, UPDATED, Outcome
from pieria.bank.facts.statements import EVERYTHING, statement_of
from pieria.bank.transfer.files import screened_fact, screened_link
from pieria.bank.write.remember import FAULTY
from pieria.errors import InputError
from pieria.record import check
from pieria.record.changeset import Changeset, Write
from pieria.record.draft import NewFact, NewLink, Problems, interval, moment
from pieria.record.fact import Fact, FactQuery, FactRow, row_of
from pieria.record.link import SYMMETRIC, End, Link, LinkRow
from pieria.record.link import row_of as link_row_of

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.store.protocol import Reader, Writer

DIGEST = "mined"
"""The key in a link's `meta` that holds the digest of its source."""
NAMELESS = "nameless"
"""The outcome of a link to a memory that is not here."""

Row = TypeVar("Row", LinkRow, FactRow)


class TieIntake:
    """One run over links and facts. Use it from one thread."""

    def __init__(self, bank: Bank, *, force: bool, dry_run: bool, via: str, what: str) -> None:
        self._bank = bank
        self._force = force
        self._dry_run = dry_run
        self._via = via
        self._what = what
        self._stated: dict[str, NewFact] = {}
        self._said: set[int] = set()
        """Hashes of the facts that a dry run would have added: of these the bank knows nothing."""

    def links(self, items: Sequence[NewLink], coming: Collection[str] = ()) -> list[Outcome]:
        """Add new links, update changed ones, and return the outcome of each.

        `coming` are memories that a dry run would have added.
        """
        rows = [self._checked(_link_row, item) for item in items]
        return self._written(rows, lambda reader: _Links(reader, _sound(rows, LinkRow), self._force, coming))

    def facts(self, items: Sequence[NewFact], coming: Collection[str] = ()) -> list[Outcome]:
        """Add new facts, update changed ones, and return the outcome of each."""
        rows = [self._checked(_fact_row, item) for item in items]
        self._stated = {item.id: item for item in items}
        return self._written(
            rows, lambda reader: _Facts(reader, _sound(rows, FactRow), self._force, coming, self._said)
        )

    def _checked(self, made: Callable[..., Any], item: Any) -> Any:
        try:
            return made(self._bank.core, item)
        except FAULTY as problem:
            return problem

    def _written(self, rows: Sequence[Any], plans: Callable[[Reader], _Plan]) -> list[Outcome]:
        core = self._bank.core
        if self._dry_run:
            with core.reading() as reader:
                return plans(reader).outcomes(rows)[0]

        def planned(writer: Writer) -> tuple[Changeset, list[Outcome]]:
            outcomes, changed = plans(writer).outcomes(rows)
            changeset = Changeset(self._what, links=_sound(changed, LinkRow))
            for row in _sound(changed, FactRow):
                stated = row.memory is None and row.reason is None
                if stated:
                    changeset.writes.append(self._statement(row))
                changeset.facts.append(row._replace(memory=row.id) if stated else row)
            return changeset, outcomes

        return core.apply_with(planned, self._via)[0]

    def _statement(self, row: FactRow) -> Write:
        """Return the memory that states a new fact, with the time and the author of its origin."""
        core, item = self._bank.core, self._stated[row.id]
        speaker = core.speaker(self._via)._replace(author=item.author or core.author)
        return statement_of(row, speaker, core.now() if item.at is None else moment(item.at, "at"))


class _Plan:
    """What one batch means in the bank as it is."""

    def __init__(self, reader: Reader, ids: Sequence[str], named: Iterable[str], force: bool) -> None:
        self._reader = reader
        asked = set(named)
        self._purged = set() if force else reader.purged([*ids, *asked])
        self._states = reader.states(asked)
        self._force = force

    def outcomes(self, rows: Sequence[Any]) -> tuple[list[Outcome], list[Any]]:
        """Return the outcome of each row, and the rows to write. An id counts once."""
        outcomes: list[Outcome] = []
        changed: list[Any] = []
        seen: set[str] = set()
        for row in rows:
            if isinstance(row, FAULTY):
                outcomes.append(row)
                continue
            outcome, kept = (UNCHANGED, None) if row.id in seen else self._one(row)
            seen.add(row.id)
            outcomes.append(outcome)
            if kept is not None:
                changed.append(kept)
        return outcomes, changed

    def _one(self, row: Any) -> tuple[Outcome, Any]:
        raise NotImplementedError

    def _keeps_out(self, memory: str) -> str | None:
        """Return why nothing may come in that belongs to this memory."""
        if memory in self._purged:
            return PURGED
        held = self._states.get(memory)
        return REMOVED if held is not None and held.state.ended == "removed" and not self._force else None


class _Links(_Plan):
    def __init__(self, reader: Reader, rows: Sequence[LinkRow], force: bool, coming: Collection[str]) -> None:
        named = [name for row in rows for name in _memories_of(row)]
        super().__init__(reader, [], named, force)
        self._coming = coming
        held = reader.links(ids=[row.id for row in rows], every_version=True) if rows else []
        self._held = {link.id: link for link in held if link.known_until is None}

    def _one(self, row: LinkRow) -> tuple[Outcome, LinkRow | None]:
        ours = self._held.get(row.id)
        if ours is not None:
            return self._again(ours, row)
        for memory in _memories_of(row):
            if (why := self._keeps_out(memory)) is not None:
                return why, None
            if memory not in self._states and memory not in self._coming:
                return NAMELESS, None
        return (UNCHANGED, None) if self._is_tied(row) else (NEW, row)

    def _again(self, ours: Link, row: LinkRow) -> tuple[Outcome, LinkRow | None]:
        if ours.ended and not self._force:
            return REMOVED, None
        if not ours.ended and (ours.meta.get(DIGEST) == _digest(row) or link_row_of(ours) == row):
            return UNCHANGED, None
        if DIGEST not in ours.meta and not self._force:
            return CORRECTED, None
        return UPDATED, row

    def _is_tied(self, row: LinkRow) -> bool:
        """Return whether the bank has this link under another id."""
        source, target = End(row.source_is, row.source), End(row.target_is, row.target)
        wanted = {(source, target), (target, source)} if row.relation in SYMMETRIC else {(source, target)}
        return any((link.source, link.target) in wanted for link in self._reader.links([source], row.relation))


class _Facts(_Plan):
    def __init__(
        self, reader: Reader, rows: Sequence[FactRow], force: bool, coming: Collection[str], said: set[int]
    ) -> None:
        super().__init__(reader, [row.id for row in rows], (row.memory for row in rows if row.memory), force)
        self._coming = coming
        self._said = said
        self._here: set[tuple[Any, ...]] = set()
        query = FactQuery(ids=tuple(row.id for row in rows), include_ended=True)
        self._held = {fact.id: fact for fact in reader.facts(query, EVERYTHING)} if rows else {}

    def _one(self, row: FactRow) -> tuple[Outcome, FactRow | None]:
        if row.id in self._purged:
            return PURGED, None
        if row.memory is not None:
            if (why := self._keeps_out(row.memory)) is not None:
                return why, None
            if row.memory not in self._states and row.memory not in self._coming:
                row = row._replace(memory=None)
        ours = self._held.get(row.id)
        if ours is not None:
            return self._again(ours, row)
        if self._is_stated(row):
            return UNCHANGED, None
        self._here.add(_said(row))
        self._said.add(hash(_said(row)))
        return NEW, row

    def _again(self, ours: Fact, row: FactRow) -> tuple[Outcome, FactRow | None]:
        before = row_of(ours)
        if before.ended and not self._force:
            return REMOVED, None
        if not before.ended and _said(before) == _said(row) and before.confidence == row.confidence:
            return UNCHANGED, None
        if before.reason != CHANGED and not self._force and self._has_changed(row.id):
            return CORRECTED, None
        return UPDATED, row._replace(reason=CHANGED)

    def _has_changed(self, id: str) -> bool:
        query = FactQuery(ids=(id,), include_ended=True, every_version=True)
        return len(self._reader.facts(query, EVERYTHING)) > 1

    def _is_stated(self, row: FactRow) -> bool:
        """Return whether the bank has the same triple, time and memory under another id."""
        said = _said(row)
        if said in self._here or hash(said) in self._said:
            return True
        query = FactQuery(
            subject_keys=(row.subject_key,), predicate_keys=(row.predicate_key,), object_keys=(row.object_key,)
        )
        return any(_said(row_of(fact)) == said for fact in self._reader.facts(query, EVERYTHING))


def _sound(rows: Sequence[Any], kind: type[Row]) -> list[Row]:
    return [row for row in rows if isinstance(row, kind)]


def _said(row: FactRow) -> tuple[Any, ...]:
    return row.subject_key, row.predicate_key, row.object_key, row.valid_from, row.valid_until, row.source_memory


def _memories_of(row: LinkRow) -> list[str]:
    return [name for what, name in ((row.source_is, row.source), (row.target_is, row.target)) if what == "memory"]


def _digest(row: LinkRow) -> Any:
    return json.loads(row.meta).get(DIGEST) if row.meta else None


def _link_row(core: Any, item: NewLink) -> LinkRow:
    if item.source == item.target:
        raise InputError("target", "another memory or place than the source", item.target.name)
    label = None if item.label is None else check.text(item.label, "label")
    row = LinkRow(
        item.id, *_end(item.source, "source"), check.name(item.relation, "relation"), *_end(item.target, "target"),
        check.number(item.weight, "weight"), label, check.mapping(item.meta, "meta") if item.meta else None, "",
    )  # fmt: skip
    return screened_link(core, row)


def _end(end: End, parameter: str) -> tuple[str, str]:
    return (end.what, check.place(end.name, parameter)) if end.what == "place" else (end.what, end.name)


def _fact_row(core: Any, item: NewFact) -> FactRow:
    problems = Problems()
    for name in ("subject", "predicate", "object"):
        problems.of(check.text, getattr(item, name), name)
    valid_from, valid_until = interval(problems, item.valid_from, item.valid_until)
    if item.at is not None:
        problems.of(moment, item.at, "at")
    if item.author is not None:
        problems.of(check.name, item.author, "author")
    confidence = None if item.confidence is None else problems.of(check.number, item.confidence, "confidence")
    source = None if item.source is None else problems.of(check.text, item.source, "source")
    problems.settle()
    row = FactRow(
        item.id, item.subject, "", item.predicate, "", item.object, "", valid_from, valid_until, confidence,
        item.memory, source, "", None,
    )  # fmt: skip
    return screened_fact(core, row)
