"""The parts of an episode as plain values: steps and trajectories.

`episode` judges steps and decides where a trajectory ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from pieria.errors import InputError

if TYPE_CHECKING:
    from pieria.config import Config

Verbosity = Literal["summary", "detailed"]
"""Verbosity of a trace. Detailed fields are None in a summary."""


@dataclass(frozen=True, slots=True)
class Step:
    """An agent's observation and action. The other fields are None or empty until the step is judged.

    `index` counts from 0 through the episode. `embedding` is that of the subgoal. `reward` is set when the next
    observation shows the outcome. `judged_by` is the name of the mind, `rules` or a model; empty if it is unknown. A
    `provisional` judgement is of rules, until a model judges the step together with others.
    """

    index: int
    observation: str
    action: str
    subgoal: str = ""
    state: str | None = None
    reward: float | None = None
    embedding: tuple[float, ...] | None = None
    trajectory_id: str = ""
    judged_by: str = ""
    provisional: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {
            "index": self.index,
            "observation": self.observation,
            "action": self.action,
            "subgoal": self.subgoal,
            "state": self.state,
            "reward": self.reward,
            "embedding": None if self.embedding is None else list(self.embedding),
            "trajectory_id": self.trajectory_id,
            "judged_by": self.judged_by,
            "provisional": self.provisional,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        return cls(**{**kept, "embedding": vector_of(kept["embedding"])})


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Consecutive steps with the same subgoal; `subgoal` is that of the last step."""

    id: str
    steps: tuple[Step, ...]
    subgoal: str

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Self:
        """Return the trajectory of these steps, given in any order."""
        if len({step.trajectory_id for step in steps}) != 1:
            raise InputError("steps", "one or more steps of one trajectory", list(steps))
        ordered = tuple(sorted(steps, key=lambda step: step.index))
        return cls(ordered[0].trajectory_id, ordered, ordered[-1].subgoal)

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        return {"id": self.id, "steps": [step.as_dict() for step in self.steps], "subgoal": self.subgoal}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        return cls(kept["id"], tuple(map(Step.from_dict, kept["steps"])), kept["subgoal"])


def vector_of(kept: Sequence[float] | None) -> tuple[float, ...] | None:
    return None if kept is None else tuple(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTrace:
    """How a step was judged, and by whom. `reward` is the grade of the step before; None if there was none.

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
    judged_by: str = ""


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
