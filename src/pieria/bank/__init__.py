"""A bank: one isolated memory, and every verb there is on it, a file a group."""

from __future__ import annotations

from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pieria.bank.analyzing import Analyzing
from pieria.bank.browsing import Browsing
from pieria.bank.comparing import Comparing
from pieria.bank.contexts import Contexts
from pieria.bank.facts import Facts
from pieria.bank.handlers import HANDLERS, Handlers
from pieria.bank.health import Health
from pieria.bank.hooks import Hooks
from pieria.bank.jobs import Jobs
from pieria.bank.keeping import Upkeep
from pieria.bank.linking import Linking
from pieria.bank.observing import Observing
from pieria.bank.places import Places
from pieria.bank.removing import Removing
from pieria.bank.scratchpad import Scratchpad
from pieria.bank.sources import Sources
from pieria.bank.transfer import Transferring
from pieria.bank.undoing import Undoing
from pieria.bank.vault import NOWHERE, Vault, VaultAt

if TYPE_CHECKING:
    from pieria.bank.graph import BankGraph
    from pieria.bank.session_log import BankLog


class Bank(Analyzing, Observing, Contexts, Comparing, Browsing, Removing, Linking, Undoing, Transferring, Health):
    """Made by `pieria.open` or a `Workspace`; a context manager that closes it."""

    def __init__(self, *arguments: Any, handlers: Handlers = HANDLERS, vault: VaultAt = NOWHERE, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.facts = Facts(self)
        self.hooks = Hooks(self)
        self.jobs = Jobs(self, handlers)
        self.places = Places(self)
        self.scratchpad = Scratchpad(self)
        self.sources = Sources(self)
        self.upkeep = Upkeep(self)
        self.vault = Vault(self, vault)

    @cached_property
    def graph(self) -> BankGraph:
        """What it holds of lived and learnt things as nodes and ties, loaded when it is first asked for."""
        from pieria.bank.graph import BankGraph

        return BankGraph(self)

    @cached_property
    def _session_log(self) -> BankLog:
        """What it keeps of sessions that go on, loaded when it is first asked for."""
        from pieria.bank.session_log import BankLog

        return BankLog(self)

    def close(self) -> None:
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
