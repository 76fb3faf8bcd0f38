"""The reply shape of open-mem: `data`, `error` and `meta`, the same through every door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pieria.bank import Bank
from pieria.errors import (
    AccessError,
    ConflictError,
    Invalid,
    NotFoundError,
    PieriaError,
)
from pieria.toolsets.host import Call
from pieria.toolsets.tool import Tool
from pieria.toolsets.validation import violations

CODES: tuple[tuple[type[PieriaError], str], ...] = (
    (NotFoundError, "NOT_FOUND"),
    (ConflictError, "CONFLICT"),
    (AccessError, "LOCKED_BY_ENV"),
    (Invalid, "VALIDATION_ERROR"),
)
OTHERWISE = "INTERNAL_ERROR"
MISSING = "mem-find and mem-history return the ids."


@dataclass(frozen=True, slots=True)
class Answer:
    """A handler's result. `meta` holds notes for the caller."""

    data: Mapping[str, Any]
    meta: Mapping[str, Any] = field(default_factory=dict)


def answer(call: Call, bank: Bank, data: Mapping[str, Any], **meta: Any) -> Answer:
    """Return the answer with bank and session in `meta`. Leave out values that are None."""
    told = {name: value for name, value in meta.items() if value is not None}
    return Answer(data, {"bank": bank.name, "session": call.host.session, **told})


def succeeded(call: Call, value: Answer) -> dict[str, Any]:
    return {"data": dict(value.data), "error": None, "meta": dict(value.meta)}


def is_of_purged(error: NotFoundError) -> bool:
    return "purged" in str(error.hint)


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    if isinstance(error, NotFoundError) and error.resource == "memory":
        error = NotFoundError("observation", error.id, hint=error.hint if is_of_purged(error) else MISSING)
    code = next((code for kind, code in CODES if isinstance(error, kind)), OTHERWISE)
    shown = error.as_dict()
    # `violations` already holds all of `errors`, and the first error as well.
    details = {name: value for name, value in shown.items() if name not in ("message", "errors")}
    told = {"code": code, "message": str(error), "details": {**details, "violations": violations(error)}}
    return {"data": None, "error": told, "meta": {"tool": tool.name}}
