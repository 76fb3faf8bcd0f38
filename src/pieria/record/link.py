"""Links: typed edges between two ends, an end being a memory or a place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pieria.record.check import mapping, place
from pieria.record.end import End as End  # noqa: PLC0414 - links are where it is looked for
from pieria.record.memory import nothing

SYMMETRIC = ("sibling", "tunnel")


DRAWN_FROM = "provenance"
"""The relation from what was derived to its evidence."""
REVISES = "revises"
"""The relation from a revision to what it came in the place of."""
OVERTURNS = "overturns"
"""The relation from a memory to one of which it says that it holds no longer. Neither is changed by it."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge from one end to another over one stretch of known time."""

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
    """A link as it is written: the store adds the known interval."""

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
    """The link as it would be written again."""
    meta = mapping(link.meta, "meta")
    return LinkRow(link.id, *link.source, link.relation, *link.target, link.weight, link.label, meta, link.ended)


def Place(spelling: str) -> End:
    """A place as the end of a link, or wherever one is asked for: `Place("billing/decisions")`."""
    return End("place", place(spelling))
