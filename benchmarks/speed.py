"""`python -m benchmarks speed`: the budgets, measured on the fixed workload. Ratios are taken within one run.

Memories come with their vectors, and queries' vectors are made beforehand. Only rows that name the model include its
time.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import mcp_server as serving
from benchmarks import modelled
from benchmarks.bare import Rows
from benchmarks.context import telling
from benchmarks.exact import exactness
from benchmarks.filled import Filled, Say, filled
from benchmarks.rows import Row, below, quantile
from benchmarks.vectors import DIMENSION, Meaning
from benchmarks.workload import FILTERS, Workload, place
from pieria.bank import Bank
from pieria.workspace import Workspace

QUESTIONS = 500
WRITE_EVERY = 10
SINGLE_WRITES = 300
BULK = 20_000
ROUNDS = 5
RECALL_TARGETS = ((100_000, 8.0), (1_000_000, 20.0))


def measure(sizes: list[int], say: Say) -> dict[str, Any]:
    """Return the rows for each size of bank and, for several sizes, the growth between them."""
    rows = [*_starting(say)]
    notes = []
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        data = Path(folder)
        rows += serving.rows(data / "serving", say)
        rows += _writing(data / "writing", say)
        medians: dict[int, float] = {}
        for size in sorted(sizes):
            with filled(data / f"recall-{size}", size, say) as full:
                rows += filling(full)
                recalled = recalling(full, RECALL_TARGETS, say)
                medians[size] = recalled[0].value
                rows += [*recalled, *exactness(full), *telling(full, say)]
        rows += _growth(medians)
        if modelled.is_installed():
            rows += modelled.measured(data, min(sizes), medians, say)
        else:
            notes.append(modelled.MISSING)
    return {"machine": machine(), "sizes": sorted(sizes), "rows": [row.as_dict() for row in rows], "notes": notes}


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
    yield below("import pieria", imports, 150.0)
    yield below("pieria --help", helps, 300.0)


def _writing(data: Path, say: Say) -> list[Row]:
    without, rows = _in_bulk(data / "without", "without vectors", None, say)
    supplied, _ = _in_bulk(data / "supplied", "with vectors supplied", Meaning(), say)
    return [*without, *supplied, _one_at_a_time(data, rows, say)]


def _in_bulk(data: Path, what: str, meaning: Meaning | None, say: Say) -> tuple[list[Row], Rows]:
    """Measure Pieria and bare SQLite in turn."""
    workload = Workload()
    ours, bare, ratios = [], [], []
    for number in range(ROUNDS):
        items: list[dict[str, Any]] = [{"text": text, "place": place(n)} for n, text in enumerate(workload.texts(BULK))]
        if meaning is not None:
            vectors = meaning.vectors([meaning.subject() for _ in items])
            items = [{**item, "vectors": vector} for item, vector in zip(items, vectors, strict=True)]
        with _bank(data / f"ours-{number}", meaning) as bank:
            begun = time.perf_counter()
            bank.remember_many(items)
            ours.append(time.perf_counter() - begun)
            rows = Rows(Path(bank.stats().store["path"]))
        bare.append(rows.seconds_in_bulk(data / f"bare-{number}.db"))
        ratios.append(bare[-1] / ours[-1])
        say(f"writing in bulk {what}", number + 1, ROUNDS)
    rate = BULK / statistics.median(ours)
    share = statistics.median(ratios)
    detail = {"bare_per_second": round(BULK / statistics.median(bare)), "each": [round(BULK / t) for t in ours]}
    return [
        Row(f"remember_many {what}", round(rate), "memories/s", "≥ 8,000/s", rate >= 8_000, detail),
        Row(f"remember_many {what}, share of bare", round(share, 3), "ratio", "≥ 0.35", share >= 0.35,
            {"each": ratios}),
    ], rows  # fmt: skip


def _one_at_a_time(data: Path, rows: Rows, say: Say) -> Row:
    """Measure Pieria and bare SQLite in turn, so that the machine's load affects both."""
    workload = Workload()
    ours, bare = [], []
    with _bank(data / "single", None) as bank, rows.target(data / "bare-single.db") as connection:
        for number in range(SINGLE_WRITES):
            text = workload.text()
            begun = time.perf_counter()
            bank.remember(text)
            ours.append(1000 * (time.perf_counter() - begun))
            bare.append(1000 * rows.seconds_one_by_one(connection, number))
            say("writing one at a time", number + 1, SINGLE_WRITES)
    p50, bare_p50 = statistics.median(ours), statistics.median(bare)
    detail = {"bare_p50_ms": round(bare_p50, 3), "p95_ms": round(quantile(ours, 0.95), 3)}
    return Row("remember, p50", round(p50, 3), "ms", f"≤ {bare_p50 + 1:.3f} (bare + 1)", p50 <= bare_p50 + 1, detail)


def filling(full: Filled) -> list[Row]:
    size, seconds = full.size, full.seconds
    store = full.bank.stats().store
    held = store["bytes"] / size
    # Vectors are float16, with one bit a number for the code; a tenth of the memories has a window as well.
    detail = {"of_vectors": round(1.1 * (2 * DIMENSION + DIMENSION / 8))}
    return [
        Row(f"filled {size:,}, with windows", round(size / seconds), "memories/s", "", None,
            {"seconds": round(seconds, 1)}),
        Row(f"disk a memory at {size:,}", round(held), "bytes", "≤ 4,000", held <= 4_000, detail),
    ]  # fmt: skip


def recalling(full: Filled, targets: Sequence[tuple[int, float]], say: Say) -> list[Row]:
    """`targets` are pairs of the smallest size for a target, and the target in milliseconds."""
    target = next((limit for least, limit in reversed(targets) if full.size >= least), None)
    rows = [_recall_row(full, f"recall at {full.size:,}, p50", None, target, say)]
    for share, (wing, _) in FILTERS.items():
        name = f"recall at {full.size:,}, a filter passing {share}, p50"
        rows.append(_recall_row(full, name, wing, target, say))
    return rows


def _recall_row(full: Filled, name: str, wing: str | None, target: float | None, say: Say) -> Row:
    took, worked = [], []
    for number in range(QUESTIONS):
        if number % WRITE_EVERY == 0:
            full.write_one()
        question, _ = full.question()
        begun, idle = time.perf_counter(), time.process_time()
        full.bank.recall(question, k=10, place=wing)
        worked.append(1000 * (time.process_time() - idle))
        took.append(1000 * (time.perf_counter() - begun))
        say(name, number + 1, QUESTIONS)
    p50 = statistics.median(took)
    detail = {
        "p95_ms": round(quantile(took, 0.95), 3),
        "max_ms": round(max(took), 3),
        "processor_p50_ms": round(statistics.median(worked), 3),
    }
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
def _bank(data: Path, meaning: Meaning | None) -> Iterator[Bank]:
    """Yield a bank. Without vectors it has no embedder either: a background model would distort the times."""
    given: dict[str, Any] = {"embedder": "none" if meaning is None else meaning.embed}
    with Workspace(data=data, **given) as workspace, workspace.open("bench") as bank:
        yield bank


def machine() -> dict[str, Any]:
    return {"python": platform.python_version(), "cores": os.cpu_count(), "system": platform.system()}
