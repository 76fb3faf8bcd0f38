"""Removing, bringing back, and erasing for good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from pieria.bank.core import Core, last_read
from pieria.bank.grounding import noted
from pieria.bank.judged_after import cuts
from pieria.bank.receipts import without_digests
from pieria.bank.replies import Receipt
from pieria.bank.session_records import without_words_of
from pieria.bank.tracing import REVISES, reached
from pieria.bank.vault_marks import bared, notes_of
from pieria.errors import ConflictError
from pieria.record import check
from pieria.record.changeset import Changeset, Write
from pieria.record.draft import Instant, Problems
from pieria.record.fact import FactQuery
from pieria.record.filter import Viewer
from pieria.record.link import DRAWN_FROM, End, Link, LinkRow, row_of
from pieria.record.memory import Memory
from pieria.store.protocol import Reader, Writer

NAMING = ("membership", "hierarchical")
"""How tags, intents and subgoals are tied to what they are of."""


class Removing(Core):
    def remove(self, id: str, *, reason: str | None = None, unless_changed_since: Instant | None = None) -> Memory:
        """Takes it out of every answer from now on. Its versions and its past stay; `restore` brings it back."""
        problems = Problems()
        problems.of(check.identifier, id, "id")
        kept_reason = problems.of(self._reason, reason)
        since = last_read(problems, unless_changed_since)
        problems.settle()
        holder = self._holder(id)

        def plan(writer: Writer) -> Changeset:
            held = holder._standing(writer, id)
            holder._check_unchanged(writer, id, since)
            return Changeset("remove", writes=[Write(held.state._replace(ended="removed", reason=kept_reason))])

        removed = holder._changed(id, plan)
        holder._tell("nodes_deleted", node_ids=[id])
        return removed

    def restore(self, id: str) -> Memory:
        """Brings back what `remove` took away, as it stood. What was drawn from others needs those to stand on."""
        holder = self._holder(check.identifier(id, "id"))

        def plan(writer: Writer) -> Changeset:
            held = writer.states([id], holder._filter().having(ids=(id,)).anything()).get(id)
            if held is None:
                holder._standing(writer, id)
            elif held.state.ended != "removed":
                raise ConflictError("it was not removed", ids=(id,), hint="There is nothing to bring back.")
            assert held is not None
            return Changeset("restore", writes=[Write(held.state._replace(ended="", reason=None))])

        with holder._writing() as writer:
            holder._applied(writer, plan)
            restored = holder._at_hand(writer, id)
            if restored.removed:
                hint = "Unlink it from that memory first, or give the two something in common."
                raise ConflictError(restored.standing.reason or "it cannot stand", ids=(id,), hint=hint)
            return restored

    def purge(
        self, ids: str | Iterable[str], *, dry_run: bool = False, unless_changed_since: Instant | None = None
    ) -> Receipt:
        """Erases memories everywhere: every version and revision, index, links, usage, and what was drawn from them.

        Sources and subgoals of steps go with them, and tags and intents that nothing else has. Only the ids are
        remembered, so that nothing brings them back unasked. There is no way back. What another session drew from them
        goes as well, and is counted but not named. With `dry_run` it is only told.
        """
        problems = Problems()
        wanted = problems.of(check.identifiers, ids, "ids")
        problems.of(check.flag, dry_run, "dry_run")
        since = last_read(problems, unless_changed_since)
        problems.settle()
        by_holder = self._holders(wanted)
        for holder, theirs in by_holder.items():
            with holder._reading() as reader:
                holder._check_known(reader, theirs)
                _check_unchanged(reader, holder, theirs, since)
        erase = _would_purge if dry_run else _purged
        receipts = [erase(holder, theirs, since) for holder, theirs in by_holder.items()]
        return Receipt(
            ids=wanted,
            also=tuple(id for receipt in receipts for id in receipt.also),
            erased={key: sum(receipt.erased[key] for receipt in receipts) for key in receipts[0].erased},
            unreached=tuple(dict.fromkeys(line for receipt in receipts for line in receipt.unreached)),
        )


def _check_unchanged(reader: Reader, holder: Core, ids: list[str], since: int | None) -> None:
    for id in ids:
        holder._check_unchanged(reader, id, since)


def _would_purge(holder: Removing, ids: list[str], since: int | None) -> Receipt:
    with holder._reading() as reader:
        _check_unchanged(reader, holder, ids, since)
        receipt = erasure(reader, holder, ids).receipt
    return replace(receipt, unreached=(*receipt.unreached, *holder.store.copies()))


def _purged(holder: Removing, ids: list[str], since: int | None) -> Receipt:
    planned: list[Erasure] = []

    def plan(writer: Writer) -> Changeset:
        _check_unchanged(writer, holder, ids, since)
        planned.append(erasure(writer, holder, ids))
        return planned[0].changeset

    holder._apply(plan)
    return finished(holder, planned[0])


class Erasure(NamedTuple):
    """A purge that is planned."""

    changeset: Changeset
    receipt: Receipt
    """As far as it is known before: of what cannot be reached only the notes."""


def erasure(reader: Reader, holder: Core, ids: list[str], facts: tuple[str, ...] = ()) -> Erasure:
    """Of these memories with all that goes along, and of these facts."""
    holder._check_known(reader, ids)
    every = erased_with(reader, ids)
    shown = reader.states(every, holder._filter().having(ids=tuple(every)).anything())
    receipt = Receipt(
        ids=tuple(ids),
        also=tuple(id for id in every if id not in ids and id in shown),
        erased=_counted(reader, every, facts, holder),
        unreached=tuple(notes_of(reader, every)),
    )
    links = list(_of_left_places(reader, holder, every))
    records = [
        *bared(reader, every),
        *without_words_of(reader, every),
        *without_digests(reader, every),
        *noted(reader, dict.fromkeys(every, 0.0)),
    ]
    told = (*every, *facts)
    changes = Changeset("purge", erase=every, erase_facts=list(facts), links=links, records=records, ids=told)
    changes.cuts = cuts(reader, every)
    return Erasure(changes, receipt)


def finished(holder: Core, erasure: Erasure) -> Receipt:
    """Once it is written: what it held on the disk goes as well."""
    holder._tell("nodes_deleted", node_ids=erasure.changeset.erase)
    receipt = erasure.receipt
    return replace(receipt, unreached=(*receipt.unreached, *holder.store.scrub(), *holder.store.copies()))


def erased_with(reader: Reader, ids: list[str]) -> list[str]:
    """These, and whatever a purge of them takes along."""
    drawn = reached(reader, ids, _holds_its_words)
    return [*drawn, *_named_after(reader, drawn), *_taken_down_for(reader, drawn)]


def _of_left_places(reader: Reader, holder: Core, ids: list[str]) -> Iterator[LinkRow]:
    """Unties other places from those that hold nothing any more, not even what was removed.

    Whoever keeps something under such a name one day means another place.
    """
    everything = holder._filter().having(viewer=Viewer(everything=True)).anything()
    held = reader.states(ids, everything.having(ids=tuple(ids)))
    going = Counter(stored.state.place for stored in held.values())
    untied: dict[str, LinkRow] = {}
    for place, number in going.items():
        ties = [link for link in reader.links([End("place", place)]) if link.source.what == link.target.what]
        if ties and reader.count(everything.having(place=place))["total"] == number:
            untied.update((link.id, row_of(link)._replace(ended="removed")) for link in ties)
    yield from untied.values()


def _holds_its_words(link: Link, id: str) -> bool:
    """Revisions in both directions, and what was drawn from the memory."""
    return link.relation == REVISES or (link.relation == DRAWN_FROM and link.target.name == id)


def _named_after(reader: Reader, ids: list[str]) -> list[str]:
    """What a step was for, in its words, and tags and intents under which nothing is left."""
    gone = set(ids)
    others = [id for id in _tied(reader, ids) if id not in gone]
    kinds = {id: each.state.kind for id, each in reader.states(others).items()}
    return [
        id
        for id in others
        if kinds.get(id) == "subgoal" or (kinds.get(id) in ("tag", "intent") and gone.issuperset(_tied(reader, [id])))
    ]


def _taken_down_for(reader: Reader, ids: list[str]) -> list[str]:
    """What steps were taken down as, in their very words, unless something else rests on it."""
    gone = set(ids)
    links = reader.links([End("memory", id) for id in ids], DRAWN_FROM)
    under = {link.target.name for link in links if link.source.name in gone} - gone
    taken_down = [id for id, each in reader.states(sorted(under)).items() if each.state.kind == "source"]
    resting = reader.links([End("memory", id) for id in taken_down], DRAWN_FROM)
    kept = {link.target.name for link in resting if link.source.name not in gone}
    return [id for id in taken_down if id not in kept]


def _tied(reader: Reader, ids: list[str]) -> list[str]:
    """What stands under another's name, or lends its own, to any of these."""
    links = reader.links([End("memory", id) for id in ids])
    ends = [end.name for link in links if link.relation in NAMING for end in (link.source, link.target)]
    return [id for id in dict.fromkeys(ends) if id not in ids]


def _counted(reader: Reader, ids: list[str], facts: tuple[str, ...], holder: Core) -> dict[str, int]:
    histories = [reader.history(id) for id in ids]
    everything = holder._filter().having(viewer=Viewer(everything=True)).anything()
    drawn = [
        fact.id
        for id in ids
        for fact in reader.facts(FactQuery(memory=id, include_ended=True, every_version=True), everything)
    ]
    links = reader.links([End("memory", id) for id in ids], every_version=True)
    return {
        "memories": len(ids),
        "versions": len({memory.row for history in histories for memory in history}),
        "links": len({link.id for link in links}),
        "facts": len({*drawn, *facts}),
        "usage": len(reader.usage(ids)),
    }
