"""The shape of MemPalace's replies: what reads answers as it is, what writes says `success`; an error is a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import AccessError, NotFoundError, PieriaError
from pieria.toolsets.host import Call
from pieria.toolsets.tool import Access, Tool
from pieria.toolsets.validation import violations

RECONNECT = "mempalace_reconnect"
"""What reads, and says whether it could; of a palace that is not there it tells as much as of one that is."""
FINDS = {"mempalace_search": "results", "mempalace_check_duplicate": "matches"}
"""Where clients look for what was found, whatever came of the call."""


def succeeded(call: Call, value: Any) -> Any:
    return {"success": True, **value} if _says_success(call.tool) else value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    told: dict[str, Any] = {"success": False} if _says_success(tool) else {}
    told |= {"error": error.message, "error_class": error.code, "hint": error.hint, "retryable": error.retryable}
    if isinstance(error, AccessError):
        told["reason"] = error.reason
    found = violations(error)
    if found:
        told["violations"] = found
    if tool.name == RECONNECT:
        told["message"] = error.message
        if isinstance(error, NotFoundError):
            told |= {"drawers": 0, "vector_disabled": False}
    if tool.name in FINDS:
        told[FINDS[tool.name]] = []
    return told


def _says_success(tool: Tool) -> bool:
    return tool.access is not Access.read or tool.name == RECONNECT
