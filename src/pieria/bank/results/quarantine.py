"""What the verbs about lineage and quarantine return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pieria.record.time import iso


@dataclass(frozen=True, slots=True)
class Drawn:
    """A memory or fact of a lineage: `what` is `memory` or `fact`, and `how` says how it came from `of`."""

    what: str
    id: str
    kind: str
    excerpt: str
    how: str
    of: str | None
    at: datetime | None = None
    source: str | None = None
    session: str | None = None
    author: str | None = None
    ended: str = ""
    quarantines: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "id": self.id,
            "kind": self.kind,
            "excerpt": self.excerpt,
            "how": self.how,
            "of": self.of,
            "at": self.at and iso(self.at),
            "source": self.source,
            "session": self.session,
            "author": self.author,
            "ended": self.ended,
            "quarantines": list(self.quarantines),
        }


@dataclass(frozen=True, slots=True)
class Telling:
    """A session that was shown memories of a lineage: which, how often, and when first and last."""

    session: str
    ids: tuple[str, ...]
    times: int
    first: datetime
    last: datetime
    in_context: bool = False
    """Whether the kept context of the session names one of them."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "session": self.session,
            "ids": list(self.ids),
            "times": self.times,
            "first": iso(self.first),
            "last": iso(self.last),
            "in_context": self.in_context,
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """What was derived from a memory, source or session, nearest first, and where it was shown."""

    items: tuple[Drawn, ...]
    counts: Mapping[str, int]
    """The whole lineage by kind, facts and `windows` included, also beyond what is listed."""
    told: tuple[Telling, ...]
    notes: tuple[str, ...]
    """Vault notes that contain its words."""
    hidden: int = 0
    """Memories of the lineage that are private to other sessions: counted here, but not listed."""
    truncated: bool = False
    """Whether there is more than is listed."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "items": [item.as_dict() for item in self.items],
            "counts": dict(self.counts),
            "told": [each.as_dict() for each in self.told],
            "notes": list(self.notes),
            "hidden": self.hidden,
            "truncated": self.truncated,
        }


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The selectors and content of a quarantine. `number` is that of its change, and None for a dry run."""

    number: int | None
    at: datetime
    who: str
    reason: str | None
    selectors: Mapping[str, Any]
    counts: Mapping[str, int]
    """What it holds by kind, facts included."""
    digest: str
    """Identifies the ids that it holds."""
    ids: tuple[str, ...] = ()
    """The memories that this session may see, at most a thousand."""
    unreached: tuple[str, ...] = field(default=())
    """Places with its words that were not reached: notes of the vault, and copies of the bank."""
    dry_run: bool = False

    @property
    def memories(self) -> int:
        return sum(number for kind, number in self.counts.items() if kind != "fact")

    @property
    def facts(self) -> int:
        return self.counts.get("fact", 0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "at": iso(self.at),
            "who": self.who,
            "reason": self.reason,
            "selectors": dict(self.selectors),
            "counts": dict(self.counts),
            "memories": self.memories,
            "facts": self.facts,
            "digest": self.digest,
            "ids": list(self.ids),
            "unreached": list(self.unreached),
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, slots=True)
class Lifted:
    """A quarantine that change `seq` lifted. What other quarantines hold too stays hidden."""

    number: int
    seq: int
    memories: int
    facts: int
    still_held: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "seq": self.seq,
            "memories": self.memories,
            "facts": self.facts,
            "still_held": self.still_held,
        }
