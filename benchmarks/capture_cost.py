"""`python -m benchmarks capture`: the cost of hooks for the agent that waits for them, and of their events in the
background.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.distilled import distilling
from benchmarks.filled import Say, filled
from benchmarks.modelled import MISSING, is_installed
from benchmarks.processes import ran
from benchmarks.rows import Row, quantile
from benchmarks.speed import machine
from benchmarks.telling_hooks import telling_hooks
from pieria.capture.drain import Drain
from pieria.capture.install.commands import CAPTURE, Commands
from pieria.workspace import Workspace

EVENTS = 200
TARGET = 60.0
"""Milliseconds from start to end of a hook's process, at the 95th percentile."""
LINES = 2_000


def measure(size: int, events: int, say: Say) -> dict[str, Any]:
    """Measure beside a bank of `size` memories, which the hook does not open, and distil `events` events."""
    with TemporaryDirectory(prefix="pieria-bench-") as folder:
        data, project = Path(folder, "data"), Path(folder, "app")
        project.mkdir()
        data.mkdir()
        data.joinpath("pieria.toml").write_text('bank = "bench"\n')
        with filled(data, size, say):
            rows = [*_hooks(data, project, size, say), _handing_over(data, project, say)]
    installed = is_installed()
    rows += [*(telling_hooks(say) if installed else ()), distilling(events, say)]
    notes = [] if installed else [MISSING]
    return {"machine": machine(), "sizes": [size], "rows": [row.as_dict() for row in rows], "notes": notes}


def _hooks(data: Path, project: Path, size: int, say: Say) -> Iterator[Row]:
    """Measure the hook and bare Python in turn, to separate our share from Python's."""
    command = Commands("claude-code", data / "spool").argv(CAPTURE)
    took, bare = [], []
    for number in range(EVENTS):
        took.append(ran(command, json.dumps(payload(project, number)).encode()).milliseconds)
        bare.append(ran([*command[:3], "-c", "pass"], b"").milliseconds)
        say("hooks", number + 1, EVENTS)
    p95 = quantile(took, 0.95)
    detail = {
        "p50_ms": round(statistics.median(took), 1),
        "max_ms": round(max(took), 1),
        "python_alone_p50_ms": round(statistics.median(bare), 1),
        "python_alone_p95_ms": round(quantile(bare, 0.95), 1),
        "events": EVENTS,
    }
    yield Row(f"a hook beside {size:,} memories, p95", round(p95, 1), "ms", f"< {TARGET:g}", p95 < TARGET, detail)


def _handing_over(data: Path, project: Path, say: Say) -> Row:
    from pieria.capture import hook

    for number in range(LINES):
        hook.take("claude-code", str(data / "spool"), payload(project, EVENTS + number))
        say("spooling", number + 1, LINES)
    with Workspace(data, {"embedder": "none"}) as workspace:
        begun = time.perf_counter()
        done = Drain(workspace, embeds=False).drain()
        seconds = time.perf_counter() - begun
    told = done.kept + done.repeated
    return Row("handing over", round(told / seconds), "events/s", "", None, {"events": told, "kept": done.kept})


def payload(project: Path, number: int) -> dict[str, Any]:
    """Return an event as Claude Code sends it: of ten, one prompt, one reply, one page read, and commands."""
    told = {"session_id": f"session-{number // 50}", "transcript_path": "/none.jsonl", "cwd": str(project)}
    told |= {"permission_mode": "default", "prompt_id": f"prompt-{number // 10}"}
    if number % 10 == 0:
        return {**told, "hook_event_name": "UserPromptSubmit", "prompt": f"Why does test {number} fail? " * 10}
    if number % 10 == 9:
        said = f"Test {number} failed because the token had expired. " * 20
        return {**told, "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": said}
    given: dict[str, Any] = {"command": f"pytest -q tests/test_{number}.py", "description": "Run the tests"}
    answer: Any = {"stdout": f"token_{number} = load_key()\n" * 100, "stderr": "", "interrupted": False}
    name = "Bash"
    if number % 10 == 5:
        name, given = "Read", {"file_path": str(project / f"module_{number}.py")}
        answer = {"type": "text", "file": {"content": "def secret_of(name):\n    return name\n" * 500}}
    tool = {"tool_name": name, "tool_input": given, "tool_response": answer, "tool_use_id": f"toolu_{number}"}
    return {**told, "hook_event_name": "PostToolUse", **tool}
