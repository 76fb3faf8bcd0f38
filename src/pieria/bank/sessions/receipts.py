"""Receipts of ingested experiences: the source id, a digest, and the ids of the nodes made from each.

Collection `receipts`, key SOURCE_ID. A receipt holds no content. Once all its nodes are purged the digest is deleted
too, so that it cannot confirm a guessed text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from pieria.bank.results.general import IngestReceipt
from pieria.record.changeset import Record
from pieria.store.protocol import Reader

RECEIPTS = "receipts"


def kept(digest: str, receipt: IngestReceipt) -> Record:
    written = {name: value for name, value in receipt.as_dict().items() if name != "purged"}
    return Record(RECEIPTS, receipt.source_id, {"digest": digest, **written})


def found(reader: Reader, source_id: str) -> tuple[str | None, IngestReceipt] | None:
    """Return the digest and receipt of the experience under this name, or None."""
    held = reader.records(RECEIPTS, keys=[source_id]).get(source_id)
    if held is None:
        return None
    gone = reader.purged(held["node_ids"])
    there = tuple(id for id in held["node_ids"] if id not in gone)
    erased = tuple(id for id in held["node_ids"] if id in gone)
    stored = datetime.fromisoformat(held["stored_at"])
    return held["digest"], IngestReceipt(source_id, there, stored, erased, is_new=False)


def without_digests(reader: Reader, ids: Collection[str]) -> Iterator[Record]:
    """Yield receipts without digest, for experiences whose last nodes are being purged."""
    sources = {held.state.source for held in reader.states(list(ids)).values()} - {None}
    for source_id, held in reader.records(RECEIPTS, keys=sorted(map(str, sources))).items():
        left = set(held["node_ids"]).difference(ids)
        if left == reader.purged(sorted(left)):
            yield Record(RECEIPTS, source_id, {**held, "digest": None})
