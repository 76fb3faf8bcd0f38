"""Which session a request belongs to, as far as the request says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import InputError
from pieria.record import check

HEADER = "mcp-session-id"
NAMED_BY = ("session", "pieria/session")
"""Keys of `_meta`; the second is the one that replies carry, so that a client may hand it back."""


def session_of(context: Any) -> str | None:
    """By the transport's header, or else by `_meta`. Raises `InputError` for a name that cannot be one."""
    headers: Mapping[str, str] = getattr(context.request, "headers", {})
    named = headers.get(HEADER)
    if named:
        return check.name(named, HEADER)
    meta = context.meta or {}
    for key in NAMED_BY:
        if meta.get(key) is not None:
            return _checked(meta[key], f"_meta.{key}")
    return None


def _checked(session: object, parameter: str) -> str:
    name = check.name(session, parameter)
    if not name:
        raise InputError(parameter, "the name of a session", session, hint="Leave it out to be in the process's own.")
    return name
