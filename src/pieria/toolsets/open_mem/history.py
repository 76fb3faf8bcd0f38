"""The tool `history`, and the lineage of an observation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from pieria.bank import Bank
from pieria.bank.results.general import SessionSeen
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.words import (
    NOTED,
    OBSERVED,
    SESSION,
    SUMMARY,
    USER,
    Answer,
    answer,
    asked_types,
    importance_of,
    own_scope,
    row_of,
    scope_of,
    stamp,
    texts_of,
    title_of,
    tokens_of,
    told,
    type_of,
)

FIELDS = ("title", "narrative", "type", "concepts", "files", "importance")
LOOKED_AT = 1_000
"""How many memories to search for those without a session."""
MOMENT = timedelta(microseconds=1)
DECISIONS = 5


@dataclass(frozen=True, slots=True)
class Revision:
    """One content of an observation, with its first and its last state."""

    first: Memory
    last: Memory

    @property
    def key(self) -> tuple[str, int]:
        return self.first.id, self.first.version


class Lineage:
    """All revisions of an observation, oldest first. With `known_at`, those known at that time.

    An update by another toolset counts as a revision: it keeps the id and raises the version.
    """

    def __init__(self, bank: Bank, id: str, known_at: datetime | None = None) -> None:
        known = [one for one in bank.history(id, revisions=True) if known_at is None or one.known_from <= known_at]
        stretches = sorted(known, key=lambda one: (one.id, one.version, one.known_from))
        held = [list(group) for _, group in groupby(stretches, key=lambda one: (one.id, one.version))]
        self.revisions = sorted((Revision(each[0], each[-1]) for each in held), key=lambda one: one.first.known_from)
        self._versions: dict[str, list[Revision]] = {}
        for one in self.revisions:
            self._versions.setdefault(one.first.id, []).append(one)
        self._newest = {id: versions[-1] for id, versions in self._versions.items()}
        self._place = {one.key: place for versions in self._versions.values() for place, one in enumerate(versions)}
        self._before: dict[str, str] = {}
        for id, one in self._newest.items():
            if one.last.ended == "revised" and one.last.superseded_by is not None:
                self._before.setdefault(one.last.superseded_by, id)

    @property
    def head(self) -> Memory:
        """The revision that no other superseded."""
        standing = [one.last for one in self._newest.values() if one.last.ended != "revised"]
        return standing[-1] if standing else self.revisions[-1].last

    @property
    def ids(self) -> set[str]:
        return set(self._newest)

    def before(self, id: str) -> str | None:
        """Return the id that this one superseded, if any."""
        return self._before.get(id)

    def before_version(self, memory: Memory) -> str | None:
        """Return what this version superseded. A fact keeps its id, so that may be an earlier version of it."""
        return next(self.revision_of(one) for one in self.revisions if one.key == (memory.id, memory.version))

    def nodes(self) -> list[dict[str, Any]]:
        """Return the revisions for a reply. A removed observation shows its states and reasons but no text."""
        gone = self.head.removed
        shown = []
        earlier: dict[str, Any] | None = None
        for one in self.revisions:
            fields = _fields(one.last)
            changed = [name for name in FIELDS if earlier is not None and earlier[name] != fields[name]]
            shown.append(
                {**self._node(one), "changedFields": changed, **({} if gone else {"observation": self.told(one)})}
            )
            earlier = fields
        return shown

    def told(self, one: Revision) -> dict[str, Any]:
        return told(one.last, self.revision_of(one)) | self._standing(one)

    def revision_of(self, one: Revision) -> str | None:
        id, place = one.first.id, self._place[one.key]
        return self._name(self._versions[id][place - 1]) if place else self.before(id)

    def _node(self, one: Revision) -> dict[str, Any]:
        standing = self._standing(one)
        state = "superseded" if standing["supersededAt"] else "tombstoned" if standing["deletedAt"] else "current"
        reason = one.last.reason if standing["deletedAt"] else one.first.reason
        return {
            **standing,
            "revisionOf": self.revision_of(one),
            "state": state,
            "createdAt": iso(one.first.at),
            "reason": reason,
        }

    def _standing(self, one: Revision) -> dict[str, Any]:
        """Return the revision's id, its successor and the time of that. Earlier versions are spelt `id@version`."""
        last = one.last
        if one is not self._newest[last.id]:
            later = self._versions[last.id][self._place[one.key] + 1]
            return _told_standing(self._name(one), self._name(later), stamp(later.first.known_from), None)
        if last.ended == "revised":
            return _told_standing(last.id, last.superseded_by, iso(last.known_from), None)
        removed = iso(last.known_from) if last.removed else None
        leads_to = last.superseded_by if last.valid_until is not None else None
        return _told_standing(last.id, leads_to, stamp(last.valid_until) if leads_to else None, removed)

    def _name(self, one: Revision) -> str:
        return one.first.id if one is self._newest[one.first.id] else one.first.reference


