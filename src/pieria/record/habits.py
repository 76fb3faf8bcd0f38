"""Settings of how a bank is used, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


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
