"""Gemini CLI's payloads, read as events. The hook file loads this for that host only; it imports nothing of Pieria."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NAMED = {
    "SessionStart": ("start", "source"),
    "BeforeAgent": ("prompt", "prompt"),
    "AfterTool": ("tool", "tool_response"),
    "AfterAgent": ("reply", "prompt_response"),
    "PreCompress": ("compact", "trigger"),
    "SessionEnd": ("end", "reason"),
}
_FAILED = re.compile(r"^Exit Code: (?!0$)\d+$", re.MULTILINE)
_END = 300
"""Characters at the end of a shell's answer that are searched for its exit code, which the shell only gives if it is
not 0."""


def event_of(payload: dict[str, Any], put_out: Callable[[Any], str]) -> dict[str, Any] | None:
    """Return the event; None for another one. `put_out` returns the text in a tool's answer."""
    name = payload["hook_event_name"]
    if name not in _NAMED:
        return None
    what, key = _NAMED[name]
    event = {"what": what, "session": payload["session_id"], "folder": payload.get("cwd")}
    # Gemini has no ids. Two hooks for one event get the same time.
    own = f"{name} {payload.get('timestamp')}"
    if what != "tool":
        return {**event, "own": own, "text": payload.get(key) or ""}
    answer, given = payload.get(key), payload.get("tool_input")
    answer = answer if isinstance(answer, dict) else {}
    text = put_out(answer.get("llmContent"))
    return {
        **event,
        "own": f"{own} {payload['tool_name']} {len(text)}",
        "tool": payload["tool_name"],
        "input": given if isinstance(given, dict) else {},
        "text": text,
        "failed": bool(answer.get("error") or _FAILED.search(text[-_END:])),
    }
