"""`python -m benchmarks sleep`: the time and memory of a sleep on a large bank, and of a second one."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.filled import STEP, Say
from benchmarks.rows import Row
from benchmarks.speed import machine
from benchmarks.vectors import Meaning
from benchmarks.workload import Workload
from pieria.record.time import system_clock
from pieria.workspace import Workspace

YEARS = timedelta(days=3 * 365)
LIMIT = 60.0


@dataclass
class _Interrupt:
    """Stops a sleep like Ctrl-C does, after so many groups."""

    after: int

    def __call__(self, done: int, whole: int) -> None:
        if done >= self.after:
            raise KeyboardInterrupt


def measure(size: int, say: Say) -> dict[str, Any]:
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        rows = list(_rows(Path(folder), size, say))
    return {"machine": machine(), "sizes": [size], "rows": [row.as_dict() for row in rows], "notes": []}


def _rows(folder: Path, size: int, say: Say) -> Iterator[Row]:
    meaning, workload = Meaning(), Workload()
    with Workspace(folder, {"sleep": "off"}, embedder=meaning.embed) as workspace, workspace.open("bench") as bank:
        begin = system_clock() - YEARS - timedelta(days=2)
        for done in range(0, size, STEP):
            count = min(STEP, size - done)
            vectors = meaning.vectors([meaning.subject() for _ in range(count)])
            bank.remember_many(
                {"text": text, "vectors": vector, "at": _at(begin, done + number, size)}
                for number, (text, vector) in enumerate(zip(workload.texts(count), vectors, strict=True))
            )
            say(f"filling {size:,}", done + count, size)
        held = _peak()
        try:
            bank.upkeep.sleep(limit=size, progress=_Interrupt(20))
        except KeyboardInterrupt:
            yield Row("summaries kept of an interrupted sleep", bank.count(kinds="summary"), "", "", None, {})
        for name in ("first", "second"):
            begun, worked = time.perf_counter(), time.process_time()
            slept = bank.upkeep.sleep(limit=size)
            seconds = time.perf_counter() - begun
            counted = {"examined": slept.examined, "summaries": len(slept.summaries), "in groups": slept.consolidated}
            counted["processor_seconds"] = round(time.process_time() - worked)
            yield Row(f"{name} sleep, {size:,} notes", round(seconds, 1), "s", f"< {LIMIT:g}", seconds < LIMIT, counted)
        yield Row("memory at most, the process", round(_peak()), "MB", "", None, {"when it was filled": round(held)})


def _at(begin: datetime, number: int, size: int) -> datetime:
    return begin + YEARS * (number / size)


def _peak() -> float:
    """Return this process's peak memory in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
