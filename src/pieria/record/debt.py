"""Debts: observations of something left undone, open until they are done or long past their date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from pieria.record.memory import Memory

DEBT, DUE, DONE = "debt", "due", "done"
"""The type, and the keys in the body: the day it is due, and when it was done."""
OVERDUE = timedelta(days=7)
"""How long after its date a debt stays open."""
MOST = 100


def due_of(memory: Memory) -> date | None:
    held = memory.body.get(DUE)
    try:
        return date.fromisoformat(held) if isinstance(held, str) else None
    except ValueError:
        return None


def is_open(memory: Memory, now: datetime) -> bool:
    """Return whether a debt is neither done nor long past its date."""
    due = due_of(memory)
    return DONE not in memory.body and (due is None or due >= now.astimezone(UTC).date() - OVERDUE)


def newest(select: Callable[[int], list[Memory]], now: datetime) -> list[Memory]:
    """Return the newest debts, so many that closed ones hide no open one. `select` returns the newest of a number."""
    limit = MOST
    while True:
        found = select(limit)
        if len(found) < limit or sum(is_open(one, now) for one in found) >= MOST:
            return found
        limit *= 4
