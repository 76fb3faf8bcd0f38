"""The usage of a node, stored apart from its content."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from pieria.record.time import system_clock


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMetadata:
    access_count: int = 0
    created_at: datetime = field(default_factory=system_clock)
    cumulative_reward: float = 0.0
    last_accessed_at: datetime | None = None
    reward_count: int = 0
    penalty: float = 0.0
    """The part of the rewards taken for weak grounding. It is returned when the grounding is."""

    def avg_reward(self) -> float:
        """Return the mean reward; 0 without any reward."""
        return self.cumulative_reward / self.reward_count if self.reward_count else 0.0

    def record_access(self, at: datetime | None = None) -> NodeMetadata:
        """Return the metadata with one more access, by default now."""
        return replace(self, access_count=self.access_count + 1, last_accessed_at=at or system_clock())

    def update_reward(self, reward: float) -> NodeMetadata:
        """Return the metadata with one more reward."""
        rewards = self.cumulative_reward + reward
        return replace(self, cumulative_reward=rewards, reward_count=self.reward_count + 1)

    def penalized(self, owed: float) -> NodeMetadata:
        """Return the metadata with this penalty in place of the former one. It never exceeds the rewards."""
        earned = self.cumulative_reward + self.penalty
        taken = min(owed, max(0.0, earned))
        return self if taken == self.penalty else replace(self, cumulative_reward=earned - taken, penalty=taken)

    def joined(self, other: NodeMetadata) -> NodeMetadata:
        """Return the sum with another node's usage. The other's penalty is returned to its rewards."""
        moments = [at for at in (self.last_accessed_at, other.last_accessed_at) if at is not None]
        return replace(
            self,
            access_count=self.access_count + other.access_count,
            created_at=min(self.created_at, other.created_at),
            cumulative_reward=self.cumulative_reward + other.cumulative_reward + other.penalty,
            last_accessed_at=max(moments, default=None),
            reward_count=self.reward_count + other.reward_count,
        )
