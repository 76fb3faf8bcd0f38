"""The shape of these tools' replies: what was asked for as it is; an error as its kind, its reason and what to do."""

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
    """`kind` is that of the error's class, `reason` what programs go by: that of the error, or else its code."""
    fields = {name: value for name, value in error.as_dict().items() if name != "errors"}
    kind = next((kind for branch, kind in KINDS if isinstance(error, branch)), OTHERWISE)
    return {**fields, "kind": kind, "reason": fields.get("reason") or error.code}
