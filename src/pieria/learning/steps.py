"""The parts of an episode as plain values: steps and trajectories.

`episode` judges steps and decides where a trajectory ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pieria.errors import InputError


@dataclass(frozen=True, slots=True)
class Step:
    """An agent's observation and action. The other fields are None or empty until the step is judged.

    `index` counts from 0 through the episode. `embedding` is that of the subgoal. `reward` is set when the next
    observation shows the outcome.
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
