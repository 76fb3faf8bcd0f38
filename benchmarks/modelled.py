"""What the model costs: writing with vectors, a recall in a new process, and memory.

Telemetry gives the model's own time, so that it can be separated from ours.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.filled import STEP, Say
from benchmarks.rows import Row
from benchmarks.vectors import Meaning
from benchmarks.workload import Workload, place
from pieria import telemetry
from pieria.bank import Bank
from pieria.workspace import Workspace

TEXTS = 1_000
QUESTIONS = 100
STARTS = 5
KIB = 1_024
PROCESSES = Path("/proc/self/status")
"""Memory of a process on Linux; other systems would need a dependency."""
EMBEDDED = (("pieria", "embedding", "embed_batch", "stop"), ("pieria", "embedding", "embed", "stop"))
MISSING = "no model is installed, so nothing that takes one was measured: `pieria models install`"
_RESIDENT = """
import json, sys
from pathlib import Path
from pieria.workspace import Workspace
with Workspace(data=sys.argv[1], embedder="auto") as workspace, workspace.open("bench") as bank:
    for question in json.load(sys.stdin):
        bank.recall(question, k=10)
    bank.remember("so that the model is loaded")
    bank.sync(60)
    told = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    print(json.dumps({name: int(told[name].split()[0]) for name in ("VmRSS", "VmHWM")}))
"""


class Model:
    """Collects the model's own time from telemetry events."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def heard(self, event: telemetry.Event, measured: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        if event in EMBEDDED:
            self.seconds.append(measured["duration"] / 1e9)


def is_installed() -> bool:
    with Workspace() as workspace:
        return any(model.state == "installed" for model in workspace.models.list())


def measured(data: Path, size: int, recalls: Mapping[int, float], say: Say) -> Iterator[Row]:
    """`recalls` are median recall times by size, in ms, without the model's time."""
    yield _throughput(data / "model-writing", say)
    with _bank(data / "model") as (bank, model):
        questions = _fill(bank, size, say)
        took = _of_questions(bank, model, questions)
    yield Row("the model, a question of 8 words, p50", round(took, 3), "ms", "", None, {})
    for held, alone in recalls.items():
        both = alone + took
        met = both < 12 if held == 100_000 else None
        detail = {"recall_ms": round(alone, 3), "model_ms": round(took, 3)}
        name = f"recall at {held:,}, with query embedding, p50"
        yield Row(name, round(both, 3), "ms", "< 12" if held == 100_000 else "", met, detail)
    yield _fresh(data / "model", size, questions, say)
    if PROCESSES.exists():
        yield _resident(data / "model", size, questions)


def _throughput(data: Path, say: Say) -> Row:
    """Measure the time that we add to the model's own while writing."""
    items = [{"text": text, "place": place(n)} for n, text in enumerate(Workload().texts(TEXTS))]
    with _bank(data) as (bank, model):
        bank.remember("so that the model is loaded")
        bank.sync(60)
        model.seconds.clear()
        begun = time.perf_counter()
        bank.remember_many(items, lambda done, whole: say("writing with the model", done, whole))
        seconds = time.perf_counter() - begun
    share = sum(model.seconds) / seconds
    detail = {"per_second": round(TEXTS / seconds), "model_per_second": round(TEXTS / sum(model.seconds))}
    name = "remember_many with the model, share of its own throughput"
    return Row(name, round(share, 3), "ratio", "≥ 0.9", share >= 0.9, detail)


def _fill(bank: Bank, size: int, say: Say) -> list[str]:
    """Fill the bank with given vectors, because the model would take minutes; return some queries."""
    bank.remember("so that the bank is the model's")
    bank.sync(60)
    workload, meaning = Workload(), Meaning()
    texts = list(workload.texts(size))
    for begin in range(0, size, STEP):
        part = texts[begin : begin + STEP]
        vectors = meaning.vectors([meaning.subject() for _ in part])
        bank.remember_many(
            {"text": text, "place": place(begin + n), "vectors": vector}
            for n, (text, vector) in enumerate(zip(part, vectors, strict=True))
        )
        say(f"filling {size:,} for the model", begin + len(part), size)
    return [workload.question(workload.one_of(texts)) for _ in range(QUESTIONS)]


def _of_questions(bank: Bank, model: Model, questions: list[str]) -> float:
    """Return the model's median time for a query, in ms."""
    took = []
    for question in questions:
        model.seconds.clear()
        bank.remember(question)
        bank.sync(60)
        took.append(1000 * sum(model.seconds))
    return statistics.median(took)


def _fresh(data: Path, size: int, questions: list[str], say: Say) -> Row:
    started = "from pieria.doors.cli import main; main()"
    took = []
    for number, question in enumerate(questions[:STARTS]):
        command = [sys.executable, "-c", started, "recall", question, "--data", str(data), "--bank", "bench", "--json"]
        begun = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - our own command
        took.append(time.perf_counter() - begun)
        say("recall in a new process", number + 1, STARTS)
    value = statistics.median(took)
    met = value < 1.5 if size == 100_000 else None
    name = f"pieria recall in a new process, with the model, at {size:,}"
    return Row(name, round(value, 3), "s", "< 1.5", met, {"each": [round(t, 3) for t in took]})


def _resident(data: Path, size: int, questions: list[str]) -> Row:
    asked = json.dumps(questions)
    command = [sys.executable, "-c", _RESIDENT, str(data)]
    said = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)  # noqa: S603
    held, most = (json.loads(said.stdout)[name] * KIB / 1_000_000 for name in ("VmRSS", "VmHWM"))
    met = held < 500 if size == 100_000 else None
    name = f"resident memory with the model, at {size:,}"
    return Row(name, round(held), "MB", "< 500", met, {"most": round(most)})


@contextmanager
def _bank(data: Path) -> Iterator[tuple[Bank, Model]]:
    model = Model()
    detach = telemetry.attach(model.heard)
    try:
        with Workspace(data=data, embedder="auto") as workspace, workspace.open("bench") as bank:
            yield bank, model
    finally:
        detach()
