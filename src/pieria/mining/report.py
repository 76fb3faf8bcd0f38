"""What a mine came to: counted by sources and by memories, with the first of what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHOWN = 20
"""Refused records that are told one by one, and sources that a dry run names to people."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that could not be taken in. `excerpt` is its beginning, without secrets."""

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
    """What was done; in a dry run, what would have been.

    `sources` are counted as new, changed, unchanged, vanished and back; `memories` as new, changed, unchanged, back,
    superseded (their source says something else now), vanished (it is gone), purged and removed (and kept away), told
    (captured while they were said), and refused. `left` is what was left out on purpose, by reason.
    """

    path: str
    dry_run: bool = False
    sources: Counter[str] = field(default_factory=Counter)
    memories: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    refused: list[Refused] = field(default_factory=list)
    """The first of them."""
    refusals: int = 0
    plan: list[dict[str, Any]] = field(default_factory=list)
    """Of a dry run: what would become of each source that is not as it was."""
    seconds: float = 0.0
    embedded: bool = True
    """Whether all that came in can be found by meaning already."""
    embedding_seconds: float = 0.0
    """What was waited for that, on top of `seconds`."""

    @property
    def well(self) -> bool:
        return not self.refusals

    @property
    def changed_anything(self) -> bool:
        return any(self.memories[what] for what in ("new", "changed", "back", "superseded", "vanished"))

    @property
    def rate(self) -> float:
        """Memories that were looked at, by the second."""
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
