"""The verbs that remove, restore, purge and forget memories."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

from pieria.bank.core import Core, last_read
from pieria.bank.delete.quarantine_records import without_reasons
from pieria.bank.facts.statements import statements_among
from pieria.bank.graph.grounding import noted
from pieria.bank.read.revisions import NAMING, cuts, lineage
from pieria.bank.results.general import Forgotten, Receipt
from pieria.bank.sessions.records import without_digests, without_words_of
from pieria.bank.vault.marks import bared, notes_of
from pieria.bank.write.person_only import told_again
from pieria.errors import ConflictError, InputError, NotFoundError, StorageError
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Write
from pieria.record.draft import Instant, Problems
from pieria.record.fact import FactQuery, FactRow
from pieria.record.fact import row_of as fact_row
from pieria.record.filter import ANY_TIME
from pieria.record.job import new_job
from pieria.record.link import DRAWN_FROM, End, LinkRow
from pieria.record.link import row_of as link_row
from pieria.record.memory import STATEMENT, Memory
from pieria.record.trust import DECLINED_RULES
from pieria.store.protocol import Reader, Writer

SCRUB, SCRUB_TRIES = "scrub", 20
"""The job that finishes a purge, and its number of tries, which span some hours."""
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

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, id)
        holder.check_unchanged(writer, id, since)
        return Changeset("remove", writes=[Write(held.state._replace(ended="removed", reason=kept_reason))])

    removed = holder.changed(id, plan)
    holder.tell("nodes_deleted", node_ids=[id])
    return removed


def restore(core: Core, id: str) -> Memory:
    holder = core.holder(check.identifier(id, "id"))

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
        holder.applied(writer, plan)
        restored = holder.at_hand(writer, id)
        if restored.removed:
            hint = "Unlink it from that memory first, or change their validity or scope so that they overlap."
            raise ConflictError(restored.standing.reason or "it cannot be restored", ids=(id,), hint=hint)
        return restored


def purge(
    core: Core, ids: str | Iterable[str], *, dry_run: bool, unless_changed_since: Instant | None, as_told: str | None
) -> Receipt:
    problems = Problems()
    wanted = problems.of(check.identifiers, ids, "ids")
    problems.of(check.flag, dry_run, "dry_run")
    since = last_read(problems, unless_changed_since)
    told = None if as_told is None else problems.of(check.name, as_told, "as_told")
    problems.settle()
    by_holder = core.holders(wanted)
    # Lock all banks before erasing, this one first, so that two callers cannot deadlock.
    holders = sorted(by_holder, key=lambda holder: holder is not core)
    with ExitStack() as stack:
        if dry_run:
            readers = {holder: stack.enter_context(holder.reading()) for holder in holders}
            planned = [_planned(reader, holder, by_holder[holder], since) for holder, reader in readers.items()]
            receipt = _summed(wanted, planned, told)
        else:
            writers = {holder: stack.enter_context(holder.writing()) for holder in holders}
            planned = [_planned(writer, holder, by_holder[holder], since) for holder, writer in writers.items()]
            receipt = _summed(wanted, planned, told)
            for (holder, writer), each in zip(writers.items(), planned, strict=True):
                holder.applied(writer, each.plan)
    for holder, each in zip(holders, planned, strict=True):
        left = holder.store.copies() if dry_run else finished(holder, each)
        receipt = replace(receipt, unreached=tuple(dict.fromkeys((*receipt.unreached, *left))))
    return receipt


def _planned(reader: Reader, holder: Core, ids: list[str], since: int | None) -> Erasure:
    holder.check_known(reader, ids, quarantined=True)
    for id in ids:
        holder.check_unchanged(reader, id, since)
    return erasure(reader, holder, ids)


def _summed(ids: tuple[str, ...], planned: list[Erasure], told: str | None) -> Receipt:
    """Return one receipt for all banks. Raise `ConflictError` if the digest differs from the announced one."""
    receipts = [each.receipt for each in planned]
    whole = receipts[0].digest if len(receipts) == 1 else digest(banks=[each.digest for each in receipts])
    check_told(told, whole, ids)
    return Receipt(
        ids=ids,
        also=tuple(id for receipt in receipts for id in receipt.also),
        erased={key: sum(receipt.erased[key] for receipt in receipts) for key in receipts[0].erased},
        unreached=tuple(line for receipt in receipts for line in receipt.unreached),
        digest=whole,
    )


class Erasure(NamedTuple):
    """A planned purge."""

    changeset: Changeset
    receipt: Receipt
    """The receipt before the purge: `unreached` names only notes."""

    def plan(self, writer: Writer) -> Changeset:
        """Return the changeset; only for the transaction that planned it."""
        return self.changeset


def erasure(reader: Reader, holder: Core, ids: list[str], facts: tuple[str, ...] = ()) -> Erasure:
    """Plan the erasure of these memories with everything derived from them, and of these facts."""
    holder.check_known(reader, ids, quarantined=True)
    stated = statements_among(reader, facts)
    every = list(lineage(reader, [*ids, *stated]))
    shown = reader.states(every, holder.opening(every, quarantined=True))
    going = _going(reader, [id for id in every if id not in stated], facts, holder)
    # Usage is left out of the digest: a use does not change the memory.
    going_as_told = {**going, "usage": (), "stands": standing_since(reader, every)}
    receipt = Receipt(
        ids=tuple(ids),
        also=tuple(id for id in every if id not in ids and id not in stated and id in shown),
        erased={what: len(each) for what, each in going.items()},
        unreached=tuple(notes_of(reader, every)),
        digest=digest(**going_as_told),
    )
    links = list(_of_left_places(reader, holder, every))
    records = [
        *bared(reader, every),
        *without_words_of(reader, every),
        *without_digests(reader, every),
        *noted(reader, dict.fromkeys(every, 0.0)),
        *without_reasons(reader, {*every, *going["facts"]}),
        *(Record(DECLINED_RULES, id, None) for id in reader.records(DECLINED_RULES) if id in every),
    ]
    gone = [id for id in facts if id not in stated]
    # A note that once stated the fact has the same id, and stays.
    left = reader.states(gone) if gone else {}
    told = (*every, *gone)
    changes = Changeset("purge", erase=every, erase_facts=gone, links=links, records=records, ids=told)
    changes.purged = [id for id in gone if id not in left]
    changes.cuts = cuts(reader, every)
    return Erasure(changes, receipt)


def finished(holder: Core, erasure: Erasure) -> list[str]:
    """Finish a written purge: erase the content from disk. Return the places that could not be reached."""
    if erasure.changeset.erase:
        holder.tell("nodes_deleted", node_ids=erasure.changeset.erase)
    left = holder.store.scrub()
    if left:
        try:
            with holder.writing() as writer:
                writer.enqueue([new_job(SCRUB, key=SCRUB, tries=SCRUB_TRIES)])
        except StorageError as problem:
            left.append(f"the job for another try: it could not be queued ({problem.message})")
    return [*left, *holder.store.copies()]


def digest(**going: Iterable[Any]) -> str:
    """Return a digest of everything to be erased."""
    told = json.dumps({what: sorted(each) for what, each in going.items()})
    return blake2b(told.encode(), digest_size=16).hexdigest()


def check_told(told: str | None, now: str, ids: Sequence[str]) -> None:
    """Raise `ConflictError` if what would be erased is not what was announced."""
    if told not in (None, now):
        hint = "Call with dry_run to see what would be erased now, then give its digest as as_told."
        raise ConflictError("the records to erase differ from those of the dry run", ids=tuple(ids), hint=hint)


def _of_left_places(reader: Reader, holder: Core, ids: list[str]) -> Iterator[LinkRow]:
    """Yield rows that untie places which hold nothing after the purge, not even removed memories.

    A later memory under the same name means another place.
    """
    everything = holder.everything()
    held = reader.states(ids, everything.having(ids=tuple(ids)))
    going = Counter(stored.state.place for stored in held.values())
    untied: dict[str, LinkRow] = {}
    for place, number in going.items():
        ties = [link for link in reader.links([End("place", place)]) if link.source.what == link.target.what]
        if ties and reader.count(everything.having(place=place))["total"] == number:
            untied.update((link.id, link_row(link)._replace(ended="removed")) for link in ties)
    yield from untied.values()


def _going(reader: Reader, ids: list[str], facts: tuple[str, ...], holder: Core) -> dict[str, Collection[Any]]:
    everything = holder.everything()
    drawn = [
        fact.id
        for id in ids
        for fact in reader.facts(FactQuery(memory=id, include_ended=True, every_version=True), everything)
    ]
    links = reader.links([End("memory", id) for id in ids], every_version=True)
    return {
        "memories": ids,
        "versions": set().union(*map(reader.version_rows, ids)),
        "links": {link.id for link in links},
        "facts": {*drawn, *facts},
        "usage": reader.usage(ids),
    }


def standing_since(reader: Reader, ids: list[str]) -> list[tuple[str, int]]:
    return [(id, held.known_from) for id, held in reader.states(ids).items()]


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

    there, change = core.carry_out(plan)
    core.tell("nodes_deleted", node_ids=[*there.ids, *there.also])
    return replace(there, dry_run=False, seq=None if change is None else change.seq)


def _erased_from(core: Core, where: Mapping[str, str], told: str | None) -> Forgotten:
    def plan(writer: Writer) -> tuple[Changeset, tuple[Forgotten, Erasure]]:
        there, erased = _erasure_from(core, writer, where)
        check_told(told, there.digest, there.ids)
        return erased.changeset, (there, erased)

    (there, erased), change = core.carry_out(plan)
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
