"""The verbs on sessions: those whose memories the bank holds, and those that are recorded step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pieria.bank.filters import Names
from pieria.bank.read.get import sessions
from pieria.record import check
from pieria.runtime.lazy import cached_property

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.results.general import IngestReceipt, Sessions
    from pieria.bank.sessions.drafts import SessionDraft, SessionStatus, SessionStatuses
    from pieria.bank.sessions.log import BankLog
    from pieria.learning.answers import Answers
    from pieria.learning.episode import Episode
    from pieria.learning.experience import Experience
    from pieria.learning.steps import Step
    from pieria.sessions.log import UnfinishedSession
    from pieria.sessions.opened import OpenSessions
    from pieria.store.protocol import Progress


class BankSessions:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.tries: dict[str, tuple[Episode, Answers] | None] = {}
        """By their digests, experiences whose ingestion failed, with what a mind has answered about them."""

    @cached_property
    def log(self) -> BankLog:
        """The log of unfinished sessions."""
        from pieria.bank.sessions.log import BankLog

        return BankLog(self._bank)

    @cached_property
    def opened(self) -> OpenSessions:
        from pieria.bank.sessions.ingest import judging_of
        from pieria.sessions.opened import OpenSessions

        return OpenSessions(self._bank.name, self._bank.graph, self.log, judging_of(self._bank), self._bank.clock)

    def list(
        self,
        *,
        limit: int = 20,
        cursor: str | None = None,
        session: str | None = None,
        kinds: Names | None = None,
        scope: Names | None = None,
    ) -> Sessions:
        """Return the sessions of visible memories, latest beginning first. Memories outside any session count as one.

        With scope `user` alone, the sessions of the user's own memories. Sessions without remaining memories are left
        out. In the others, revised and removed memories still count for beginning and end. `cursor` continues a page of
        the same filters from a snapshot at the first page: new memories may have any time.
        """
        return sessions(self._bank.core, limit=limit, cursor=cursor, session=session, kinds=kinds, scope=scope)

    def ingest(self, trajectory: Experience | Mapping[str, Any]) -> IngestReceipt:
        """Learn from an experience: `source_id`, `goal`, `steps` of observation and action, and `metadata`.

        Return when all of it is on disk. The same payload again returns the same receipt without model calls or writes,
        and waits if it is in progress. Raise `ConflictError` for another payload under the same `source_id`.
        """
        from pieria.bank.sessions.ingest import ingest

        return ingest(self._bank, trajectory)

    def ingest_many(
        self, trajectories: Iterable[Experience | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> tuple[IngestReceipt, ...]:
        """Ingest several experiences, one after the other. All problems are raised before the first begins."""
        from pieria.bank.sessions.ingest import ingest_many

        return tuple(ingest_many(self._bank, trajectories, progress))

    def receipt(self, source_id: str) -> IngestReceipt | None:
        """Return the receipt of an ingested experience, or None."""
        from pieria.bank.sessions.ingest import receipt

        return receipt(self._bank, source_id)

    def load(self, id: str) -> tuple[UnfinishedSession, tuple[Step, ...]] | None:
        """Return an unfinished session with its steps, even if another process holds it, or None."""
        found = self.log.load(check.identifier(id, "id"))
        return None if found is None else (found[0], tuple(found[1]))

    def unfinished(self) -> tuple[UnfinishedSession, ...]:
        """Return all unfinished sessions, without their steps."""
        return tuple(self.log.kept())

    def statuses(self, limit: int = 20, offset: int = 0, state: str | None = None) -> SessionStatuses:
        """Return the status of unfinished sessions, last changed first, of all or of those in a state."""
        from pieria.bank.sessions.drafts import statuses

        return statuses(self._bank, limit, offset, state)

    def status(self, id: str) -> SessionStatus | None:
        """Return the status of one session, or None if it is over."""
        from pieria.bank.sessions.drafts import status

        return status(self._bank, id)

    def draft(self, id: str) -> SessionDraft | None:
        """Return what the session would write if it were committed now, or None if it is over. No model is asked."""
        from pieria.bank.sessions.drafts import draft

        return draft(self._bank, id)

    def close(self) -> None:
        """Close the sessions that this bank opened."""
        if "opened" in self.__dict__:
            self.opened.close()
