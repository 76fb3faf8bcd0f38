"""Where a bank keeps its sessions, and what concerns others of it than their log.

- collection `sessions`, key SESSION: the session as it stands, when that was written, and how many parts of knowledge
  wait in it;
- collection `sessions.waiting`, key `SESSION/NUMBER`: a part of the knowledge that waits to be committed or discarded;
- collection `sessions.steps`, key `SESSION/NUMBER`: a step that is not committed, or that the episode still needs; of a
  committed one also the ids of its nodes, so that its words go when those are purged;
- collection `sessions.held`, key SESSION: the token of the log that has it open;
- collection `sessions.holders`, key TOKEN: when that log last said that it is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from pieria.record.changeset import PASSING, Record
from pieria.store.protocol import Reader

SESSIONS, STEPS, WAITING = "sessions", "sessions.steps", "sessions.waiting"
HELD, HOLDERS = PASSING
NODES, PURGED, STATELESS, TOUCHED = "nodes", "purged", "stateless", "touched"
"""What stands beside the fields of a step, and of a session."""
_BLANK = {"observation": "", "action": "", "subgoal": "", "state": None, "embedding": None, PURGED: True}


class Census(NamedTuple):
    """How many sessions there are in each state, and how many have an episode that nobody has open."""

    by_state: Mapping[str, int]
    left: int


def counted(reader: Reader, now: int, lease: int) -> Census:
    sessions, held = reader.records(SESSIONS), reader.records(HELD)
    there = {token for token in set(held.values()) if is_there(reader, token, now, lease)}
    left = sum(value["episode"] is not None and held.get(id) not in there for id, value in sessions.items())
    return Census(dict(sorted(Counter(value["state"] for value in sessions.values()).items())), left)


def is_there(reader: Reader, holder: str | None, now: int, lease: int) -> bool:
    """Whether a holder said within its lease that it is there. A clock that was set back tells nothing of how long ago
    that was. All in microseconds.
    """
    at = None if holder is None else reader.records(HOLDERS, holder).get(holder)
    return at is not None and abs(now - at) < lease


def without_words(step: Mapping[str, Any]) -> dict[str, Any]:
    return {**step, **_BLANK}


def without_state(step: Mapping[str, Any]) -> dict[str, Any]:
    return {**step, "state": None, STATELESS: True}


def without_words_of(reader: Reader, ids: Collection[str]) -> Iterator[Record]:
    """What is left of the steps whose nodes are erased: that there was one. Of those after them, all but the state,
    which may be told in the words of the erased.
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
