"""A request's arguments: from its JSON, its query and its path. They are validated elsewhere."""

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
"""Deepest nesting of lists and objects; the record itself allows less."""


async def json_of(request: Request) -> Any:
    """Return the body's JSON. An empty body is an empty object."""
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
    """Return a decoded segment of the path. The guard leaves it encoded."""
    try:
        return unquote_to_bytes(request.path_params[name]).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Refused(400, InputError(name, "UTF-8 in the path", None)) from problem


def query_of(request: Request, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query's values, typed by their schemas. Unreadable ones are kept for the check to refuse."""
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
    """Return the value as its schema types it, or unchanged if that fails."""
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
    """Raise `Refused` for JSON nested too deep for the checks, and for numbers that are not finite."""
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
    """Return the place of the error, without the text found there."""
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg}, in line {problem.lineno}, column {problem.colno}."
    return None
