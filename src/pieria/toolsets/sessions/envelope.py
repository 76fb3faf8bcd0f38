"""The shape of these tools' replies: what was asked for as it is; an error as its kind, its reason and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import Framework, Invalid, PieriaError, SessionError
from pieria.toolsets.host import Call
from pieria.toolsets.tool import Tool
from pieria.toolsets.validating import violations

KINDS: tuple[tuple[type[PieriaError], str], ...] = ((Invalid, "invalid"), (Framework, "framework"))
OTHERWISE = "unknown"
HINTS: Mapping[object, str] = {
    "not_collecting": "Its work is over, and sessions_start begins another session.",
    "not_ready": "sessions_close ends the work first. With auto_commit, what was learnt is kept by itself.",
    "not_idle": "sessions_commit keeps what waits, and sessions_discard gives it up.",
    "not_discardable": "Only what was learnt and not kept yet is thrown away: sessions_close ends the work first.",
    "extraction_in_progress": "It ends by itself: sessions_state tells when.",
    "session_failed": "sessions_commit tries again, and sessions_discard gives it up.",
}
"""What to do about a session's state, in the words of these tools; the engine's own speak of its functions."""


def succeeded(call: Call, value: Any) -> Any:
    return value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    found = violations(error)
    return {"error": told(error) | ({"violations": found} if found else {})}


def told(error: PieriaError) -> dict[str, Any]:
    """`kind` is that of the error's class, `reason` what programs go by: that of the error, or else its code."""
    fields = {name: value for name, value in error.as_dict().items() if name != "errors"}
    kind = next((kind for branch, kind in KINDS if isinstance(error, branch)), OTHERWISE)
    if isinstance(error, SessionError):
        fields["hint"] = HINTS.get(error.reason, error.hint)
    return {**fields, "kind": kind, "reason": fields.get("reason") or error.code}
