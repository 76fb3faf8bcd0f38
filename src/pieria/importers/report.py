"""The report of an import: counts by kind and outcome, the first problems, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pieria.importers.items import Problem

SHOWN = 20
"""Most problems to list."""
KINDS = ("memories", "facts", "links", "entries")


@dataclass(slots=True)
class Report:
    """What was done; in a dry run, what would be done.

    `memories`, `facts`, `links` and `entries` of scratchpads are counted as new, changed, unchanged, back, corrected
    (the source changed after a correction here, which stays), removed and purged (kept out), nameless (a link to a
    memory that is not here), told (captured when it was said) and refused. `left` counts by reason what the bank cannot
    carry.
    """

    system: str
    source: str
    bank: str
    dry_run: bool = False
    memories: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    """The first problems."""
    problem_count: int = 0
    seconds: float = 0.0
    embedded: bool = True
    """Whether all stored memories can be found by meaning already."""
    embedding_seconds: float = 0.0

    @property
    def well(self) -> bool:
        return not self.problem_count

    def add(self, problem: Problem) -> None:
        self.problem_count += 1
        if len(self.problems) < SHOWN:
            self.problems.append(problem)

    def counted(self, kind: str) -> Counter[str]:
        """Return the counter of a kind: memories, facts, links or entries."""
        counter: Counter[str] = getattr(self, kind)
        return counter

    def as_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "source": self.source,
            "bank": self.bank,
            "dry_run": self.dry_run,
            **{kind: _counts(self.counted(kind)) for kind in KINDS},
            "left": _counts(self.left),
            "problem_count": self.problem_count,
            "problems": [problem.as_dict() for problem in self.problems],
            "seconds": round(self.seconds, 3),
            "embedded": self.embedded,
            "embedding_seconds": round(self.embedding_seconds, 3),
        }


def _counts(counted: Mapping[str, int]) -> dict[str, int]:
    return {what: number for what, number in sorted(counted.items()) if number}
