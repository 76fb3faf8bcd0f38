"""How long a host waits for context: the process of a hook, with the model, from its start to its end."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.filled import Say
from benchmarks.processes import ran
from benchmarks.rows import Row, quantile
from benchmarks.workload import Workload, place
from pieria.capture.install.commands import CONTEXT, Commands
from pieria.workspace import Workspace

MEMORIES, RULES, RUNS = 2_000, 10, 20
TARGET = 1_000.0
"""Milliseconds, for the median."""
BANK = "app"


def telling_hooks(say: Say) -> Iterator[Row]:
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        project = Path(folder, "app")
        project.mkdir()
        data = Path(folder, "data")
        data.mkdir()
        data.joinpath("pieria.toml").write_text(f'bank = "{BANK}"\n')
        questions = _fill(data, say)
        command = Commands("claude-code", data / "spool", data).argv(CONTEXT)
        for name, payloads in {
            "context, when a session begins": [_begun(f"s{n}", project) for n in range(RUNS)],
            "context, with a prompt": [_asked("s0", project, question) for question in questions],
        }.items():
            yield _row(name, command, payloads, say)


def _fill(data: Path, say: Say) -> list[str]:
    """Fill a bank with the installed model; return a query for each run."""
    workload = Workload()
    texts = list(workload.texts(MEMORIES))
    with Workspace(data) as workspace, workspace.open(BANK) as bank:
        bank.remember_many([{"text": text, "place": place(n)} for n, text in enumerate(texts)])
        bank.remember_many(
            [{"text": f"Always write module{n} in lower case.", "author_type": "human"} for n in range(RULES)]
        )
        bank.sync(progress=lambda done, whole: say(f"filling {MEMORIES:,}", done, whole))
    return [workload.question(workload.one_of(texts)) for _ in range(RUNS)]


def _row(name: str, command: list[str], payloads: list[dict[str, Any]], say: Say) -> Row:
    runs = []
    for number, payload in enumerate(payloads):
        runs.append(ran(command, json.dumps(payload).encode()))
        say(name, number + 1, len(payloads))
    took = [run.milliseconds for run in runs]
    p50 = statistics.median(took)
    detail = {
        "p95_ms": round(quantile(took, 0.95), 1),
        "processor_p50_ms": round(statistics.median(run.processor for run in runs), 1),
        "runs": len(runs),
    }
    return Row(f"{name}, beside {MEMORIES:,} memories, p50", round(p50, 1), "ms", f"< {TARGET:g}", p50 < TARGET, detail)


def _begun(session: str, project: Path) -> dict[str, Any]:
    return {"hook_event_name": "SessionStart", "session_id": session, "cwd": str(project), "source": "startup"}


def _asked(session: str, project: Path, prompt: str) -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(project), "prompt": prompt}
