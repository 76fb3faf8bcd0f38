"""The ledger of model calls: one row per day, step and model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spent:
    """The calls of one step to one model, for a day or in total. `seconds` is the time spent waiting for replies."""

    step: str
    model: str
    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: Spent) -> Spent:
        """Return the sum with another row of the same step and model."""
        return Spent(
            self.step,
            self.model,
            self.calls + other.calls,
            self.failures + other.failures,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
