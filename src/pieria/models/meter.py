"""What whoever calls a model asks before the call and tells after it, so that every call is counted and may be refused.

Exists so that adapters need not know where calls are counted, nor whose budget they use up: they are handed a `Meter`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol


class Meter(Protocol):
    """For each call, first `allow`, and once it is over, `note`. Threads may share it.

    Neither may be called inside a write transaction. `step` is what the model is asked for, such as `summarize`;
    `model` is written `provider:model`.
    """

    def allow(self, step: str, model: str) -> None:
        """Raises `BudgetError` where the day's budget is used up; then the model is not called."""

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        """What came of the call. `usage` has `input_tokens` and `output_tokens`, as far as the reply told them."""


class Unmetered:
    """The meter of whoever counts nothing."""

    def allow(self, step: str, model: str) -> None:
        """Anything is allowed."""

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        """Nothing is kept."""


UNMETERED = Unmetered()


@dataclass(slots=True)
class _Spent:
    """What one step cost with one model."""

    step: str
    model: str
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    duration_us: int = 0


class Tally:
    """Counts the calls of one piece of work, all in all and by step, and has them metered besides."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter
        self._lock = threading.Lock()
        self.calls = 0
        self.tokens = {"input_tokens": 0, "output_tokens": 0}
        self._spent: dict[tuple[str, str], _Spent] = {}

    @property
    def by_step(self) -> list[dict[str, Any]]:
        """Of each step, by the model that it asked: `calls`, how many of them `failed`, tokens and microseconds."""
        with self._lock:
            return [asdict(spent) for spent in self._spent.values()]

    def allow(self, step: str, model: str) -> None:
        self._meter.allow(step, model)

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        with self._lock:
            self.calls += 1
            for name in self.tokens:
                self.tokens[name] += usage.get(name, 0)
            spent = self._spent.setdefault((step, model), _Spent(step, model))
            spent.calls += 1
            spent.failed += failed
            spent.input_tokens += usage.get("input_tokens", 0)
            spent.output_tokens += usage.get("output_tokens", 0)
            spent.duration_us += int(1e6 * seconds)
        self._meter.note(step, model, usage, seconds, failed)
