"""What was done on the way to a result, for whoever wants to see it: told in a few words, or in detail.

A trace holds what was measured, and none of it changes what is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pieria.config import Config

Verbosity = Literal["summary", "detailed"]
"""As a configuration says it. What only a detailed trace tells is None in the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTrace:
    """How a step was appended. `reward` is the one that the step before was given by it; None where there was none.

    `subgoal`, `similarity_score` and `similarity_threshold` are told in detail; the score is None where there was no
    step before.
    """

    verbosity: Verbosity
    step_index: int
    trajectory_id: str
    boundary_detected: bool
    reward: float | None
    duration_us: int
    subgoal: str | None = None
    similarity_score: float | None = None
    similarity_threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuringTrace:
    """What was drawn from a trajectory. The nodes, the intents that became one with another, and the microseconds that
    each phase took are told in detail.
    """

    verbosity: Verbosity
    trajectory_id: str
    semantic_count: int
    procedural_count: int
    tag_count: int
    intent_count: int
    duration_us: int
    semantic_nodes: list[dict[str, Any]] | None = None
    procedural_nodes: list[dict[str, Any]] | None = None
    merged_intents: list[dict[str, Any]] | None = None
    phase_timings: dict[str, int] | None = None


def verbosity_of(config: Config | None) -> Verbosity:
    return "detailed" if config is not None and config.trace_verbosity == "detailed" else "summary"
