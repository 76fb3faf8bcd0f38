"""A bank removed together with what hooks captured for it, which would come in later and begin it anew."""

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
"""Seconds for which what waits is handed over. Whoever removes a bank waits that long at most before it goes."""


def remove_bank(workspace: Workspace, name: str, *, dry_run: bool = False) -> RemovalReport:
    """As the workspace does. What waits in the spool is handed over first, so that it is counted and goes along; what
    cannot be handed over now the report names.
    """
    drain = Drain(workspace, embeds=False)
    if workspace.place.at(name).is_there and drain.spool.is_waiting:
        try:
            drain.drain(seconds=HANDING_OVER)
        except (PieriaError, OSError) as problem:
            log.warning("what hooks captured waits in the spool: %s", problem)
    report = workspace.remove_bank(name, dry_run=dry_run)
    return report.not_reaching(_left_in(drain.spool))


def _left_in(spool: Spool) -> Iterator[str]:
    left = spool.standing()
    if left.waiting_bytes:
        yield f"captured events that wait ({left.waiting_bytes:,} bytes): those of this bank begin it anew"
    if left.refused:
        aside = f"{spool.folder.name}/{REFUSED}"
        yield f"captured events that were set aside ({left.refused:,}), of whichever bank: {aside}"
