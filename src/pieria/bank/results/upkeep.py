"""What the verbs of upkeep return: what was done or, in a dry run, what would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pieria.record.reply import Listed, Reply, told
from pieria.store.protocol import Finding
from pieria.upkeep.clusters import DIGITS, Cluster, Merging, Pair
from pieria.upkeep.faded import Faded
from pieria.upkeep.promotion import Promotion
from pieria.upkeep.sleep import Shortened, Summary
from pieria.upkeep.validation import Problem

LITTLE, WORTH = 1 << 20, 0.1
"""The least bytes, or share of all bytes, that are worth compacting."""


@dataclass(frozen=True, slots=True)
class Failure(Reply):
    """A group without a summary; its memories are unchanged, and due again."""

    ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Slept:
    """The result of a sleep. `examined` memories were due; those without a group are examined again later.

    `stopped` says why the sleep ended early, and `left` is the number not reached. `reasons` are sentences that say why
    memories were left out, such as "4 are younger than a day".
    """

    dry_run: bool
    mind: str
    examined: int
    left: int
    summaries: tuple[Summary, ...] = ()
    settled: tuple[Promotion, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    failed: tuple[Failure, ...] = ()
    stopped: str | None = None
    reasons: tuple[str, ...] = ()

    @property
    def consolidated(self) -> int:
        """The number of memories covered by the new summaries."""
        return sum(len(summary.sources) for summary in self.summaries)

    @property
    def repeated(self) -> int:
        """The number of memories settled because they were said again and again."""
        return sum(one.why.startswith("said ") for one in self.settled)

    @property
    def goes_on(self) -> bool:
        """Whether a next sleep would do more at once: memories are left, and this sleep got somewhere."""
        done = self.summaries or self.settled or self.shortened or not self.failed
        return self.left > 0 and bool(done and (self.summaries or self.stopped))

    def as_dict(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "mind": self.mind,
            "examined": self.examined,
            "left": self.left,
            "consolidated": self.consolidated,
            "summaries": [summary.as_dict() for summary in self.summaries],
            "settled": [promotion.as_dict() for promotion in self.settled],
            "shortened": [
                {"id": one.memory.id, "level": one.level, "text": one.text, "before": one.memory.text}
                for one in self.shortened
            ],
            "failed": [failure.as_dict() for failure in self.failed],
            "stopped": self.stopped,
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class Collected(Reply):
    """Faded memories, the weakest first. `archived` says whether they were archived or removed."""

    dry_run: bool
    archived: bool
    faded: tuple[Faded, ...]
    left: int


@dataclass(frozen=True, slots=True)
class Promoted(Reply):
    dry_run: bool
    promoted: tuple[Promotion, ...]


@dataclass(frozen=True, slots=True)
class Validated:
    """The result of a check. `findings` are of the store, `problems` of records that contradict each other."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    repaired: tuple[str, ...] = ()
    dry_run: bool = True

    @property
    def ok(self) -> bool:
        return not self.problems and all(finding.well for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "ok": self.ok,
            "findings": [_told(finding) for finding in self.findings],
            "problems": [problem.as_dict() for problem in self.problems],
            "repaired": list(self.repaired),
        }


def _told(finding: Finding) -> Mapping[str, Any]:
    return {"check": finding.check, "well": finding.well, "detail": finding.detail, "remedy": finding.remedy}


@dataclass(frozen=True, slots=True)
class Storage:
    """The size of a bank. `free` bytes are what `compact` frees, the log included."""

    memories: int
    versions: int
    links: int
    bytes: int
    free: int

    @property
    def should_compact(self) -> bool:
        return self.free > max(LITTLE, WORTH * self.bytes)

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "should_compact": self.should_compact}


@dataclass(frozen=True, slots=True)
class Compacted:
    """The size before and after; `unreached` says what could not be compacted."""

    before: Storage
    after: Storage
    unreached: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "before": self.before.as_dict(),
            "after": self.after.as_dict(),
            "saved": self.before.bytes - self.after.bytes,
            "unreached": list(self.unreached),
        }


@dataclass(frozen=True, slots=True)
class Clusters(Listed[Cluster]):
    """Clusters, the largest first. `left` is the number of oldest memories that were not compared."""

    found: tuple[Cluster, ...]
    by: str
    least: float
    examined: int
    left: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "least": self.least,
            "examined": self.examined,
            "left": self.left,
            "clusters": [cluster.as_dict() for cluster in self.found],
        }


@dataclass(frozen=True, slots=True)
class Duplicates(Listed[Pair]):
    """Pairs, the most similar first. `whole` is the number of all pairs."""

    found: tuple[Pair, ...]
    whole: int
    least: float
    examined: int
    left: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "least": self.least,
            "examined": self.examined,
            "left": self.left,
            "whole": self.whole,
            "pairs": [pair.as_dict() for pair in self.found],
        }


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged memory, or in a dry run what it would be. `change` is the number for `undo`."""

    dry_run: bool
    id: str
    text: str
    made: Merging
    change: int | None

    @property
    def saved(self) -> int:
        """The number of characters saved in answers."""
        return sum(len(memory.text) for memory in self.made.sources) - len(self.text)

    def as_dict(self) -> dict[str, Any]:
        new = self.made.new
        return {
            "dry_run": self.dry_run,
            "id": self.id,
            "text": self.text,
            "tags": list(new.tags),
            "entities": list(new.entities),
            "strength": new.strength,
            "cohesion": round(self.made.cohesion, DIGITS),
            "sources": [memory.id for memory in self.made.sources],
            "saved": self.saved,
            "change": self.change,
        }


@dataclass(frozen=True, slots=True)
class Related:
    """The links written, or in a dry run planned. Pairs linked before are not counted."""

    dry_run: bool
    ids: tuple[str, ...]
    cohesion: float
    ties: int
    change: int | None

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "cohesion": round(self.cohesion, DIGITS)}
