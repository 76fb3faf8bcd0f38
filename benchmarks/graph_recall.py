"""`python -m benchmarks graph`: the time of a recall from a bank's graph, without models and minds."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from benchmarks.filled import Say
from benchmarks.graphs import GraphWorkload
from benchmarks.rows import Row, quantile
from benchmarks.speed import machine
from pieria.record.address import is_server
from pieria.workspace import Workspace

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.learning.retrieval import Looking
    from pieria.models.mind import Mind

QUESTIONS, WARMING = 200, 20
TARGET = 25.0
FROM = 200_000
"""Largest number of nodes at which the target must be met."""


def measure_graph(size: int, say: Say) -> dict[str, Any]:
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        rows = _measured(Path(folder), "b", size, say, TARGET)
    return {"machine": machine(), "rows": [row.as_dict() for row in rows], "notes": []}


def measure_graph_on_server(url: str, size: int, say: Say) -> dict[str, Any]:
    """Measure beside a server's existing data; there is no target for servers."""
    if not is_server(url):
        raise click.BadParameter("name a server, as postgresql://host/database", param_hint="--data")
    name = f"bench-graph-{uuid4().hex[:8]}"
    rows = _measured(url, name, size, say, None)
    notes = [f"This bank was made and is still there: {name}."]
    return {"machine": machine(), "rows": [row.as_dict() for row in rows], "notes": notes}


def _measured(data: Path | str, name: str, size: int, say: Say, target: float | None) -> list[Row]:
    workload = GraphWorkload()
    with Workspace(data=data, embedder=workload.meaning.embed) as workspace, workspace.open(name) as bank:
        begun = time.perf_counter()
        workload.fill(bank, size, say)
        seconds = time.perf_counter() - begun
        return [
            Row(f"filled {workload.size:,} nodes", round(workload.size / seconds), "nodes/s", "", None, {}),
            *_asked(bank, workload, say, target),
        ]


def _asked(bank: Bank, workload: GraphWorkload, say: Say, target: float | None) -> list[Row]:
    """Measure recall. Mode, terms and vectors are ready, so neither mind nor model adds time."""
    took: list[float] = []
    worked: list[float] = []
    found = 0
    for number in range(WARMING + QUESTIONS):
        question, tags = workload.question()
        looking = _looking(bank, tags)
        begun, idle = time.perf_counter(), time.process_time()
        result, _ = looking.find(question)
        if number >= WARMING:
            worked.append(1000 * (time.process_time() - idle))
            took.append(1000 * (time.perf_counter() - begun))
            found += len(result.all)
        say("asking the graph", number + 1, WARMING + QUESTIONS)
    p50 = statistics.median(took)
    detail = {
        "p95_ms": round(quantile(took, 0.95), 3),
        "processor_p50_ms": round(statistics.median(worked), 3),
        "nodes_each": round(found / QUESTIONS, 1),
    }
    name = f"recall from a graph of {workload.size:,} nodes, two hops, p50"
    if target is None or workload.size > FROM * 1.01:
        return [Row(name, round(p50, 3), "ms", "", None, detail)]
    return [Row(name, round(p50, 3), "ms", f"< {target:g}", p50 < target, detail)]


def _looking(bank: Bank, tags: list[str]) -> Looking:
    from pieria.config import Config
    from pieria.graph.value_function import values_of
    from pieria.learning.retrieval import Looking

    config = Config(llm={"model": "none"}, embedding={"model": "auto"}, refinement_budget=0)
    return Looking(
        mind=_ready(tags),
        embedder=None,
        searching=bank.graph._searching(),
        values=values_of(None, config),
        config=config,
        max_hops=2,
    )


def _ready(tags: list[str]) -> Mind:
    """Return a mind that already knows mode and terms."""
    from pieria.models.minds.rules import RuleMind

    class Ready(RuleMind):
        def mode(self, query: str) -> Any:
            return "mixed"

        def plan(self, query: str, mode: Any) -> list[str]:
            return tags

    return Ready()
