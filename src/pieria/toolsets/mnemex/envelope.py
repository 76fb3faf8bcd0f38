"""The reply shape of Mnemex: `success` always, `message` in errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pieria.errors import AccessError, NotFoundError, PieriaError
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.refusals import RefusedError
from pieria.toolsets.tool import Tool
from pieria.toolsets.validation import violations

WHERE = {"memory": "search_memory returns the ids.", "cluster": "cluster_memories returns the ids."}


def succeeded(call: Call, value: Any) -> Any:
    if isinstance(value, Spoken):
        return replace(value, value={"success": True, **value.value})
    return {"success": True, **value}


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    told = {"success": False, "message": str(error), "code": error.code, "hint": error.hint}
    if isinstance(error, NotFoundError) and error.resource in WHERE:
        told["message"] = f"{error.resource.capitalize()} not found: {error.id}"
        told["hint"] = error.hint if "purged" in str(error.hint) else WHERE[error.resource]
    if isinstance(error, AccessError):
        told["reason"] = error.reason
    if error.retryable:
        told["retryable"] = True
    if isinstance(error, RefusedError):
        told |= error.told
    found = violations(error)
    return {**told, "violations": found} if found else told
