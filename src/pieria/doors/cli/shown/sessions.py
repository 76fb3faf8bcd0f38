"""Sessions for people: a line for an action, a line each, or one in full with its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, pairs, row, table
from pieria.doors.cli.shown.words import counted

_STYLES = {"collecting": "cyan", "extracting": "yellow", "ready": "green", "failed": "bold red"}


def answered(done: str, told: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the action, the session's state and its result."""
    came = counted(len(told["node_ids"]), "node") if "node_ids" in told else told.get("goal", "")
    yield line((f"{done} ", "green"), (told["session_id"], "bold"), "  ", _state(told), (f"  {came}", "dim"))
    for step in told.get("recent_steps", ()):
        yield line("  ", step)
    if "error" in told:
        yield line(("  failed: ", "bold red"), told["error"]["message"])


def listed(sessions: Iterable[Mapping[str, Any]]) -> Iterator[RenderableType]:
    made = table("session", "state", "goal", wide=("goal",))
    for one in sessions:
        row(made, (one["session_id"], "bold"), _state(one), one["goal"])
    yield made if made.row_count else line("No sessions.")


def told(one: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield line((one["session_id"], "bold"), "  ", _state(one))
    yield pairs(
        [
            ("goal", one["goal"]),
            ("profile", one["profile"]),
            ("commits", "automatically" if one["auto_commit"] else "on request"),
            ("steps", f"{one['committed_steps']:,} committed, {one['uncommitted_steps']:,} not yet"),
            ("problem", one["reason"]),
        ]
    )
    for step in one["steps"]:
        yield line((f"{step['index']}  ", "dim"), step["observation"])
        reward = "" if step["reward"] is None else f"  reward {step['reward']:.2f}"
        yield line("   → ", step["action"], (reward, "dim"))


def _state(of: Mapping[str, Any]) -> tuple[str, str]:
    return str(of["state"]), _STYLES.get(str(of["state"]), "")
