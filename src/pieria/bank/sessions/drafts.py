"""Read-only views of sessions: their status, and what a commit would write now.

Reading takes over no session, asks no model and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from pieria.bank.sessions.log import SECOND, readable
from pieria.bank.sessions.records import HELD, SESSIONS, TOUCHED, is_there
from pieria.graph.changeset import Changeset
from pieria.graph.nodes import Node
from pieria.learning.intent_merger import merging
from pieria.learning.repeated_knowledge import strengthen
from pieria.learning.tag_deduplicator import deduplicate
from pieria.models.minds.rules import RuleMind
from pieria.record import check
from pieria.record.draft import Problems
from pieria.record.time import moment
from pieria.sessions.state import SessionState
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.learning.steps import Step
    from pieria.sessions.log import UnfinishedSession

PAGE_LIMIT, FURTHEST = 1_000, 1 << 31


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """The status of a session. `waits` counts the trajectories to commit or discard.

    `is_open` says whether a process holds the session, judged by its lease.
    """

    id: str
    goal: str
    state: SessionState
    auto_commit: bool
    reason: str | None
    changed: datetime
    is_open: bool
    waits: int


@dataclass(frozen=True, slots=True)
class SessionStatuses(Sequence[SessionStatus]):
    """Some sessions, the last changed first. `by_state` counts all sessions."""

    sessions: tuple[SessionStatus, ...]
    by_state: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.sessions)

    def __getitem__(self, index: Any) -> Any:
        return self.sessions[index]


@dataclass(frozen=True, slots=True)
class SessionDraft:
    """What a commit would write now, with the session and its steps. What the bank has already is not written again.

    `held` maps ids to the existing nodes that would be linked or rewritten. `merges` lists the intents that would be
    merged: `id`, the texts `held` and `new`, and `similarity`. `is_same` means that the existing text stays. Otherwise
    a mind rewords both at the commit; here rules do.
    """

    kept: UnfinishedSession
    steps: tuple[Step, ...]
    changeset: Changeset
    held: Mapping[str, Node]
    merges: tuple[Mapping[str, Any], ...]


def statuses(bank: Bank, limit: int, offset: int, state: str | None) -> SessionStatuses:
    problems = Problems()
    problems.of(check.whole, limit, "limit", 1, PAGE_LIMIT)
    problems.of(check.whole, offset, "offset", 0, FURTHEST)
    if state is not None:
        problems.of(check.one_of, state, "state", tuple(SessionState))
    problems.settle()
    with bank.core.reading() as reader:
        kept = reader.records(SESSIONS)
        by_state = Counter(value["state"] for value in kept.values())
        asked = [(id, value) for id, value in kept.items() if state in (None, value["state"])]
        asked.sort(key=lambda pair: (-pair[1][TOUCHED], pair[0]))
        shown = asked[offset : offset + limit]
        held = reader.records(HELD)
        found = [_status(bank, reader, id, value, held.get(id)) for id, value in shown]
    return SessionStatuses(tuple(found), {each.value: by_state[each.value] for each in SessionState})


def status(bank: Bank, id: str) -> SessionStatus | None:
    asked = check.identifier(id, "id")
    with bank.core.reading() as reader:
        value = reader.records(SESSIONS, keys=[asked]).get(asked)
        holder = reader.records(HELD, keys=[asked]).get(asked)
        return None if value is None else _status(bank, reader, asked, value, holder)


def _status(bank: Bank, reader: Reader, id: str, value: Mapping[str, Any], holder: str | None) -> SessionStatus:
    lease = int(bank.core.session_lease * SECOND)

    def read() -> SessionStatus:
        return SessionStatus(
            id=id,
            goal=value["goal"],
            state=SessionState(value["state"]),
            auto_commit=value["auto_commit"],
            reason=value["reason"],
            changed=moment(value[TOUCHED]),
            is_open=is_there(reader, holder, bank.core.now(), lease),
            # Older banks keep all pending drafts in one record.
            waits=value["waiting"] if isinstance(value["waiting"], int) else int(value["waiting"] is not None),
        )

    return readable(id, read)


def draft(bank: Bank, id: str) -> SessionDraft | None:
    found = bank.sessions.load(id)
    if found is None:
        return None
    graph, (kept, steps) = bank.graph, found
    whole = reduce(Changeset.merge, kept.waiting, Changeset())
    once = deduplicate(whole, backend=graph)
    own = bank.core.embedding.embedder
    # A preview neither waits nor pays for a remote model.
    embedder = own if own is not None and own.is_at_hand else None
    merged, merges = merging(once, graph, RuleMind(), embedder, bank.core.config)
    fitted = strengthen(merged, graph)
    ends = {end for one, other, _ in fitted.ties() for end in (one, other)} | fitted.nodes().keys()
    held = {node.id: node for node in graph.everything._held(sorted(ends))}
    told = tuple({**merge, "is_same": merge["merged"] == merge["held"]} for merge in merges)
    return SessionDraft(kept, tuple(steps), fitted, held, told)
