"""The session that a request names, if it names one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.errors import InputError
from pieria.record import check

HEADER = "mcp-session-id"
NAMED_BY = ("session", "pieria/session")
"""Keys of `_meta`; replies carry the second, so that a client can send it back."""


def session_of(context: Any) -> str | None:
    """Return the session named by the transport's header, or else by `_meta`. Raise `InputError` for an invalid
    name.
    """
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
