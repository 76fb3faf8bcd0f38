"""Replies unchanged, errors as objects."""

from typing import Any


def succeeded(call: Any, value: Any) -> Any:
    return value


def failed(tool: Any, arguments: Any, error: Any) -> Any:
    return {"error": error.as_dict()}
