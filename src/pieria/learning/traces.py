"""Traces: what was measured on the way to a result, brief or in detail.

A trace never changes the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pieria.config import Config

Verbosity = Literal["summary", "detailed"]
"""Verbosity of a trace. Detailed fields are None in a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTrace:
    """How a step was appended. `reward` is the grade of the step before; None if there was none.

    `subgoal`, `similarity_score` and `similarity_threshold` are set in a detailed trace. The score is None if there
    was no step before.
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
    """What was learned from a trajectory. Nodes, merged intents and the microseconds of each phase are set in a
    detailed trace."""

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
