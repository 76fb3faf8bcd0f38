"""`python -m benchmarks imports`: each system's store imported once, and again when nothing has changed."""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.import_stores import STORES, written
from benchmarks.rows import Row
from benchmarks.speed import machine
from pieria.importers import import_from
from pieria.workspace import Workspace


def measure(systems: Sequence[str], items: int, say: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Import each store in a process of its own, whose memory is then that of the import. There are no vectors."""
    rows: list[Row] = []
    chosen = list(systems or STORES)
    for number, system in enumerate(chosen):
        say(system, number, len(chosen))
        rows += _measured(system, items)
    return {"machine": machine(), "items": items, "rows": [row.as_dict() for row in rows], "notes": []}


def _measured(system: str, items: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        source = written(system, Path(folder), items)
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_import, args=(system, str(source), folder, there))
        process.start()
        there.close()
        told = here.recv()
        process.join()
    first, again, most, counts = told["first"], told["again"], told["most"], told["counts"]
    same = again["counts"] == {"unchanged": sum(counts.values())} if counts else False
    return [
        Row(f"{system}: {items:,} items", round(first, 1), "s", "", None, {"memories": counts, **told["more"]}),
        Row(f"{system}: the same again", round(again["seconds"], 1), "s", "unchanged", same, again["counts"]),
        Row(f"{system}: memory taken at most beyond what was held", round(most, 1), "MB", "< 256", most < 256, {}),
    ]


def _import(system: str, source: str, folder: str, told: Connection) -> None:
    at = Workspace(data=Path(folder) / "data", settings={"embedder": "none"})
    with at as workspace, workspace.open("bench") as bank:
        bank.remember("Load what a bank needs.")
        held = _most()
        first = import_from(bank, system, source)
        most = _most() - held
        again = import_from(bank, system, source)
    more = {"facts": dict(first.facts), "links": dict(first.links), "problems": first.problem_count}
    told.send(
        {
            "first": first.seconds,
            "most": most,
            "counts": dict(first.memories),
            "more": {what: count for what, count in more.items() if count},
            "again": {"seconds": again.seconds, "counts": dict(again.memories)},
        }
    )
    told.close()


def _most() -> float:
    """Return this process's peak memory in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
