"""The text of `/metrics`, for Prometheus: calls, errors and latencies by tool, and the state of each bank."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

KIND = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of the buckets in seconds. A call counts in every bucket whose bound it does not exceed."""
Labels = tuple[tuple[str, str], ...]


@dataclass
class _Called:
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)


class Metrics:
    """Counts calls from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._called: dict[tuple[str, str], _Called] = {}

    def note(self, toolset: str, tool: str, seconds: float, error: str | None) -> None:
        with self._lock:
            called = self._called.setdefault((toolset, tool), _Called())
            called.buckets[bisect_left(BOUNDS, seconds)] += 1
            called.seconds += seconds
            if error is not None:
                called.errors[error] += 1

    def text(self, gauges: Mapping[str, Iterable[tuple[Labels, float]]], started: float) -> str:
        """Return all metrics, with the current gauges; `started` is when the server started."""
        with self._lock:
            lines = [*self._calls(), *self._latencies()]
        lines += _family("pieria_start_time_seconds", "gauge", "When the server started.", [((), started)])
        for name, values in gauges.items():
            lines += _family(f"pieria_{name}", "gauge", GAUGES[name], values)
        return "\n".join(lines) + "\n"

    def _calls(self) -> Iterator[str]:
        calls, errors = [], []
        for (toolset, tool), called in sorted(self._called.items()):
            labels = (("toolset", toolset), ("tool", tool))
            calls.append((labels, sum(called.buckets)))
            errors += [((*labels, ("code", code)), number) for code, number in sorted(called.errors.items())]
        yield from _family("pieria_calls_total", "counter", "Calls of tools and routes.", calls)
        yield from _family("pieria_errors_total", "counter", "Calls that ended in an error, by its code.", errors)

    def _latencies(self) -> Iterator[str]:
        name = "pieria_call_seconds"
        yield from _family(name, "histogram", "Durations of calls.", ())
        for (toolset, tool), called in sorted(self._called.items()):
            labels = (("toolset", toolset), ("tool", tool))
            below = 0
            for bound, number in zip((*BOUNDS, "+Inf"), called.buckets, strict=True):
                below += number
                yield _line(f"{name}_bucket", (*labels, ("le", str(bound))), below)
            yield _line(f"{name}_sum", labels, called.seconds)
            yield _line(f"{name}_count", labels, below)


GAUGES = {
    "journal_head": "Number of the newest entry of a bank's journal.",
    "memories": "Memories of a bank.",
    "pending_vectors": "Vectors of a bank that are not yet made.",
    "jobs": "Jobs of a bank, by state.",
    "listeners": "Clients that listen to events.",
}


def _family(name: str, kind: str, says: str, values: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    yield f"# HELP {name} {says}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        yield _line(name, labels, value)


def _line(name: str, labels: Labels, value: float) -> str:
    said = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    shown = f"{value:.9g}" if isinstance(value, float) and not value.is_integer() else f"{int(value)}"
    return f"{name}{{{said}}} {shown}" if said else f"{name} {shown}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
