"""Replies unchanged, errors as objects."""

from collections.abc import Mapping
from typing import Any

from pieria.errors import PieriaError
from pieria.toolsets import Call, Tool


def succeeded(call: Call, value: Any) -> Any:
    return value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    return {"error": error.as_dict()}
