"""Observing: what happened while an agent worked comes in, and what is worth keeping of it is distilled.

How is in `distilling`, loaded with the first event or session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pieria.bank.core import Plan
from pieria.bank.write.remember import Remembering
from pieria.bank.write.update import Correcting

if TYPE_CHECKING:
    from pieria.bank.capture.distill import DistilledSessions, Observed
    from pieria.record.event import Event
    from pieria.store.protocol import Progress


class Observing(Remembering, Correcting):
    def observe(self, events: Iterable[Event | Mapping[str, Any]]) -> Observed:
        """Takes in what happened. When this returns it is on the disk; what was told before changes nothing.

        What is marked private is cut and secrets are taken out, whatever else is set for the bank. A job distils the
        session at its end, when its context is compacted, when much has come together, or after ten minutes of silence.
        """
        from pieria.bank.capture.distill import observed

        return observed(self, events)

    def distil(self, session: str | None = None, *, progress: Progress | None = None) -> DistilledSessions:
        """Distils what is still raw, of all sessions or of one, with what is still being worked on."""
        from pieria.bank.capture.distill import distilled_sessions

        return distilled_sessions(self, session, progress)

    def _distil_as_job(self, host: str, session: str) -> Plan:
        """For a worker: what is to be written of a session, by now."""
        from pieria.bank.capture.distill import as_job

        return as_job(self, host, session)
