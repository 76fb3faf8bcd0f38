"""The tool `history`: the latest sessions, one session in full, or the observations around an anchor."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from pieria.bank import Bank
from pieria.bank.results.general import SessionSeen
from pieria.errors import InputError, NotFoundError
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.envelope import Answer, answer
from pieria.toolsets.open_mem.lineage import standing
from pieria.toolsets.open_mem.words import (
    OBSERVED,
    SESSION,
    SUMMARY,
    USER,
    own_scope,
    row_of,
    scope_of,
    texts_of,
    title_of,
    tokens_of,
)

SHOWN, PAGE = 10, 100
"""Observations shown for each listed session, and in a page of one session."""
LOOKED_AT = 1_000
"""How many memories to search for those without a session."""
MOMENT = timedelta(microseconds=1)
DECISIONS = 5


def history(
    call: Call,
    limit: int,
    depthBefore: int,
    depthAfter: int,
    cursor: str | None = None,
    sessionId: str | None = None,
    anchor: str | None = None,
) -> Answer:
    if anchor is not None:
        if cursor is not None:
            raise InputError("cursor", "none beside an anchor", cursor, hint="depthBefore and depthAfter say how far.")
        return _around(call, anchor, depthBefore, depthAfter, sessionId)
    if sessionId is not None:
        return _session(call, sessionId, cursor)
    return _recent(call, limit, cursor)


def _recent(call: Call, limit: int, cursor: str | None) -> Answer:
    bank = call.bank
    page = bank.sessions.list(limit=limit, cursor=cursor, kinds=OBSERVED)
    items = []
    for seen in page:
        newest = _newest(call, bank, seen)
        items.append({**_item(call, bank, seen, newest), "more": max(0, seen.memories - len(newest))})
    return answer(call, bank, {"items": items, "nextCursor": page.cursor})


def _newest(call: Call, bank: Bank, seen: SessionSeen) -> list[Memory]:
    if seen.id is None:
        # `until` bounds the search: no observation without a session is later than `seen.last`.
        latest = bank.list(kinds=OBSERVED, until=seen.last + MOMENT, limit=LOOKED_AT)
        return [memory for memory in latest if memory.session is None][:SHOWN][::-1]
    asked = bank.list(kinds=OBSERVED, session=seen.id, scope=_audience(call, bank, seen.id), limit=SHOWN)
    return list(asked)[::-1]


def _session(call: Call, session: str, cursor: str | None) -> Answer:
    bank = call.bank
    scope = _audience(call, bank, session)
    [*found] = bank.sessions.list(session=session, kinds=OBSERVED, scope=scope)
    if not found:
        raise NotFoundError("session", session, hint="mem-history without sessionId lists the sessions.")
    page = bank.list(order="oldest", kinds=OBSERVED, session=session, scope=scope, limit=PAGE, cursor=cursor)
    return answer(call, bank, {"items": [_item(call, bank, found[0], page)], "nextCursor": page.cursor})


def _around(call: Call, anchor: str, before: int, after: int, session: str | None) -> Answer:
    bank = call.bank
    scope = None if session is None else _audience(call, bank, session)
    head = standing(bank, anchor).head
    found = bank.around(head.id, before=before, after=after, kinds=OBSERVED, session=session, scope=scope)
    memory = found.memory
    if session is not None and memory.session != session:
        raise InputError("anchor", "an observation of that session", anchor, hint="Leave sessionId out.")
    spans = [] if memory.session is None else bank.sessions.list(
        session=memory.session, kinds=OBSERVED, scope=_scope_around(call, bank, memory)
    )  # fmt: skip
    seen = spans[0] if spans else SessionSeen(memory.session, memory.at, memory.at, 1, active=False)
    item = _item(call, bank, seen, ())
    # The neighbors may belong to several sessions.
    rows = [*found.before, memory, *found.after]
    item["observations"] = [{**row_of(each), "sessionId": each.session or ""} for each in rows]
    resolved = {anchor: memory.id} if memory.id != anchor else None
    return answer(call, bank, {"items": [item], "nextCursor": None}, resolved=resolved, anchor=memory.id)


def _scope_around(call: Call, bank: Bank, memory: Memory) -> str | None:
    if scope_of(memory) == USER:
        return "user"
    return None if memory.session is None else _audience(call, bank, memory.session)


def _audience(call: Call, bank: Bank, session: str) -> str | None:
    """Return the scope to read. Of another session, only shared memories: naming a session gives no access to it."""
    return None if session == call.host.session else own_scope(bank)


def _item(call: Call, bank: Bank, seen: SessionSeen, observations: Iterable[Memory]) -> dict[str, Any]:
    held = None if seen.id is None else _summary_of(bank, seen.id)
    project = call.host.paths.project
    session = {
        "id": seen.id,
        "projectPath": None if project is None else str(project),
        "startedAt": iso(seen.first),
        "endedAt": None if seen.active else iso(seen.last),
        "status": "active" if seen.active else "completed",
        "observationCount": seen.memories,
        "summaryId": None if held is None else held.id,
    }
    summary = None if held is None else _summary(bank, held)
    return {"session": session, "summary": summary, "observations": [row_of(memory) for memory in observations]}


def _summary_of(bank: Bank, session: str) -> Memory | None:
    return next(iter(bank.list(kinds=SUMMARY, types=SESSION, session=session, scope=own_scope(bank), limit=1)), None)


def _summary(bank: Bank, memory: Memory) -> dict[str, Any]:
    """Return the summary. `stale` means that the session changed since the summary was written."""
    decisions = texts_of(memory.body.get("key_decisions"))
    if not decisions:
        made = bank.list(types="decision", session=memory.session, scope=own_scope(bank), limit=DECISIONS)
        decisions = [title_of(decision) for decision in made]
    return {
        "id": memory.id,
        "sessionId": memory.session or "",
        "summary": memory.text,
        "keyDecisions": decisions,
        "filesModified": list(memory.files),
        "concepts": list(memory.tags),
        "createdAt": iso(memory.at),
        "tokenCount": tokens_of(memory),
        "stale": not bank.upkeep.is_summed_up(memory.session or ""),
    }
