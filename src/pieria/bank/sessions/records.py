"""Where a bank keeps its sessions: collections, keys, and functions for code outside their log.

- collection `sessions`, key SESSION: the session, the time of its last write, the number of its pending parts, and
  what a mind answered in failed extractions;
- collection `sessions.waiting`, key `SESSION/NUMBER`: a part of its knowledge that waits for commit or discard;
- collection `sessions.steps`, key `SESSION/NUMBER`: a step that is uncommitted or still needed by the episode. A
  committed step has the ids of its nodes, so that its words are purged with them;
- collection `sessions.held`, key SESSION: the token of the log that holds it;
- collection `sessions.holders`, key TOKEN: the time of that log's last renewal;
- collection `receipts`, key SOURCE_ID: the digest of an ingested experience and the ids of its nodes, no content. Once
  all its nodes are purged the digest is deleted too, so that it cannot confirm a guessed text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pieria.bank.results.general import IngestReceipt
from pieria.record.changeset import PASSING, Record
from pieria.store.protocol import Reader

SESSIONS, STEPS, WAITING = "sessions", "sessions.steps", "sessions.waiting"
HELD, HOLDERS = PASSING
NODES, PURGED, STATELESS, TOUCHED = "nodes", "purged", "stateless", "touched"
"""Further keys in the records of steps and sessions."""
_BLANK = {"observation": "", "action": "", "subgoal": "", "state": None, "embedding": None, PURGED: True}
RECEIPTS = "receipts"


class Census(NamedTuple):
    """The number of sessions by state, and the number of unfinished episodes that no process holds."""

    by_state: Mapping[str, int]
    left: int


def counted(reader: Reader, now: int, lease: int) -> Census:
    sessions, held = reader.records(SESSIONS), reader.records(HELD)
    there = {token for token in set(held.values()) if is_there(reader, token, now, lease)}
    left = sum(value["episode"] is not None and held.get(id) not in there for id, value in sessions.items())
    return Census(dict(sorted(Counter(value["state"] for value in sessions.values()).items())), left)


def is_there(reader: Reader, holder: str | None, now: int, lease: int) -> bool:
    """Return whether a holder has renewed its lease in time, in microseconds.

    A clock set back invalidates old times.
    """
    at = None if holder is None else reader.records(HOLDERS, holder).get(holder)
    return at is not None and abs(now - at) < lease


def without_words(step: Mapping[str, Any]) -> dict[str, Any]:
    return {**step, **_BLANK}


def without_state(step: Mapping[str, Any]) -> dict[str, Any]:
    return {**step, "state": None, STATELESS: True}


def without_words_of(reader: Reader, ids: Collection[str]) -> Iterator[Record]:
    """Yield steps whose nodes are purged, without their words, later steps without their state, and sessions without
    their answers.

    The states and answers may repeat the purged words.
    """
    gone = set(ids)
    after: set[str] = set()
    for key, step in sorted(reader.records(STEPS).items()):
        session = key.rpartition("/")[0]
        if not gone.isdisjoint(step.get(NODES, ())):
            after.add(session)
            yield Record(STEPS, key, without_words(step))
        elif session in after:
            yield Record(STEPS, key, without_state(step))
    for session, value in reader.records(SESSIONS, keys=sorted(after)).items():
        yield Record(SESSIONS, session, {**value, "answers": {}})


def kept_receipt(digest: str, receipt: IngestReceipt) -> Record:
    written = {name: value for name, value in receipt.as_dict().items() if name != "purged"}
    return Record(RECEIPTS, receipt.source_id, {"digest": digest, **written})


def receipt_of(reader: Reader, source_id: str) -> tuple[str | None, IngestReceipt] | None:
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
