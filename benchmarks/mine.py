"""`python -m benchmarks mining`: conversations mined once, again, and once more after one of them has grown."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.rows import Row
from benchmarks.speed import machine
from benchmarks.workload import Workload
from pieria.bank import Bank
from pieria.mining import Report, mine
from pieria.workspace import Workspace

A_SESSION = 100
AGAIN = 0.05
"""Largest share of the first run's time for a run that finds no changes."""
BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def measure_mining(turns: int) -> dict[str, Any]:
    """Measure without vectors: a model's time would hide the cost of the second run."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        last = _written(logs, turns)
        at = Workspace(data=Path(folder) / "data", settings={"embedder": "none"})
        with at as workspace, workspace.open("bench") as bank:
            rows = _rows(bank, logs, last, turns)
    return {"machine": machine(), "turns": turns, "rows": [row.as_dict() for row in rows], "notes": []}


def _rows(bank: Bank, logs: Path, last: Path, turns: int) -> list[Row]:
    held = _most()
    first = mine(bank, logs, conversations=True)
    most = _most() - held
    again = mine(bank, logs, conversations=True)
    with last.open("a") as log:
        log.write(_line(turns, "one more"))
    begun = time.perf_counter()
    grown = mine(bank, logs, conversations=True)
    seconds = time.perf_counter() - begun
    share = again.seconds / first.seconds
    rate = round(first.memories["new"] / first.seconds)
    added = sum(number for what, number in again.memories.items() if what != "unchanged")
    return [
        Row(f"mining {turns:,} turns", round(first.seconds, 2), "s", "", None, {"turns_a_second": rate}),
        Row("the same again, share of that", round(share, 4), "ratio", "< 0.05", share < AGAIN, _seconds(again)),
        Row("the same again, memories added or changed", added, "memories", "0", added == 0, {}),
        Row("the same when one turn came in", round(1000 * seconds, 1), "ms", "", None, {"new": grown.memories["new"]}),
        Row("memory taken at most beyond what was held", round(most, 1), "MB", "", None, {}),
    ]


def _seconds(report: Report) -> dict[str, Any]:
    return {"seconds": round(report.seconds, 4)}


def _most() -> float:
    """Return this process's peak memory in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


def _written(folder: Path, turns: int) -> Path:
    """Write sessions as Claude Code does. Return the last file."""
    folder.mkdir()
    workload = Workload()
    file = folder / "session-0.jsonl"
    for begin in range(0, turns, A_SESSION):
        file = folder / f"session-{begin // A_SESSION}.jsonl"
        with file.open("w") as log:
            log.writelines(_line(n, workload.text()) for n in range(begin, min(begin + A_SESSION, turns)))
    return file


def _line(number: int, text: str) -> str:
    kind = "assistant" if number % 2 else "user"
    return (
        json.dumps(
            {
                "type": kind,
                "uuid": f"turn-{number}",
                "sessionId": f"session-{number // A_SESSION}",
                "cwd": f"/home/bench/project-{number // A_SESSION % 10}",
                "timestamp": (BEGAN + timedelta(minutes=number)).isoformat(),
                "message": {"role": kind, "content": [{"type": "text", "text": text}]},
            }
        )
        + "\n"
    )
