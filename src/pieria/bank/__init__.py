"""The bank: one isolated memory with all its verbs, one module per group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pieria.bank.capture.observe import Observing
from pieria.bank.delete.forget import Forgetting
from pieria.bank.delete.quarantine import Quarantines
from pieria.bank.delete.undo import Undoing
from pieria.bank.facts.text_analysis import Analyzing
from pieria.bank.health import Health
from pieria.bank.jobs.handlers import HANDLERS, Handlers
from pieria.bank.jobs.queue import Jobs
from pieria.bank.lazy import loaded_property
from pieria.bank.read.context import Contexts
from pieria.bank.read.links import Linking
from pieria.bank.read.similar import Comparing
from pieria.bank.read.timeline import Browsing
from pieria.bank.read.trace import Traces
from pieria.bank.transfer.verbs import Transferring
from pieria.bank.vault.location import NOWHERE, VaultAt
from pieria.record import check

if TYPE_CHECKING:
    from pieria.bank.capture.hooks import Hooks
    from pieria.bank.capture.sources import Sources
    from pieria.bank.facts.verbs import Facts
    from pieria.bank.graph.verbs import BankGraph
    from pieria.bank.places import Places
    from pieria.bank.results.general import IngestReceipt
    from pieria.bank.rules import BankRules
    from pieria.bank.scratchpad import Scratchpad
    from pieria.bank.sessions.drafts import SessionDraft, SessionStanding, SessionStandings
    from pieria.bank.sessions.log import BankLog
    from pieria.bank.upkeep.verbs import Upkeep
    from pieria.bank.vault.verbs import Vault
    from pieria.learning.experience import Experience
    from pieria.learning.steps import Step
    from pieria.sessions.log import Kept
    from pieria.sessions.opened import OpenSessions
    from pieria.sessions.session import Session
    from pieria.store.protocol import Progress


class Bank(
    Analyzing, Observing, Contexts, Comparing, Browsing, Forgetting, Linking, Undoing, Quarantines, Traces,
    Transferring, Health,
):  # fmt: skip
    """Made by `pieria.open` or a `Workspace`; a context manager that closes it."""

    def __init__(self, *arguments: Any, handlers: Handlers = HANDLERS, vault: VaultAt = NOWHERE, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.jobs = Jobs(self, handlers)
        self._vault_at = vault

    # Groups of verbs are imported at first use, because most processes need few of them.

    @loaded_property
    def facts(self) -> Facts:
        from pieria.bank.facts.verbs import Facts

        return Facts(self)

    @loaded_property
    def hooks(self) -> Hooks:
        from pieria.bank.capture.hooks import Hooks

        return Hooks(self)

    @loaded_property
    def places(self) -> Places:
        from pieria.bank.places import Places

        return Places(self)

    @loaded_property
    def rules(self) -> BankRules:
        """The standing rules for agents, and those that wait for a person."""
        from pieria.bank.rules import BankRules

        return BankRules(self)

    @loaded_property
    def scratchpad(self) -> Scratchpad:
        from pieria.bank.scratchpad import Scratchpad

        return Scratchpad(self)

    @loaded_property
    def sources(self) -> Sources:
        from pieria.bank.capture.sources import Sources

        return Sources(self)

    @loaded_property
    def upkeep(self) -> Upkeep:
        from pieria.bank.upkeep.verbs import Upkeep

        return Upkeep(self)

    @loaded_property
    def vault(self) -> Vault:
        from pieria.bank.vault.verbs import Vault

        return Vault(self, self._vault_at)

    @loaded_property
    def graph(self) -> BankGraph:
        """Experience and knowledge as nodes and edges."""
        from pieria.bank.graph.verbs import BankGraph

        return BankGraph(self)

    @loaded_property
    def _session_log(self) -> BankLog:
        """The log of unfinished sessions."""
        from pieria.bank.sessions.log import BankLog

        return BankLog(self)

    @loaded_property
    def _opened_sessions(self) -> OpenSessions:
        from pieria.bank.sessions.embedder import judging_of
        from pieria.sessions.opened import OpenSessions

        return OpenSessions(self.name, self.graph, self._session_log, judging_of(self), self.clock)

    def session(
        self,
        goal: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
        *,
        profile: object = None,
        auto_commit: bool | None = None,
    ) -> Session:
        """Begin a session, which collects steps towards the goal.

        Arguments replace the bank's settings for this session; `profile` and `auto_commit` replace only that part of
        the configuration. As a context manager the session extracts and commits at the end; on an exception it keeps
        the steps, uncommitted.
        """
        self._check_open()
        own = {"config": config, "llm": llm, "embedder": embedding, "notifier": notifier}
        own |= {"profile": profile, "auto_commit": auto_commit}
        return self._opened_sessions.begin(goal, {name: value for name, value in own.items() if value is not None})

    def ingest(self, trajectory: Experience | Mapping[str, Any]) -> IngestReceipt:
        """Learn from an experience: `source_id`, `goal`, `steps` of observation and action, and `metadata`.

        Return when all of it is on disk. The same payload again returns the same receipt without model calls or writes,
        and waits if it is in progress. Raise `ConflictError` for another payload under the same `source_id`.
        """
        from pieria.bank.sessions.ingest import ingest

        return ingest(self, trajectory)

    def ingest_many(
        self, trajectories: Iterable[Experience | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> list[IngestReceipt]:
        """Ingest several experiences, one after the other. All problems are raised before the first begins."""
        from pieria.bank.sessions.ingest import ingest_many

        return ingest_many(self, trajectories, progress)

    def receipt(self, source_id: str) -> IngestReceipt | None:
        """Return the receipt of an ingested experience, or None."""
        from pieria.bank.sessions.ingest import receipt

        return receipt(self, source_id)

    def session_kept(self, id: str) -> tuple[Kept, list[Step]] | None:
        """Return an unfinished session with its steps, even if another process holds it, or None."""
        return self._session_log.load(check.identifier(id, "id"))

    def sessions_kept(self) -> list[Kept]:
        """Return all unfinished sessions, without their steps."""
        return self._session_log.kept()

    def session_standings(self, limit: int = 20, offset: int = 0, state: str | None = None) -> SessionStandings:
        """Return the status of sessions, last changed first, of all or of those in a state. Skip the first `offset`."""
        from pieria.bank.sessions.drafts import standings

        return standings(self, limit, offset, state)

    def session_standing(self, id: str) -> SessionStanding | None:
        """Return the status of one session, or None if it is over."""
        from pieria.bank.sessions.drafts import standing

        return standing(self, id)

    def session_draft(self, id: str) -> SessionDraft | None:
        """Return what the session would write if it were committed now, or None if it is over. No model is asked."""
        from pieria.bank.sessions.drafts import draft

        return draft(self, id)

    def close(self) -> None:
        if "_opened_sessions" in self.__dict__:
            self._opened_sessions.close()
        # While the bank is open, so that a job that is nearly done can finish.
        self.jobs._close()
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Bank {self.name}{' (closed)' if self._closed else ''}>"


__all__ = ["Bank"]
