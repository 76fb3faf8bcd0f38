"""Keeping what was learnt in order."""

from __future__ import annotations

from typing import Any

from pieria.errors import InputError
from pieria.toolsets.host import Call
from pieria.toolsets.sessions.words import bank_of

BY_THRESHOLD = ("consolidate", "decay")


def maintain(
    call: Call, operation: str, dry_run: bool, threshold: float | None = None, bank: str | None = None
) -> dict[str, Any]:
    asked: dict[str, Any] = {"dry_run": dry_run, "progress": call.host.progress}
    if threshold is not None:
        if operation not in BY_THRESHOLD:
            raise InputError("threshold", f"none for {operation}", threshold, hint="Leave it out.")
        asked["threshold"] = threshold
    done = getattr(bank_of(call, bank).graph, operation)(**asked)
    return {"operation": operation, "dry_run": dry_run, **done}
