"""The report of a mine: counts of sources and memories, and the first refused records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHOWN = 20
"""Most refused records to list, and most sources to list in a dry run."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that could not be stored. `excerpt` is its beginning, without secrets."""

    source: str
    record: int | None
    reason: str
    excerpt: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {"source": self.source, "record": self.record, "reason": self.reason, "excerpt": self.excerpt}

    def __str__(self) -> str:
        where = "" if self.record is None else f", record {self.record:,}"
        return f"{self.source}{where}: {self.reason}" + (f": {self.excerpt}" if self.excerpt else "")


@dataclass(slots=True)
class Report:
    """What was done; in a dry run, what would be done.

    `sources` are counted as new, changed, unchanged, vanished and back; `memories` as new, changed, unchanged, back,
    superseded (the source now says something else), vanished (the source is gone), purged and removed (kept out), told
    (captured when they were said), and refused. `left` counts what was left out on purpose, by reason.
    """

    path: str
    dry_run: bool = False
    sources: Counter[str] = field(default_factory=Counter)
    memories: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    refused: list[Refused] = field(default_factory=list)
    """The first refused records."""
    refusals: int = 0
    plan: list[dict[str, Any]] = field(default_factory=list)
    """In a dry run: what would happen to each changed source."""
    seconds: float = 0.0
    embedded: bool = True
    """Whether all stored memories can be found by meaning already."""
    embedding_seconds: float = 0.0
    """Time spent waiting for vectors, in addition to `seconds`."""

    @property
    def well(self) -> bool:
        return not self.refusals

    @property
    def changed_anything(self) -> bool:
        return any(self.memories[what] for what in ("new", "changed", "back", "superseded", "vanished"))

    @property
    def rate(self) -> float:
        """Memories checked per second."""
        return sum(self.memories.values()) / self.seconds if self.seconds else 0.0

    def refuse(self, refused: Refused) -> None:
        self.refusals += 1
        if refused.record is not None:
            self.memories["refused"] += 1
        if len(self.refused) < SHOWN:
            self.refused.append(refused)

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "dry_run": self.dry_run,
            "sources": _counts(self.sources),
            "memories": _counts(self.memories),
            "formats": _counts(self.formats),
            "left": _counts(self.left),
            "refusals": self.refusals,
            "refused": [one.as_dict() for one in self.refused],
            **({"plan": self.plan} if self.dry_run else {}),
            "seconds": round(self.seconds, 3),
            "rate": round(self.rate, 1),
            "embedded": self.embedded,
            "embedding_seconds": round(self.embedding_seconds, 3),
        }


def _counts(counted: Mapping[str, int]) -> dict[str, int]:
    return {what: number for what, number in sorted(counted.items()) if number}
