"""`python -m benchmarks graphcare`: the time to keep a large graph in order, two months after it was learnt."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.filled import Say
from benchmarks.graphs import GraphWorkload
from benchmarks.rows import Row
from benchmarks.speed import machine
from pieria.record.time import system_clock
from pieria.workspace import Workspace

if TYPE_CHECKING:
    from pieria.bank import Bank

LATER = timedelta(days=60)
REPEATED = 20
"""One of so many facts is repeated."""
SECONDS = {"consolidate": 60.0, "prune": 20.0}


class _Moved:
    """A clock that runs two months late until it is moved on."""

    def __init__(self) -> None:
        self.back = LATER

    def __call__(self) -> datetime:
        return system_clock() - self.back


def measure(size: int, say: Say) -> dict[str, Any]:
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        rows = list(_rows(Path(folder), size, say))
    return {"machine": machine(), "sizes": [size], "rows": [row.as_dict() for row in rows], "notes": []}


def _rows(folder: Path, size: int, say: Say) -> Iterator[Row]:
    clock, workload = _Moved(), GraphWorkload()
    with Workspace(folder, embedder=workload.meaning.embed, clock=clock) as workspace, workspace.open("bench") as bank:
        workload.fill(bank, size, say)
        _say_again(bank, workload)
        clock.back = timedelta()
        held = _peak()
        graph = bank.graph
        runs: dict[str, Callable[[], Mapping[str, Any]]] = {
            "validate": graph.validate,
            "consolidate": graph.consolidate,
            "prune": graph.prune,
            "repair": graph.repair,
        }
        for name, run in runs.items():
            begun, worked = time.perf_counter(), time.process_time()
            done = run()
            seconds, limit = time.perf_counter() - begun, SECONDS.get(name)
            counted = {key: len(value) if isinstance(value, list) else value for key, value in done.items()}
            counted["processor_seconds"] = round(time.process_time() - worked, 1)
            target, met = ("", None) if limit is None else (f"< {limit:g}", seconds < limit)
            yield Row(f"{name}, {size:,} nodes", round(seconds, 1), "s", target, met, counted)
        yield Row("memory at most, the process", round(_peak()), "MB", "", None, {"when it was filled": round(held)})


def _say_again(bank: Bank, workload: GraphWorkload) -> None:
    """Add near-duplicates of facts, with the same tags."""
    from pieria.graph import Changeset

    again = []
    for number, _ in workload.facts[::REPEATED]:
        node = bank.graph.get_node(f"n{number}")
        assert node is not None
        again.append(replace(node, id=f"again{number}"))
    bank.graph.apply_changeset(Changeset(again))


def _peak() -> float:
    """Return this process's peak memory in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
