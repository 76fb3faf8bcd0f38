"""Usage: how often and when a memory was used. It is counted apart from content and has no versions.

`Habits` are the settings of how a bank is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from pieria.record.time import micros


@dataclass(frozen=True, slots=True)
class Usage:
    accesses: int = 0
    last_access: datetime | None = None
    reviews: int = 0
    last_review: datetime | None = None
    crossings: int = 0
    """Uses in a context that shares almost no tags with the memory."""
    rewards: float = 0.0
    rewarded: int = 0
    spaced: float = 0.0
    """The sum of `decay.spaced` over all uses."""

    @property
    def average_reward(self) -> float | None:
        return self.rewards / self.rewarded if self.rewarded else None

    def as_dict(self) -> dict[str, Any]:
        from pieria.record.time import iso

        return {
            "accesses": self.accesses,
            "last_access": iso(self.last_access) if self.last_access else None,
            "reviews": self.reviews,
            "last_review": iso(self.last_review) if self.last_review else None,
            "crossings": self.crossings,
            "rewards": self.rewards,
            "rewarded": self.rewarded,
        }


UNUSED = Usage()


class Use(NamedTuple):
    """An addition to a memory's usage."""

    id: str
    accesses: int = 0
    last_access: int | None = None
    reviews: int = 0
    last_review: int | None = None
    crossings: int = 0
    rewards: float = 0.0
    rewarded: int = 0
    spaced: float = 0.0


def use_of(id: str, usage: Usage) -> Use:
    """Return a usage as an addition to none."""
    last_access = None if usage.last_access is None else micros(usage.last_access)
    last_review = None if usage.last_review is None else micros(usage.last_review)
    counted = (usage.accesses, last_access, usage.reviews, last_review, usage.crossings, usage.rewards, usage.rewarded)
    return Use(id, *counted, usage.spaced)


@dataclass(frozen=True, slots=True)
class Habits:
    """Each field is the setting of that name."""

    reinforce: bool = True
    crossing_boost: float = 0.1
    cluster_threshold: float = 0.83
    cluster_most: int = 12
    duplicate_threshold: float = 0.88
    preview_chars: int = 300
    enrich: bool = True
    search_by_meaning: bool = False
    short_term_weight: float = 1.0
    long_term_weight: float = 0.7