def _told_standing(id: str, by: str | None, at: str | None, deleted: str | None) -> dict[str, Any]:
    return {"id": id, "supersededBy": by, "supersededAt": at, "deletedAt": deleted}


def _fields(memory: Memory) -> dict[str, Any]:
    return {
        "title": memory.title,
        "narrative": memory.text,
        "type": type_of(memory),
        "concepts": memory.tags,
        "files": memory.files,
        "importance": importance_of(memory),
        "scope": scope_of(memory),
    }


def standing(bank: Bank, reference: str) -> Lineage:
    """Return the lineage of a revision id or `id@version`. Raise `NotFoundError` or, if it was removed,
    `ConflictError`.
    """
    memory = bank.get(reference, include_removed=True)
    lineage = Lineage(bank, reference if memory is None else memory.id)
    if lineage.head.removed:
        raise ConflictError("it was removed", ids=(lineage.head.id,), hint="Create it again if you need it.")
    return lineage


SHOWN, PAGE = 10, 100
"""Observations shown for each listed session, and in a page of one session."""


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
    page = bank.sessions.list(limit=limit, cursor=cursor, kinds=NOTED)
    items = []
    for seen in page:
        newest = _newest(call, bank, seen)
        items.append({**_item(call, bank, seen, newest), "more": max(0, seen.memories - len(newest))})
    return answer(call, bank, {"items": items, "nextCursor": page.cursor})


def _newest(call: Call, bank: Bank, seen: SessionSeen) -> list[Memory]:
    if seen.id is None:
        # `until` bounds the search: no observation without a session is later than `seen.last`.
        latest = bank.list(kinds=NOTED, until=seen.last + MOMENT, limit=LOOKED_AT)
        return [memory for memory in latest if memory.session is None][:SHOWN][::-1]
    asked = bank.list(kinds=NOTED, session=seen.id, scope=_audience(call, bank, seen.id), limit=SHOWN)
    return list(asked)[::-1]


def _session(call: Call, session: str, cursor: str | None) -> Answer:
    bank = call.bank
    scope = _audience(call, bank, session)
    [*found] = bank.sessions.list(session=session, kinds=NOTED, scope=scope)
    # A session that is not distilled yet has only turns.
    found = found or [
        replace(seen, memories=0) for seen in bank.sessions.list(session=session, kinds=OBSERVED, scope=scope)
    ]
    if not found:
        raise NotFoundError("session", session, hint="mem-history without sessionId lists the sessions.")
    page = bank.list(order="oldest", kinds=NOTED, session=session, scope=scope, limit=PAGE, cursor=cursor)
    return answer(call, bank, {"items": [_item(call, bank, found[0], page)], "nextCursor": page.cursor})


def _around(call: Call, anchor: str, before: int, after: int, session: str | None) -> Answer:
    bank = call.bank
    scope = None if session is None else _audience(call, bank, session)
    head = standing(bank, anchor).head
    found = bank.around(head.id, before=before, after=after, kinds=NOTED, session=session, scope=scope)
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
        made = bank.list(
            types=asked_types(["decision"]), session=memory.session, scope=own_scope(bank), limit=DECISIONS
        )
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
