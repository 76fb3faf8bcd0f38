"""The meter of model calls: asked before a call and informed after it, so that calls are counted and can be refused.

Adapters get a `Meter` and need not know where calls are counted or whose budget they use.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol


class Meter(Protocol):
    """Call `allow` before each model call and `note` after it. Threads may share a meter.

    Never call either inside a write transaction. `step` is the purpose of the call, such as `summarize`; `model` is
    written `provider:model`.
    """

    def allow(self, step: str, model: str) -> None:
        """Raise `BudgetError` if the day's budget is spent; then the model must not be called."""

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        """Record the call. `usage` has `input_tokens` and `output_tokens`, as far as the reply has them."""


class Unmetered:
    """A meter that counts nothing and allows every call."""

    def allow(self, step: str, model: str) -> None:
        """Allow the call."""

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        """Record nothing."""


UNMETERED = Unmetered()


@dataclass(slots=True)
class _Spent:
    """The cost of one step with one model."""

    step: str
    model: str
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    duration_us: int = 0


class Tally:
    """Counts the calls of one piece of work, in total and by step, and passes them on to another meter."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter
        self._lock = threading.Lock()
        self.calls = 0
        self.tokens = {"input_tokens": 0, "output_tokens": 0}
        self._spent: dict[tuple[str, str], _Spent] = {}

    @property
    def by_step(self) -> list[dict[str, Any]]:
        """The cost of each step and model: `calls`, `failed`, tokens and microseconds."""
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
