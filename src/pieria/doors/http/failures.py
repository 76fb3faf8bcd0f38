"""From an error to a response: its status and its JSON. No handler chooses a status for an error."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from pieria.errors import AccessError, BudgetError, LimitError, PieriaError, StorageError

log = logging.getLogger(__name__)

_CODES: Mapping[int, tuple[str, ...]] = {
    403: ("access",),
    404: ("not_found",),
    409: ("episode", "conflict", "quarantined", "session", "job", "repo", "foreign_file"),
    422: ("invalid", "invalid_input", "unavailable", "privacy", "transfer"),
    423: ("sealed",),
    429: ("limit", "budget"),
    500: (
        "error",
        "forked",
        "config",
        "framework",
        "pipeline",
        "storage",
        "corrupt",
        "newer_version",
        "refused",
        "unsuitable",
        "unknown",
        "unknown_error",
    ),
    502: ("prompt", "adapter", "reply", "reply_refused", "reply_cut", "reply_unreadable"),
    503: ("closed", "model_missing", "model_damaged", "busy", "unreachable"),
    507: ("read_only", "disk_full"),
}
STATUS: Mapping[str, int] = {code: status for status, codes in _CODES.items() for code in codes}
"""HTTP status by the error's code."""
STRANGERS = ("no_token", "unknown_token", "expired")
"""Reasons of an `AccessError` with status 401: a valid token would help."""
BUSY_SECONDS = 1
CHALLENGE = 'Bearer realm="pieria"'


class Refused(Exception):
    """An error found by the HTTP layer, with a status of its own."""

    def __init__(self, status: int, error: PieriaError, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.error = error
        self.headers = dict(headers or {})
        super().__init__(error.message)


class JSON(Response):
    """A JSON response. Text with lone surrogates is written with escapes, so that every client can read it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False).encode()


def status_of(error: PieriaError) -> int:
    if isinstance(error, AccessError) and error.reason in STRANGERS:
        return 401
    return STATUS[error.code]


def headers_of(error: PieriaError) -> dict[str, str]:
    """Return the error's headers: how to authenticate, and when to retry."""
    status = status_of(error)
    if status == 401:
        return {"WWW-Authenticate": CHALLENGE}
    if isinstance(error, LimitError):
        return {"Retry-After": str(error.seconds)}
    if isinstance(error, BudgetError):
        left = datetime.fromisoformat(error.until) - datetime.now(UTC)
        return {"Retry-After": str(max(1, math.ceil(left.total_seconds())))}
    if status == 503 and error.retryable:
        return {"Retry-After": str(BUSY_SECONDS)}
    return {}


def for_callers(error: PieriaError) -> PieriaError:
    """Return the error as callers see it. Only the log names the place of the banks."""
    if not isinstance(error, StorageError):
        return error
    log.warning("%s", error.message)
    return error.placeless()


def failure(error: PieriaError, status: int | None = None, headers: Mapping[str, str] | None = None) -> JSON:
    """Return the response for an error."""
    told = {"error": for_callers(error).as_dict()}
    return JSON(told, status or status_of(error), {**headers_of(error), **(headers or {})})
