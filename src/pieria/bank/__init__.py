"""A bank: one isolated memory, and every verb there is on it, a file a group."""

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

    # The groups of verbs are loaded when they are first asked for: most processes need few of them.

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
        """The standing rules that agents are told, and those that wait for a person."""
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
        """What it holds of lived and learnt things as nodes and ties."""
        from pieria.bank.graph.verbs import BankGraph

        return BankGraph(self)

    @loaded_property
    def _session_log(self) -> BankLog:
        """What it keeps of sessions that go on."""
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
        """Begins a session, which collects steps towards the goal. What is given is its own, in place of the bank's.

        `profile` and `auto_commit` are so much of a configuration that is as the bank's otherwise.
        As a context manager it extracts and commits at the end; on an exception it keeps the steps, uncommitted.
        """
        self._check_open()
        own = {"config": config, "llm": llm, "embedder": embedding, "notifier": notifier}
        own |= {"profile": profile, "auto_commit": auto_commit}
        return self._opened_sessions.begin(goal, {name: value for name, value in own.items() if value is not None})

    def ingest(self, trajectory: Experience | Mapping[str, Any]) -> IngestReceipt:
        """Learns from what was lived through: `source_id`, `goal`, `steps` of observation and action, and `metadata`.

        Returns when all of it is kept. The same payload again gets the same receipt, and nothing is written or asked;
        one that is under way is waited for. Raises `ConflictError` for another payload under the same `source_id`.
        """
        from pieria.bank.sessions.ingest import ingest

        return ingest(self, trajectory)

    def ingest_many(
        self, trajectories: Iterable[Experience | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> list[IngestReceipt]:
        """The same for several, one after the other. What is wrong with any of them is told before the first begins."""
        from pieria.bank.sessions.ingest import ingest_many

        return ingest_many(self, trajectories, progress)

    def receipt(self, source_id: str) -> IngestReceipt | None:
        """Of what was taken in under this name; None for nothing."""
        from pieria.bank.sessions.ingest import receipt

        return receipt(self, source_id)

    def session_kept(self, id: str) -> tuple[Kept, list[Step]] | None:
        """What is kept of a session that is not over, with its steps, whoever has it open; None where there is none."""
        return self._session_log.load(check.identifier(id, "id"))

    def sessions_kept(self) -> list[Kept]:
        """The same of all of them, without their steps."""
        return self._session_log.kept()

    def session_standings(self, limit: int = 20, offset: int = 0, state: str | None = None) -> SessionStandings:
        """Where they stand, the last changed first: so many after the first `offset`, of all or of those in a state."""
        from pieria.bank.sessions.drafts import standings

        return standings(self, limit, offset, state)

    def session_standing(self, id: str) -> SessionStanding | None:
        """The same of one; None where it is over."""
        from pieria.bank.sessions.drafts import standing

        return standing(self, id)

    def session_draft(self, id: str) -> SessionDraft | None:
        """What it would write if it were committed now. No model is asked; None where the session is over."""
        from pieria.bank.sessions.drafts import draft

        return draft(self, id)

    def close(self) -> None:
        if "_opened_sessions" in self.__dict__:
            self._opened_sessions.close()
        # While the bank is still open, so that a job which is nearly done may be.
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
