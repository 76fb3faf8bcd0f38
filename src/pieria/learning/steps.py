"""What an episode is made of: steps, and the trajectories that they come to.

Plain values. How a step is judged, and where a trajectory ends, is told in `episode`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pieria.errors import InputError


@dataclass(frozen=True, slots=True)
class Step:
    """What an agent observed and did about it; the rest is judged, and None or empty before it is.

    `index` counts from 0 through the episode, `embedding` is of the subgoal, and `reward` is known once it shows what
    came of the step.
    """

    index: int
    observation: str
    action: str
    subgoal: str = ""
    state: str | None = None
    reward: float | None = None
    embedding: tuple[float, ...] | None = None
    trajectory_id: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "index": self.index,
            "observation": self.observation,
            "action": self.action,
            "subgoal": self.subgoal,
            "state": self.state,
            "reward": self.reward,
            "embedding": None if self.embedding is None else list(self.embedding),
            "trajectory_id": self.trajectory_id,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        return cls(**{**kept, "embedding": vector_of(kept["embedding"])})


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Steps in a row that were after the same thing; `subgoal` is that of the last one."""

    id: str
    steps: tuple[Step, ...]
    subgoal: str

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Self:
        """Of steps that belong together, in whatever order they come."""
        if len({step.trajectory_id for step in steps}) != 1:
            raise InputError("steps", "one or more steps of one trajectory", list(steps))
        ordered = tuple(sorted(steps, key=lambda step: step.index))
        return cls(ordered[0].trajectory_id, ordered, ordered[-1].subgoal)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"id": self.id, "steps": [step.as_dict() for step in self.steps], "subgoal": self.subgoal}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        return cls(kept["id"], tuple(map(Step.from_dict, kept["steps"])), kept["subgoal"])


def vector_of(kept: Sequence[float] | None) -> tuple[float, ...] | None:
    return None if kept is None else tuple(kept)
