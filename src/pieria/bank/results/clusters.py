"""What `upkeep.clusters`, `duplicates`, `merge` and `relate` return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pieria.upkeep.clusters import DIGITS, Cluster, Pair
from pieria.upkeep.merge import Merging


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters, the largest first. `left` is the number of oldest memories that were not compared."""

    found: tuple[Cluster, ...]
    by: str
    least: float
    examined: int
    left: int

    def __iter__(self) -> Iterator[Cluster]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def as_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "least": self.least,
            "examined": self.examined,
            "left": self.left,
            "clusters": [cluster.as_dict() for cluster in self.found],
        }


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Pairs, the most similar first. `whole` is the number of all pairs."""

    found: tuple[Pair, ...]
    whole: int
    least: float
    examined: int
    left: int

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

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
        return {
            "dry_run": self.dry_run,
            "ids": list(self.ids),
            "cohesion": round(self.cohesion, DIGITS),
            "ties": self.ties,
            "change": self.change,
        }
