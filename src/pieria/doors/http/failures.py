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

STATUS: Mapping[str, int] = {
    "error": 500,
    "invalid": 422,
    "invalid_input": 422,
    "unavailable": 422,
    "privacy": 422,
    "transfer": 422,
    "config": 500,
    "episode": 409,
    "prompt": 502,
    "framework": 500,
    "not_found": 404,
    "access": 403,
    "limit": 429,
    "conflict": 409,
    "quarantined": 409,
    "closed": 503,
    "forked": 500,
    "session": 409,
    "pipeline": 500,
    "adapter": 502,
    "model_missing": 503,
    "model_damaged": 503,
    "reply": 502,
    "reply_refused": 502,
    "reply_cut": 502,
    "reply_unreadable": 502,
    "job": 409,
    "budget": 429,
    "repo": 409,
    "storage": 500,
    "read_only": 507,
    "disk_full": 507,
    "busy": 503,
    "corrupt": 500,
    "foreign_file": 409,
    "newer_version": 500,
    "sealed": 423,
    "unreachable": 503,
    "refused": 500,
    "unsuitable": 500,
    "unknown": 500,
    "unknown_error": 500,
}
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
