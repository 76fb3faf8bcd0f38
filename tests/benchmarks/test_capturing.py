"""`python -m benchmarks capture` on a small workload: the report and not the speed or size."""

import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Ask

from benchmarks import capture_cost as capturing
from benchmarks import telling_hooks

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"


@pytest.mark.slow
def test_hooks_are_timed_and_events_weighed(bench: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capturing, "EVENTS", 3)
    monkeypatch.setattr(capturing, "LINES", 20)
    monkeypatch.setattr(telling_hooks, "MEMORIES", 5)
    monkeypatch.setattr(telling_hooks, "RUNS", 1)
    monkeypatch.setenv("PIERIA_MODELS", str(INSTALLED))
    monkeypatch.setenv("PIERIA_EMBEDDER", "auto")
    told = bench("capture", "--n", "1000", "--events", "200", "--json").json
    rows = {row["name"]: row for row in told["rows"]}
    weighed = rows["disk an event, distilled, with vectors"]["detail"]
    assert (weighed["events"], weighed["summaries"], weighed["turns"] >= 38, weighed["observations"] > 10) == (
        200, 2, True, True,
    )  # fmt: skip
    assert "a hook beside 1,000 memories, p95" in rows
    timed = {name for name in rows if name.startswith("context")}
    assert len(timed) == (0 if told["notes"] else 2)
