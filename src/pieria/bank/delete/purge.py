"""Purge: plans an erasure, and finishes it.

`bank.read.lineage` decides which other memories go along, because they hold the same words. The store erases the rows
and scrubs its files.
"""

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
from pieria.bank.facts.drawn_facts import DrawnFact, check_unchanged, find_drawn, seen_versions
from pieria.bank.facts.statements import statements_among
from pieria.bank.graph.grounding import noted
from pieria.bank.read.lineage import cuts, lineage
from pieria.bank.results.general import Receipt
from pieria.bank.sessions.records import without_digests, without_words_of
from pieria.bank.vault.marks import bared, notes_of
from pieria.bank.write.said_again import without_days
from pieria.errors import ConflictError, StorageError
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Write
from pieria.record.draft import Instant, Problems
from pieria.record.fact import FactQuery
from pieria.record.job import new_job
from pieria.record.link import DRAWN_FROM, End, LinkRow
from pieria.record.link import row_of as link_row
from pieria.record.time import micros
from pieria.record.trust import DECLINED_RULES
from pieria.store.protocol import Reader, Writer

SCRUB, SCRUB_TRIES = "scrub", 20
"""The job that finishes a purge, and its number of tries, which span some hours."""


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
                holder.write_changes(writer, each.plan)
    for holder, each in zip(holders, planned, strict=True):
        left = holder.store.copies() if dry_run else finished(holder, each)
        receipt = replace(receipt, unreached=tuple(dict.fromkeys((*receipt.unreached, *left))))
    return receipt


def _planned(reader: Reader, holder: Core, ids: list[str], since: int | None) -> Erasure:
    filter = holder.filter().having(quarantined=True)
    held = reader.states(ids)
    drawn = {id: fact for id in ids if id not in held and (fact := find_drawn(reader, id, filter)) is not None}
    memories = [id for id in ids if id not in drawn]
    holder.check_known(reader, memories, quarantined=True)
    for id in memories:
        holder.check_unchanged(reader, id, since)
    for fact in drawn.values():
        check_unchanged(holder, fact, since)
    planned = erasure(reader, holder, memories, tuple(drawn))
    stated = statements_among(reader, memories)
    return planned if not (drawn or stated) else _with_facts(reader, holder, planned, drawn, stated)


def _with_facts(
    reader: Reader, holder: Core, planned: Erasure, drawn: Mapping[str, DrawnFact], stated: Sequence[str]
) -> Erasure:
    """Return the plan with a receipt that counts the versions of facts and names what else states them."""
    from pieria.bank.facts.restatements import restatements

    receipt, filter = planned.receipt, holder.filter()
    versions = [version for fact in drawn.values() for version in fact.versions]
    said = [*versions, *(version for id in stated for version in seen_versions(reader, id, filter))]
    going = {*planned.changeset.erase, *drawn}
    known = [(fact.id, micros(fact.known_from)) for fact in versions]
    told = replace(
        receipt,
        erased={**receipt.erased, "versions": receipt.erased["versions"] + len(versions)},
        unreached=tuple(dict.fromkeys((*restatements(reader, said, going, filter), *receipt.unreached))),
        digest=digest(along=[receipt.digest], versions=known) if drawn else receipt.digest,
    )
    return planned._replace(receipt=told)


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
        *without_days(reader, every),
        *(Record(DECLINED_RULES, id, None) for id in reader.records(DECLINED_RULES) if id in every),
    ]
    gone = [id for id in facts if id not in stated]
    # A note that once stated the fact has the same id, and stays.
    left = reader.states(gone) if gone else {}
    told = (*every, *gone)
    changes = Changeset(
        "purge",
        writes=list(_due_again(reader, every)),
        erase=every,
        erase_facts=gone,
        links=links,
        records=records,
        ids=told,
    )
    changes.purged = [id for id in gone if id not in left]
    changes.cuts = cuts(reader, every)
    return Erasure(changes, receipt)


def _due_again(reader: Reader, ids: Sequence[str]) -> Iterator[Write]:
    """Yield the other sources of the summaries among these ids: a sleep sums them up again."""
    gone = set(ids)
    summaries = [id for id, held in reader.states(gone).items() if held.state.kind == "summary"]
    links = reader.links([End("memory", id) for id in summaries], DRAWN_FROM) if summaries else []
    for held in reader.states({link.target.name for link in links} - gone).values():
        if held.state.tier == "kept" and not held.state.ended:
            yield Write(held.state._replace(tier="working"))


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
