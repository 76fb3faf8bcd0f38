"""The reply shape of these tools: the value unchanged; an error with its kind, reason and hint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import Framework, Invalid, PieriaError
from pieria.toolsets.host import Call
from pieria.toolsets.tool import Tool
from pieria.toolsets.validation import violations

KINDS: tuple[tuple[type[PieriaError], str], ...] = ((Invalid, "invalid"), (Framework, "framework"))
OTHERWISE = "unknown"


def succeeded(call: Call, value: Any) -> Any:
    return value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    found = violations(error)
    return {"error": told(error) | ({"violations": found} if found else {})}


def told(error: PieriaError) -> dict[str, Any]:
    """Return the error's fields. `kind` is its class; `reason` is its reason or, without one, its code."""
    fields = {name: value for name, value in error.as_dict().items() if name != "errors"}
    kind = next((kind for branch, kind in KINDS if isinstance(error, branch)), OTHERWISE)
    return {**fields, "kind": kind, "reason": fields.get("reason") or error.code}
