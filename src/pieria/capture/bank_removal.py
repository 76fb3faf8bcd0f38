"""Remove a bank together with its captured events, which a later drain would otherwise store in a new bank."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pieria.capture.drain import Drain
from pieria.capture.spool import REFUSED
from pieria.errors import PieriaError

if TYPE_CHECKING:
    from pieria.bank.results.transfer import RemovalReport
    from pieria.capture.spool import Spool
    from pieria.workspace import Workspace

log = logging.getLogger(__name__)

HANDING_OVER = 10.0
"""Longest time in seconds that a removal waits for the spool to be drained."""


def remove_bank(workspace: Workspace, name: str, *, dry_run: bool = False) -> RemovalReport:
    """Remove a bank as the workspace does, after draining the spool so that its events are counted and removed too.

    The report names what could not be drained.
    """
    drain = Drain(workspace, embeds=False)
    if workspace.place.at(name).is_there and drain.spool.is_waiting:
        try:
            drain.drain(seconds=HANDING_OVER)
        except (PieriaError, OSError) as problem:
            log.warning("captured events stay in the spool: %s", problem)
    report = workspace.remove_bank(name, dry_run=dry_run)
    return report.not_reaching(_left_in(drain.spool))


def _left_in(spool: Spool) -> Iterator[str]:
    left = spool.standing()
    if left.waiting_bytes:
        yield f"waiting captured events ({left.waiting_bytes:,} bytes): those of this bank will create it again"
    if left.refused:
        aside = f"{spool.folder.name}/{REFUSED}"
        yield f"captured events of all banks that were set aside ({left.refused:,}): {aside}"
