"""What a short process does before its own work, since no server may be there to do it: queued events, due jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.workspace import Workspace

DRAINING = DISTILLING = 0.5
"""Seconds spent on queued hook events, and on distilling due ones."""
Note = Callable[[str], None]


def drain(workspace: Workspace, note: Note) -> None:
    """Store the queued hook events, so that an answer has an agent's latest actions. What fails now stays in the
    queue.
    """
    from pieria.capture.spool import spool_of

    if not spool_of(workspace).is_waiting:
        return
    from pieria.capture.drain import Drain
    from pieria.errors import PieriaError

    try:
        Drain(workspace, embeds=False, distils=True).drain(seconds=DRAINING)
    except (PieriaError, OSError) as problem:
        note(f"captured events still wait in the spool: {problem}")


def distil(bank: Bank, note: Note) -> None:
    """Distil what is due: without a server or a worker, no other process would."""
    from pieria.bank.jobs.worker import catch_up
    from pieria.errors import PieriaError

    try:
        catch_up(bank, DISTILLING)
    except (PieriaError, OSError) as problem:
        note(f"captured events are not distilled yet: {problem}")
