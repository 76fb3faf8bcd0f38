"""Counts what an import did, for the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

HERE = "here already"
REMOVED = "removed here"
PURGED = "purged here"
NAMELESS = "names a memory that is not here"
BROKEN = "broken in the file"
DECIDES = "decides on a memory that the file does not bring"


@dataclass(slots=True)
class Tally:
    """Each counter is keyed by kind: memories, links, facts, usage, records, purged."""

    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    left: dict[str, Counter[str]] = field(default_factory=dict)
    """What was left out or left alone, and why."""
    versions: int = 0
    not_carried: Counter[str] = field(default_factory=Counter)
    """What the file holds and this kind of import cannot keep."""

    def leave(self, what: str, why: str, number: int = 1) -> None:
        self.left.setdefault(what, Counter())[why] += number
