"""A row of the speed benchmark: a measured value and its target."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One budget: the measured value, its unit, its target, and whether it is met (None: there is no target)."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    detail: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def below(name: str, took: list[float], limit: float) -> Row:
    value = statistics.median(took)
    return Row(name, round(value, 1), "ms", f"< {limit:g}", value < limit, {"each": [round(t, 1) for t in took]})


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
