"""`python -m benchmarks speed --data URL`: the same workload in banks on a server, beside its existing data."""

from __future__ import annotations

import statistics
import time
from typing import Any
from uuid import uuid4

import click

from benchmarks.context import telling
from benchmarks.exact import exactness
from benchmarks.filled import Filled, Say, filled
from benchmarks.rows import Row, quantile
from benchmarks.speed import SINGLE_WRITES, filling, machine, recalling
from pieria.record.address import is_server

RECALL_TARGETS = ((100_000, 25.0),)


def measure_server(url: str, sizes: list[int], say: Say) -> dict[str, Any]:
    """Return the rows for each size of bank. The vector index is built as `doctor` with repair builds it."""
    if not is_server(url):
        raise click.BadParameter("name a server, as postgresql://host/database", param_hint="--data")
    rows: list[Row] = []
    banks = []
    for size in sorted(sizes):
        banks.append(f"bench-{size}-{uuid4().hex[:8]}")
        with filled(url, size, say, banks[-1]) as full:
            rows += [*filling(full)[:1], _indexing(full), _writing(full, say)]
            rows += [*recalling(full, RECALL_TARGETS, say), *exactness(full), *telling(full, say)]
    notes = [f"These banks were made and are still there: {', '.join(banks)}."]
    return {"machine": machine(), "sizes": sorted(sizes), "rows": [row.as_dict() for row in rows], "notes": notes}


def _indexing(full: Filled) -> Row:
    begun = time.perf_counter()
    full.bank.doctor(repair=True)
    seconds = time.perf_counter() - begun
    return Row(
        f"doctor with repair at {full.size:,}, which builds the vector index", round(seconds, 1), "s", "", None, {}
    )


def _writing(full: Filled, say: Say) -> Row:
    took = []
    for number in range(SINGLE_WRITES):
        begun = time.perf_counter()
        full.write_one()
        took.append(1000 * (time.perf_counter() - begun))
        say("writing one at a time", number + 1, SINGLE_WRITES)
    detail = {"p95_ms": round(quantile(took, 0.95), 3)}
    return Row(f"remember at {full.size:,}, p50", round(statistics.median(took), 3), "ms", "", None, detail)
