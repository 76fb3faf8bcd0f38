"""The verbs that observe: take in captured events, and distill them.

`capture.distill` implements them, and is loaded with the first event or session.
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
        """Take in events. When this returns they are on the disk; repeated events change nothing.

        Private parts are cut and secrets removed, even if the bank's settings allow them. A job distills the session at
        its end or when its context is compacted. It also runs after many events, or after ten idle minutes.
        """
        from pieria.bank.capture.distill import observed

        return observed(self, events)

    def distil(self, session: str | None = None, *, progress: Progress | None = None) -> DistilledSessions:
        """Distill the raw events of all sessions or of one, unfinished tasks included."""
        from pieria.bank.capture.distill import distilled_sessions

        return distilled_sessions(self, session, progress)

    def _distil_as_job(self, host: str, session: str) -> Plan:
        """Return the plan that writes what a session has so far, for a worker."""
        from pieria.bank.capture.distill import as_job

        return as_job(self, host, session)
