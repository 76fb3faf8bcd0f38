"""Links: typed edges between two ends. An end is a memory or a place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pieria.record.check import mapping, place
from pieria.record.memory import End as End  # noqa: PLC0414 - callers look for it here
from pieria.record.memory import nothing

SYMMETRIC = ("sibling", "tunnel")


DRAWN_FROM = "provenance"
"""The relation from a derived memory to its evidence."""
REVISES = "revises"
"""The relation from a revision to the memory it replaces."""
OVERTURNS = "overturns"
"""The relation from a memory to one that it declares outdated. The link changes neither."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two ends over one interval of known time."""

    id: str
    source: End
    relation: str
    target: End
    known_from: datetime
    known_until: datetime | None = None
    weight: float = 1.0
    label: str | None = None
    meta: Mapping[str, Any] = field(default_factory=nothing)
    ended: str = ""

    def as_dict(self) -> dict[str, Any]:
        from pieria.record.time import iso

        return {
            "id": self.id,
            "source": self.source.name,
            "source_is": self.source.what,
            "relation": self.relation,
            "target": self.target.name,
            "target_is": self.target.what,
            "weight": self.weight,
            "label": self.label,
            "meta": dict(self.meta),
            "known_from": iso(self.known_from),
            "known_until": iso(self.known_until) if self.known_until else None,
            "ended": self.ended,
        }


class LinkRow(NamedTuple):
    """A link as written; the store adds the known interval."""

    id: str
    source_is: str
    source: str
    relation: str
    target_is: str
    target: str
    weight: float
    label: str | None
    meta: str | None
    ended: str


def row_of(link: Link) -> LinkRow:
    """Return the row that writes the link again."""
    meta = mapping(link.meta, "meta")
    return LinkRow(link.id, *link.source, link.relation, *link.target, link.weight, link.label, meta, link.ended)


def Place(spelling: str) -> End:
    """Return a place as the end of a link, for any argument that accepts a place: `Place("billing/decisions")`."""
    return End("place", place(spelling))


def tunnel_id_of(one: str, other: str) -> str:
    """Return the id of a tunnel between two places, independent of its direction. MemPalace uses the same."""
    return hashlib.sha256("↔".join(sorted((one, other))).encode()).hexdigest()[:16]
