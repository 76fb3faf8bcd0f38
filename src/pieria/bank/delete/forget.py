"""Forgetting everything that came from one place: a file, a run that was taken in, a session."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from pieria.bank.delete.remove import (
    Erasure,
    Removing,
    check_told,
    digest,
    erasure,
    finished,
    standing_since,
)
from pieria.bank.read.lineage import NAMING, lineage
from pieria.bank.results.general import Forgotten
from pieria.errors import InputError, NotFoundError
from pieria.record import check
from pieria.record.changeset import Changeset, Write
from pieria.record.fact import FactQuery, FactRow
from pieria.record.factnames import row_of
from pieria.record.filter import ANY_TIME
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import STATEMENT
from pieria.store.protocol import Reader, Writer

SHARED = ("tag", "intent")
"""What only leads to others comes in with whoever names it first, and goes with the last that bears it."""
NAMES = (*SHARED, "subgoal")


class Forgetting(Removing):
    def forget(
        self,
        *,
        source: str | None = None,
        session: str | None = None,
        purge: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        as_told: str | None = None,
    ) -> Forgotten:
        """Removes all that came from a source or in a session, and what was drawn from nothing else, as one change.
        What is in quarantine goes with it.

        `undo` of that change brings it back. With `purge` it is erased for good, and so is everything that was drawn
        from it, and what is known as facts from there. With `dry_run` it is only told. With `as_told`, the
        `digest` of what was told, nothing goes where anything of it was added, changed or taken away since. Raises
        `NotFoundError` where there is nothing from there.
        """
        check.flag(purge, "purge")
        check.flag(dry_run, "dry_run")
        named = {"source": source, "session": session}
        where = {name: check.name(value, name) for name, value in named.items() if value is not None}
        if not where:
            raise InputError("source", "a source, or a session", None)
        if purge and reason is not None:
            raise InputError("reason", "none with purge, which keeps nothing", reason)
        kept_reason = self._reason(reason)
        told = None if as_told is None else check.name(as_told, "as_told")
        if dry_run:
            with self._reading() as reader:
                there = self._erasure_from(reader, where)[0] if purge else self._from(reader, where)
            check_told(told, there.digest, there.ids)
            return there
        return self._erased_from(where, told) if purge else self._removed_from(where, kept_reason, told)

    def _removed_from(self, where: Mapping[str, str], reason: str | None, told: str | None) -> Forgotten:
        planned: list[Forgotten] = []

        def plan(writer: Writer) -> Changeset:
            there = self._from(writer, where)
            check_told(told, there.digest, there.ids)
            planned.append(there)
            ended = [*_ended(writer, (*there.ids, *there.also), reason)]
            return Changeset("forget", writes=ended, facts=[*_taken_back(writer, there.facts, reason, self)])

        change = self._apply(plan)
        [there] = planned
        self._tell("nodes_deleted", node_ids=[*there.ids, *there.also])
        return replace(there, dry_run=False, seq=None if change is None else change.seq)

    def _erased_from(self, where: Mapping[str, str], told: str | None) -> Forgotten:
        planned: list[tuple[Forgotten, Erasure]] = []

        def plan(writer: Writer) -> Changeset:
            planned.append(self._erasure_from(writer, where))
            [(there, erased)] = planned
            check_told(told, there.digest, there.ids)
            return erased.changeset

        change = self._apply(plan)
        [(there, erased)] = planned
        if change is None:
            return replace(there, dry_run=False)
        left = finished(self, erased)
        receipt = replace(erased.receipt, unreached=(*erased.receipt.unreached, *left))
        return replace(there, dry_run=False, receipt=receipt)

    def _erasure_from(self, reader: Reader, where: Mapping[str, str]) -> tuple[Forgotten, Erasure]:
        there = self._from(reader, where, purge=True)
        erased = erasure(reader, self, list(there.ids), there.facts)
        return replace(there, digest=erased.receipt.digest), erased

    def _from(self, reader: Reader, where: Mapping[str, str], *, purge: bool = False) -> Forgotten:
        """What came from there, as far as it is seen here, and what goes with it."""
        placed = [
            one.id
            for one in reader.placed(self._filter(include=("archived", "invalid"), **where).having(quarantined=True))
        ]
        kinds = {id: held.state.kind for id, held in reader.states(placed).items()}
        ids = [id for id in placed if kinds[id] not in (*SHARED, STATEMENT)]
        also = [id for id in lineage(reader, ids) if id not in kinds] if purge else _left_with_nothing(reader, ids)
        seen = reader.states(also, self._filter().having(ids=tuple(also), quarantined=True).anything()) if also else {}
        facts = [id for id, memory in _stated(reader, where, self) if memory not in ids]
        if not placed and not facts:
            name, value = next(iter(where.items()))
            raise NotFoundError(name, value, hint=f"`count` by {name} tells which there are.")
        told = digest(memories=standing_since(reader, [*ids, *also]), facts=facts)
        return Forgotten(True, tuple(ids), tuple(id for id in also if id in seen), tuple(facts), told)


def _stated(reader: Reader, where: Mapping[str, str], bank: Removing) -> Iterator[tuple[str, str | None]]:
    """The facts that name the source, each with its memory. None is of a session but by its memory."""
    if where.keys() == {"source"}:
        for fact in reader.facts(
            FactQuery(source=where["source"]), bank._filter().having(valid_at=ANY_TIME, quarantined=True)
        ):
            yield fact.id, fact.memory


def _taken_back(reader: Reader, ids: tuple[str, ...], reason: str | None, bank: Removing) -> Iterator[FactRow]:
    """Those of them that still stand."""
    for fact in (
        reader.facts(FactQuery(ids=ids), bank._filter().having(valid_at=ANY_TIME, quarantined=True)) if ids else ()
    ):
        yield row_of(fact)._replace(ended="removed", reason=reason)


def _ended(reader: Reader, ids: Iterable[str], reason: str | None) -> Iterator[Write]:
    for held in reader.states(ids).values():
        if not held.state.ended:
            yield Write(held.state._replace(ended="removed", reason=reason))


def _left_with_nothing(reader: Reader, ids: Iterable[str]) -> list[str]:
    """What was drawn from these alone, from step to step, and what then names nothing that stands."""
    given = set(ids)
    gone, fringe = set(given), given
    while fringe:
        drawn = {one for one, source in _drawn(reader, fringe) if source in fringe} - gone
        ties = [(one, source) for one, source in _drawn(reader, drawn) if one in drawn]
        standing = _standing(reader, {source for _, source in ties}) - gone
        fringe = drawn - {one for one, source in ties if source in standing}
        gone |= fringe
    ties = [(name, one) for name, one in _named(reader, gone) if name not in gone]
    names = {name for name, held in reader.states({name for name, _ in ties}).items() if held.state.kind in NAMES}
    ties = [(name, one) for name, one in _named(reader, names) if name in names]
    standing = _standing(reader, {one for _, one in ties}) - gone
    return sorted(gone - given) + sorted(names - {name for name, one in ties if one in standing})


def _drawn(reader: Reader, ids: Collection[str]) -> list[tuple[str, str]]:
    """Each tie of these to what they were drawn from, or to what was drawn from them: the drawn one, its source."""
    links = reader.links([End("memory", id) for id in ids], DRAWN_FROM) if ids else []
    return [(link.source.name, link.target.name) for link in links if link.source.what == link.target.what == "memory"]


def _named(reader: Reader, ids: Collection[str]) -> list[tuple[str, str]]:
    """Each tie of these to what they name or are named by, both ways round."""
    links = reader.links([End("memory", id) for id in ids]) if ids else []
    pairs = [(link.source.name, link.target.name) for link in links if link.relation in NAMING]
    return pairs + [(other, one) for one, other in pairs]


def _standing(reader: Reader, ids: Iterable[str]) -> set[str]:
    return {id for id, held in reader.states(ids).items() if not held.state.ended}
