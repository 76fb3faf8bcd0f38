"""`pieria bench speed`: the budgets, measured on the fixed workload. Ratios are taken within one run."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pieria.bank import Bank
from pieria.doors.bench.bare import Rows
from pieria.doors.bench.workload import FILTERS, Workload, place
from pieria.workspace import Workspace

QUESTIONS = 500
WRITE_EVERY = 10
SINGLE_WRITES = 300
BULK = 20_000
ROUNDS = 5
RECALL_TARGETS = ((100_000, 8.0), (1_000_000, 20.0))
Say = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One budget: what was measured, in which unit, what is asked, and whether it is met (None: nothing is asked)."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    detail: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure(sizes: list[int], say: Say) -> dict[str, Any]:
    """Every row, for each size of bank; the growth from one size to the next where there are several."""
    rows = [*_starting(say)]
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        data = Path(folder)
        rows += _writing(data / "writing", say)
        medians: dict[int, float] = {}
        for size in sorted(sizes):
            with _filled(data / f"recall-{size}", size, say) as (bank, workload, texts, bulk):
                rows += bulk
                recalled = _recalling(bank, workload, texts, say)
                medians[size] = recalled[0].value
                rows += recalled
        rows += _growth(medians)
    return {"machine": _machine(), "sizes": sorted(sizes), "rows": [row.as_dict() for row in rows]}


def _starting(say: Say) -> Iterator[Row]:
    timed = "import time; t = time.perf_counter(); import pieria; print(1000 * (time.perf_counter() - t))"
    started = "from pieria.doors.cli import main; main()"
    imports, helps = [], []
    for number in range(ROUNDS):
        said = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)  # noqa: S603
        imports.append(float(said.stdout))
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", started, "--help"], capture_output=True, check=True)  # noqa: S603
        helps.append(1000 * (time.perf_counter() - begun))
        say("starting", number + 1, ROUNDS)
    yield _below("import pieria", imports, 150.0)
    yield _below("pieria --help", helps, 300.0)


def _writing(data: Path, say: Say) -> list[Row]:
    workload = Workload()
    ours, bare, ratios = [], [], []
    for number in range(ROUNDS):
        items = [{"text": text, "place": place(n)} for n, text in enumerate(workload.texts(BULK))]
        with _bank(data / f"ours-{number}") as bank:
            begun = time.perf_counter()
            bank.remember_many(items)
            ours.append(time.perf_counter() - begun)
            rows = Rows(bank.data / "bench.db")
        bare.append(rows.seconds_in_bulk(data / f"bare-{number}.db"))
        ratios.append(bare[-1] / ours[-1])
        say("writing in bulk", number + 1, ROUNDS)
    rate = BULK / statistics.median(ours)
    share = statistics.median(ratios)
    detail = {"bare_per_second": round(BULK / statistics.median(bare)), "each": [round(BULK / t) for t in ours]}
    return [
        Row("remember_many without vectors", round(rate), "memories/s", "≥ 8,000/s", rate >= 8_000, detail),
        Row("remember_many, share of bare", round(share, 3), "ratio", "≥ 0.35", share >= 0.35, {"each": ratios}),
        _one_at_a_time(data, workload, rows, say),
    ]


def _one_at_a_time(data: Path, workload: Workload, rows: Rows, say: Say) -> Row:
    """Ours and bare in turn, so that the machine's moods meet both."""
    ours, bare = [], []
    with _bank(data / "single") as bank, rows.target(data / "bare-single.db") as connection:
        for number in range(SINGLE_WRITES):
            text = workload.text()
            begun = time.perf_counter()
            bank.remember(text)
            ours.append(1000 * (time.perf_counter() - begun))
            bare.append(1000 * rows.seconds_one_by_one(connection, number))
            say("writing one at a time", number + 1, SINGLE_WRITES)
    p50, bare_p50 = statistics.median(ours), statistics.median(bare)
    detail = {"bare_p50_ms": round(bare_p50, 3), "p95_ms": round(_quantile(ours, 0.95), 3)}
    return Row("remember, p50", round(p50, 3), "ms", f"≤ {bare_p50 + 1:.3f} (bare + 1)", p50 <= bare_p50 + 1, detail)


@contextmanager
def _filled(data: Path, size: int, say: Say) -> Iterator[tuple[Bank, Workload, list[str], list[Row]]]:
    workload = Workload()
    texts = list(workload.texts(size))
    with _bank(data) as bank:
        begun = time.perf_counter()
        bank.remember_many(
            ({"text": text, "place": place(number)} for number, text in enumerate(texts)),
            progress=lambda done, whole: say(f"filling {size:,}", done, whole),
        )
        seconds = time.perf_counter() - begun
        held = bank.stats().store["bytes"] / size
        bulk = [
            Row(f"filled {size:,}", round(size / seconds), "memories/s", "", None, {"seconds": round(seconds, 1)}),
            Row(f"disk a memory at {size:,}", round(held), "bytes", "≤ 4,000", held <= 4_000, {}),
        ]
        yield bank, workload, texts, bulk


def _recalling(bank: Bank, workload: Workload, texts: list[str], say: Say) -> list[Row]:
    size = len(texts)
    target = next((limit for least, limit in reversed(RECALL_TARGETS) if size >= least), None)
    rows = [_recall_row(bank, workload, texts, f"recall at {size:,}, p50", None, target, say)]
    for share, (wing, _) in FILTERS.items():
        name = f"recall at {size:,}, a filter passing {share}, p50"
        rows.append(_recall_row(bank, workload, texts, name, wing, target, say))
    return rows


def _recall_row(
    bank: Bank, workload: Workload, texts: list[str], name: str, wing: str | None, target: float | None, say: Say
) -> Row:
    took = []
    for number in range(QUESTIONS):
        if number % WRITE_EVERY == 0:
            bank.remember(workload.text(), place="rest/room")
        question = workload.question(workload.one_of(texts))
        begun = time.perf_counter()
        bank.recall(question, k=10, place=wing)
        took.append(1000 * (time.perf_counter() - begun))
        say(name, number + 1, QUESTIONS)
    p50 = statistics.median(took)
    detail = {"p95_ms": round(_quantile(took, 0.95), 3), "max_ms": round(max(took), 3)}
    met = None if target is None else p50 < target
    return Row(name, round(p50, 3), "ms", "" if target is None else f"< {target:g}", met, detail)


def _growth(medians: dict[int, float]) -> Iterator[Row]:
    sizes = sorted(medians)
    for small, large in pairwise(sizes):
        growth = medians[large] / medians[small]
        allowed = 2.0 if large == 10 * small else None
        target = "≤ 2" if allowed else ""
        met = growth <= allowed if allowed else None
        yield Row(f"recall, from {small:,} to {large:,}", round(growth, 2), "times", target, met, {})


@contextmanager
def _bank(data: Path) -> Iterator[Bank]:
    """Without an embedder: no row here asks for vectors, and a model in the background would be timed with it."""
    with Workspace(data=data, settings={"embedder": "none"}) as workspace, workspace.open("bench") as bank:
        yield bank


def _below(name: str, took: list[float], limit: float) -> Row:
    value = statistics.median(took)
    return Row(name, round(value, 1), "ms", f"< {limit:g}", value < limit, {"each": [round(t, 1) for t in took]})


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _machine() -> dict[str, Any]:
    return {"python": platform.python_version(), "cores": os.cpu_count(), "system": platform.system()}
