"""The revision history of one observation: order, times, reasons and changed fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.open_mem.words import importance_of, scope_of, stamp, told, type_of

FIELDS = ("title", "narrative", "type", "concepts", "files", "importance")


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
