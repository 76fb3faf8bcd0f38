"""Facts: subject, predicate and object, with their valid time and their known time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a fact over one interval of known time. It is valid over [valid_from, valid_until)."""

    id: str
    subject: str
    predicate: str
    object: str
    known_from: datetime
    known_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    confidence: float | None = None
    memory: str | None = None
    source: str | None = None
    ended: str = ""
    reason: str | None = None

    @property
    def source_memory(self) -> str | None:
        """Return the memory the fact was extracted from. A fact added alone has none: its memory only states it."""
        return _source_memory(self.id, self.memory)

    def as_dict(self) -> dict[str, Any]:
        from pieria.record.time import iso

        def stamp(value: datetime | None) -> str | None:
            return iso(value) if value else None

        return {
            "id": self.id,
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
            "valid_from": stamp(self.valid_from),
            "valid_until": stamp(self.valid_until),
            "known_from": stamp(self.known_from),
            "known_until": stamp(self.known_until),
            "confidence": self.confidence,
            "memory": self.memory,
            "source": self.source,
            "ended": self.ended,
            "reason": self.reason,
        }


class FactRow(NamedTuple):
    """A fact as written. Keys are the folded names for lookup; the store adds the known interval."""

    id: str
    subject: str
    subject_key: str
    predicate: str
    predicate_key: str
    object: str
    object_key: str
    valid_from: int | None
    valid_until: int | None
    confidence: float | None
    memory: str | None
    source: str | None
    ended: str
    reason: str | None

    @property
    def source_memory(self) -> str | None:
        """Return the same as `Fact.source_memory`."""
        return _source_memory(self.id, self.memory)


class FactName(NamedTuple):
    """A name used as subject or object, its key, and the number of facts that use it."""

    key: str
    name: str
    facts: int


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Conditions for a lookup of facts. Keys are already folded; `either` finds a name on both sides."""

    ids: tuple[str, ...] | None = None
    subject_keys: tuple[str, ...] | None = None
    predicate_keys: tuple[str, ...] | None = None
    object_keys: tuple[str, ...] | None = None
    either_keys: tuple[str, ...] | None = None
    memory: str | None = None
    memories: tuple[str, ...] | None = None
    source: str | None = None
    include_ended: bool = False
    every_version: bool = False
    """Every interval of known time, not only the one at `known_at`."""


def _source_memory(id: str, memory: str | None) -> str | None:
    return None if memory == id else memory
