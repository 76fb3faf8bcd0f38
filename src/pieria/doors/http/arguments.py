"""What a request says, as arguments: its JSON, its query, its path. Whether they are right is checked elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from pieria.doors.http.failures import Refused
from pieria.errors import InputError
from pieria.record.json_text import TooDeepError, parsed

DEPTH = 100
"""Lists and objects within one another; the record itself takes fewer."""


async def json_of(request: Request) -> Any:
    """The body. An empty one is an empty object."""
    body = await request.body()
    if not body:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        hint = "Send the header Content-Type: application/json."
        raise Refused(415, InputError("Content-Type", "application/json", kind or None, hint=hint))
    try:
        read = parsed(body.decode("utf-8"), strict=True)
    except TooDeepError:
        raise Refused(400, InputError("body", f"JSON no deeper than {DEPTH}", body)) from None
    except ValueError as problem:
        raise Refused(400, InputError("body", "JSON in UTF-8", body, hint=_told(problem))) from problem
    _check_shape(read)
    return read


def segment(request: Request, name: str) -> str:
    """A part of the path, decoded. The guard left it as it came."""
    try:
        return unquote_to_bytes(request.path_params[name]).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Refused(400, InputError(name, "UTF-8 in the path", None)) from problem


def query_of(request: Request, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The query's values, read as their schemas say; what cannot be read so is left for the check to refuse."""
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        schema = properties.get(name, {})
        if schema.get("type") == "array":
            given.setdefault(name, []).append(typed(value, schema.get("items", {})))
        elif name in given:
            raise InputError(name, "one value", None, hint="It was given twice.")
        else:
            given[name] = typed(value, schema)
    return given


def typed(value: str, schema: Mapping[str, Any]) -> Any:
    """As the schema has it, or as it came where it cannot be read so."""
    kind = schema.get("type")
    try:
        if kind == "integer":
            return int(value) if value.isascii() and len(value) < 25 and "_" not in value else value
        if kind == "number":
            return float(value) if value.isascii() and "_" not in value else value
    except ValueError:
        return value
    if kind == "boolean":
        return {"true": True, "false": False}.get(value, value)
    return value


def _check_shape(read: Any) -> None:
    """Raises `Refused` for what no check could go down into, and for numbers that JSON does not have."""
    level = [read]
    for _ in range(DEPTH):
        if any(isinstance(value, float) and not math.isfinite(value) for value in level):
            raise Refused(400, InputError("body", "JSON, whose numbers are finite", None))
        level = [below for value in level for below in _within(value)]
        if not level:
            return
    raise Refused(400, InputError("body", f"JSON no deeper than {DEPTH}", None))


def _within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _told(problem: ValueError) -> str | None:
    """Where it went wrong, without what stands there."""
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg}, in line {problem.lineno}, column {problem.colno}."
    return None
