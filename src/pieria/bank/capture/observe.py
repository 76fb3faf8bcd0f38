"""The verbs that observe: take in captured events, and distill them.

`capture.distill` implements them, and is loaded with the first event or session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pieria.bank.core import Core, Plan

if TYPE_CHECKING:
    from pieria.bank.capture.distill import DistilledSessions, Observed
    from pieria.record.event import AgentEvent
    from pieria.store.protocol import Progress


def observe(core: Core, events: Iterable[AgentEvent | Mapping[str, Any]]) -> Observed:
    from pieria.bank.capture.distill import observed

    return observed(core, events)


def distil(core: Core, session: str | None, *, progress: Progress | None) -> DistilledSessions:
    from pieria.bank.capture.distill import distilled_sessions

    return distilled_sessions(core, session, progress)


def distil_as_job(core: Core, host: str, session: str) -> Plan:
    """Return the plan that writes what a session has so far, for a worker."""
    from pieria.bank.capture.distill import as_job

    return as_job(core, host, session)
