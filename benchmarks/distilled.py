"""Disk space of an agent's event after distillation, with its vectors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.filled import Say
from benchmarks.rows import Row
from benchmarks.vectors import Meaning
from benchmarks.workload import Workload
from pieria.workspace import Workspace

SESSION = 100
"""Events of a session, which is then ended, distilled and summarised."""
TARGET = 3_000.0
"""Bytes an event."""
BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def distilling(events: int, say: Say) -> Row:
    spent = 0.0
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        with Workspace(Path(folder), embedder=Meaning().embed) as workspace, workspace.open("bench") as bank:
            for number in range(events // SESSION):
                bank.observe(_session(number))
                begun = process_time()
                bank.distil()
                spent += process_time() - begun
                bank.upkeep.summarize(f"s{number}")
                say("distilling", (number + 1) * SESSION, events)
            bank.sync()
            stats = bank.stats()
        # Close first, so that no data waits in the log file.
        held = sum(path.stat().st_size for path in Path(folder).glob("bench.db*"))
    each = held / events
    kinds = stats.by_kind
    detail = {"events": events, "bytes": held, "turns": kinds.get("turn", 0)}
    detail |= {"observations": kinds.get("observation", 0), "summaries": kinds.get("summary", 0)}
    detail |= {"lessons": kinds.get("procedural", 0), "processor_us_an_event": round(1e6 * spent / events)}
    return Row(
        "disk an event, distilled, with vectors", round(each), "bytes", f"≤ {TARGET:,.0f}", each <= TARGET, detail
    )


def _session(number: int) -> Iterator[dict[str, Any]]:
    workload = Workload(number)
    at = BEGUN + timedelta(hours=number)
    for place in range(SESSION):
        last = place == SESSION - 1
        told = {"what": "end"} if last else _event(workload, number, place)
        yield {"host": "bench", "session": f"s{number}", "at": at + timedelta(seconds=30 * place), **told}


def _event(workload: Workload, session: int, place: int) -> dict[str, Any]:
    """Return an event. Of ten: a prompt, a reply, a search, two reads, a failing test, two edits, the passing test,
    a commit.
    """
    task, step = divmod(place, 10)
    name = f"src/part{(7 * session + task) % 400}.py"
    tests = {"tool": "Bash", "input": {"command": f"pytest -q tests/test_{(7 * session + task) % 400}.py"}}
    words = workload.text
    match step:
        case 0:
            return {"what": "prompt", "text": f"Please look why this fails: {words()} {words()}"}
        case 1:
            found = "\n".join(f"{name}:{line}: {words()}" for line in range(20))
            return {"what": "tool", "tool": "Grep", "input": {"pattern": words()[:20]}, "text": found}
        case 2 | 3:
            return {"what": "tool", "tool": "Read", "input": {"file_path": name}, "text": "x = 1\n" * 400}
        case 4:
            text = f"E   ValueError: {words()}\n" + "\n".join(words() for _ in range(30)) + "\n1 failed, 3 passed"
            return {"what": "tool", **tests, "text": text, "failed": True}
        case 5 | 6:
            given = {"file_path": name, "old_string": words(), "new_string": f"{words()} {words()}"}
            return {"what": "tool", "tool": "Edit", "input": given, "text": "The file was changed."}
        case 7:
            return {"what": "tool", **tests, "text": "4 passed", "failed": False}
        case 8:
            given = {"command": f"git commit -am '{words()[:50]}'"}
            return {"what": "tool", "tool": "Bash", "input": given, "text": "1 file changed", "failed": False}
    return {"what": "reply", "text": " ".join(words() for _ in range(4))}
