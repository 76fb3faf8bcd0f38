"""Plan the erasure of facts: every version, and all other copies of their words.

`delete.purge` plans the erasure of facts with their memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pieria.bank.core import Core
from pieria.bank.delete.purge import Erasure, check_told, digest, erasure, finished
from pieria.bank.facts.restatements import restatements
from pieria.bank.results.general import Receipt
from pieria.errors import NotFoundError
from pieria.facts.validity import as_written, was_seen
from pieria.record.changeset import Changeset
from pieria.record.fact import FactQuery
from pieria.record.filter import Viewer
from pieria.record.time import micros
from pieria.store.protocol import Reader, Writer


def purged(core: Core, ids: Sequence[str], told: str | None, *, dry_run: bool) -> Receipt:
    """Erase these facts, or with `dry_run` return what would go.

    Raise `ConflictError` if that differs from `told`.
    """
    if dry_run:
        with core.reading() as reader:
            planned = _erasure(reader, core, ids)
        check_told(told, planned.receipt.digest, ids)
        return _with(planned.receipt, core.store.copies())

    def plan(writer: Writer) -> tuple[Changeset, Erasure]:
        erasure = _erasure(writer, core, ids)
        check_told(told, erasure.receipt.digest, ids)
        return erasure.changeset, erasure

    erasure, _ = core.apply_with(plan)
    return _with(erasure.receipt, finished(core, erasure))


def _with(receipt: Receipt, unreached: Sequence[str]) -> Receipt:
    return Receipt(receipt.ids, receipt.also, receipt.erased, (*receipt.unreached, *unreached), receipt.digest)


def _erasure(reader: Reader, core: Core, ids: Sequence[str]) -> Erasure:
    filter = core.filter()
    query = FactQuery(ids=tuple(ids), include_ended=True, every_version=True)
    versions = reader.facts(query, as_written(filter))
    seen = {fact.id for fact in versions if was_seen(reader, fact, filter)}
    for id in ids:
        if id not in seen:
            raise _missing(reader, id)
    everything = as_written(filter.having(viewer=Viewer(everything=True)).anything())
    every = reader.facts(query, everything)
    stretches = [(fact.id, micros(fact.known_from)) for fact in every]
    planned = erasure(reader, core, [], tuple(ids))
    along = planned.receipt
    receipt = Receipt(
        ids=tuple(ids),
        also=along.also,
        erased={"facts": len(ids), "versions": len(every)} | ({"memories": len(along.also)} if along.also else {}),
        unreached=tuple(dict.fromkeys([*restatements(reader, versions, ids, filter), *along.unreached])),
        digest=digest(facts=ids, versions=stretches, along=along.digest),
    )
    return Erasure(replace(planned.changeset, what="facts purge"), receipt)


def _missing(reader: Reader, id: str) -> NotFoundError:
    if reader.purged([id]):
        return NotFoundError("fact", id, hint="The fact was purged: its content is erased for good.")
    return NotFoundError("fact", id, hint="`query` and `timeline` show the ids.")
