"""The shape of Mnemosyne's replies: an object with a `status`, and the error beside it where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import NotFoundError, PieriaError
from pieria.toolsets.host import Call
from pieria.toolsets.tool import Tool
from pieria.toolsets.validation import violations

_MISSING = {
    "mnemosyne_forget": "not_found",
    "mnemosyne_update": "not_found",
    "mnemosyne_invalidate": "memory_not_found",
}
"""What agents that know the original look for where a memory is not there."""


def succeeded(call: Call, value: dict[str, Any]) -> dict[str, Any]:
    return value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    # What stands in `errors` stands in `violations` as well, with the first.
    shown = {name: value for name, value in error.as_dict().items() if name != "errors"}
    told: dict[str, Any] = {"status": "error", "error": {**shown, "violations": violations(error)}}
    if isinstance(error, NotFoundError) and error.resource == "memory" and tool.name in _MISSING:
        told["status"] = _MISSING[tool.name]
        told["memory_id"] = arguments.get("memory_id")
    return told
