"""The verbs that remove, restore and forget memories. `purge` erases them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from pieria.bank.core import Core, last_read
from pieria.bank.delete.purge import Erasure, check_told, digest, erasure, finished, standing_since
from pieria.bank.facts.drawn_facts import check_trusted, is_drawn, remove_fact, restore_fact
from pieria.bank.read.lineage import NAMING, lineage
from pieria.bank.results.general import Forgotten
from pieria.bank.write.person_only import told_again
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record import check
from pieria.record.changeset import Changeset, Write
from pieria.record.draft import Instant, Problems
from pieria.record.fact import FactQuery, FactRow
from pieria.record.fact import row_of as fact_row
from pieria.record.filter import ANY_TIME
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import STATEMENT, Memory
from pieria.store.protocol import Reader, Writer

SHARED = ("tag", "intent")
"""Kinds that only route to other nodes: shared by all that name them, they go with the last one."""
NAMES = (*SHARED, "subgoal")


def remove(core: Core, id: str, *, reason: str | None, unless_changed_since: Instant | None) -> Memory:
    problems = Problems()
    problems.of(check.identifier, id, "id")
    kept_reason = problems.of(core.reason, reason)
    since = last_read(problems, unless_changed_since)
    problems.settle()
    holder = core.holder(id)
    if is_drawn(holder, id):
        return remove_fact(holder, id, kept_reason, since, core.via)

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, id)
        holder.check_unchanged(writer, id, since)
        if held.state.kind == STATEMENT:
            check_trusted(id, core.via, held.state)
        return Changeset("remove", writes=[Write(held.state._replace(ended="removed", reason=kept_reason))])

    removed = holder.changed(id, plan)
    holder.tell("nodes_deleted", node_ids=[id])
    return removed


def restore(core: Core, id: str) -> Memory:
    holder = core.holder(check.identifier(id, "id"))
    if is_drawn(holder, id):
        return restore_fact(holder, id)

    def plan(writer: Writer) -> Changeset:
        held = writer.states([id], holder.opening([id])).get(id)
        if held is None:
            holder.standing(writer, id)
        elif held.state.ended != "removed":
            raise ConflictError("the memory was not removed", ids=(id,), hint="There is nothing to restore.")
        assert held is not None
        back = told_again(core, writer, held.state, held.state._replace(ended="", reason=None))
        return Changeset("restore", writes=[Write(back)])

    with holder.writing() as writer:
        holder.write_changes(writer, plan)
        restored = holder.at_hand(writer, id)
        if restored.removed:
            hint = "Unlink it from that memory first, or change their validity or scope so that they overlap."
            raise ConflictError(restored.standing.reason or "it cannot be restored", ids=(id,), hint=hint)
        return restored


def forget(
    core: Core,
    *,
    source: str | None,
    session: str | None,
    purge: bool,
    reason: str | None,
    dry_run: bool,
    as_told: str | None,
) -> Forgotten:
    check.flag(purge, "purge")
    check.flag(dry_run, "dry_run")
    named = {"source": source, "session": session}
    where = {name: check.name(value, name) for name, value in named.items() if value is not None}
    if not where:
        raise InputError("source", "a source, or a session", None)
    if purge and reason is not None:
        raise InputError("reason", "no reason with purge, which keeps none", reason)
    kept_reason = core.reason(reason)
    told = None if as_told is None else check.name(as_told, "as_told")
    if dry_run:
        with core.reading() as reader:
            there = _erasure_from(core, reader, where)[0] if purge else _from(core, reader, where)
        check_told(told, there.digest, there.ids)
        return there
    return _erased_from(core, where, told) if purge else _removed_from(core, where, kept_reason, told)


def _removed_from(core: Core, where: Mapping[str, str], reason: str | None, told: str | None) -> Forgotten:
    def plan(writer: Writer) -> tuple[Changeset, Forgotten]:
        there = _from(core, writer, where)
        check_told(told, there.digest, there.ids)
        ended = [*_ended(writer, (*there.ids, *there.also), reason)]
        return Changeset("forget", writes=ended, facts=[*_taken_back(writer, there.facts, reason, core)]), there

    there, change = core.apply_with(plan)
    core.tell("nodes_deleted", node_ids=[*there.ids, *there.also])
    return replace(there, dry_run=False, seq=None if change is None else change.seq)


def _erased_from(core: Core, where: Mapping[str, str], told: str | None) -> Forgotten:
    def plan(writer: Writer) -> tuple[Changeset, tuple[Forgotten, Erasure]]:
        there, erased = _erasure_from(core, writer, where)
        check_told(told, there.digest, there.ids)
        return erased.changeset, (there, erased)

    (there, erased), change = core.apply_with(plan)
    if change is None:
        return replace(there, dry_run=False)
    left = finished(core, erased)
    receipt = replace(erased.receipt, unreached=(*erased.receipt.unreached, *left))
    return replace(there, dry_run=False, receipt=receipt)


def _erasure_from(core: Core, reader: Reader, where: Mapping[str, str]) -> tuple[Forgotten, Erasure]:
    there = _from(core, reader, where, purge=True)
    erased = erasure(reader, core, list(there.ids), there.facts)
    return replace(there, digest=erased.receipt.digest), erased


def _from(core: Core, reader: Reader, where: Mapping[str, str], *, purge: bool = False) -> Forgotten:
    """Return the visible memories and facts from there, and what goes with them."""
    placed = [
        one.id for one in reader.placed(core.filter(include=("archived", "invalid"), **where).having(quarantined=True))
    ]
    kinds = {id: held.state.kind for id, held in reader.states(placed).items()}
    ids = [id for id in placed if kinds[id] not in (*SHARED, STATEMENT)]
    also = [id for id in lineage(reader, ids) if id not in kinds] if purge else _left_with_nothing(reader, ids)
    seen = reader.states(also, core.opening(also, quarantined=True)) if also else {}
    facts = [id for id, memory in _stated(reader, where, core) if memory not in ids]
    if not placed and not facts:
        name, value = next(iter(where.items()))
        raise NotFoundError(name, value, hint=f"`count` by {name} lists them.")
    told = digest(memories=standing_since(reader, [*ids, *also]), facts=facts)
    return Forgotten(True, tuple(ids), tuple(id for id in also if id in seen), tuple(facts), told)


def _stated(reader: Reader, where: Mapping[str, str], core: Core) -> Iterator[tuple[str, str | None]]:
    """Yield the facts that name the source, each with its memory.

    A fact belongs to a session only through its memory.
    """
    if where.keys() == {"source"}:
        for fact in reader.facts(
            FactQuery(source=where["source"]), core.filter().having(valid_at=ANY_TIME, quarantined=True)
        ):
            yield fact.id, fact.memory


def _taken_back(reader: Reader, ids: tuple[str, ...], reason: str | None, core: Core) -> Iterator[FactRow]:
    """Yield the rows that remove those of the facts that are still valid."""
    for fact in (
        reader.facts(FactQuery(ids=ids), core.filter().having(valid_at=ANY_TIME, quarantined=True)) if ids else ()
    ):
        yield fact_row(fact)._replace(ended="removed", reason=reason)


def _ended(reader: Reader, ids: Iterable[str], reason: str | None) -> Iterator[Write]:
    for held in reader.states(ids).values():
        if not held.state.ended:
            yield Write(held.state._replace(ended="removed", reason=reason))


def _left_with_nothing(reader: Reader, ids: Iterable[str]) -> list[str]:
    """Return what was derived from these memories alone, step by step, and names that nothing else uses."""
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
    """Return the derivation links of these memories, as pairs (derived id, source id)."""
    links = reader.links([End("memory", id) for id in ids], DRAWN_FROM) if ids else []
    return [(link.source.name, link.target.name) for link in links if link.source.what == link.target.what == "memory"]


def _named(reader: Reader, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the naming links of these memories, as pairs in both directions."""
    links = reader.links([End("memory", id) for id in ids]) if ids else []
    pairs = [(link.source.name, link.target.name) for link in links if link.relation in NAMING]
    return pairs + [(other, one) for one, other in pairs]


def _standing(reader: Reader, ids: Iterable[str]) -> set[str]:
    return {id for id, held in reader.states(ids).items() if not held.state.ended}
