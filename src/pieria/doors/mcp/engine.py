"""The engine behind a server over stdio: what is heavy, loaded in a thread after the client has its first answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.doors.mcp.sessions import session_of
from pieria.errors import ClosedError, PieriaError
from pieria.record.ids import new_id
from pieria.toolsets import Access, Banks, Host, Tool
from pieria.toolsets.paths import Paths, paths_of_user

if TYPE_CHECKING:
    from pieria.bank.jobs.worker import Worker
    from pieria.capture.behind import DrainBehind

log = logging.getLogger(__name__)

WHO = "mcp"


@dataclass(frozen=True, slots=True)
class Asked:
    """What `pieria mcp` was asked for; `settings` are those of its line."""

    data: str | None
    settings: Mapping[str, Any]
    read_only: bool = False

    @property
    def access(self) -> Access:
        return Access.read if self.read_only else Access.admin


@dataclass(frozen=True, slots=True)
class _Held:
    banks: Banks
    paths: Paths
    worker: Worker | None
    drain: DrainBehind | None

    @property
    def bank_name(self) -> str:
        return self.banks.workspace.resolved.settings.bank

    @property
    def session(self) -> str | None:
        return self.banks.workspace.resolved.settings.session


class Engine:
    """Threads may share it: whoever comes first loads it, and the others wait."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._begun = self._closed = False
        self._session = f"{WHO}-{new_id()}"

    def load(self) -> None:
        """Begins to load it, once."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._load_behind, name="pieria-engine", daemon=True).start()

    def host(self, context: Any, tool: Tool) -> Host:
        """On whose behalf a request is made. Waits until the engine is there, and raises why it cannot be."""
        held = self._loaded()
        session = held.session or session_of(context) or self._session
        named = held.banks.workspace.resolved.is_bank_named
        return Host(held.banks, held.bank_name, session, held.paths, self._asked.access, is_named=named)

    def close(self) -> None:
        """Gives back the job at work and closes the banks. A call still in one of them ends with an error there."""
        with self._lock:
            held, self._held, self._closed = self._held, None, True
        if held is None:
            return
        if held.drain is not None:
            held.drain.close()
        if held.worker is not None:
            held.worker.close()
        held.banks.close()

    def _load_behind(self) -> None:
        try:
            held = self._loaded()
            if held.banks.has(held.bank_name):
                bank = held.banks.opened(held.bank_name, held.session or self._session, create=False)
                bank.expect_questions()
        except ClosedError:
            log.debug("the server ended while it was loading")
        except PieriaError as problem:
            # Every call says so again, to whoever can do something about it.
            log.warning("%s %s", problem.message, problem.hint or "")

    def _loaded(self) -> _Held:
        with self._lock:
            if self._closed:
                raise ClosedError("server")
            if self._held is None:
                self._held = self._made()
            return self._held

    def _made(self) -> _Held:
        from pieria.workspace import Workspace

        # Who may only read leaves no trace of having read, either.
        quietly = {"count_uses": False} if self._asked.read_only else {}
        workspace = Workspace(self._asked.data, {**self._asked.settings, **quietly}, by_door=True)
        banks = Banks(workspace, WHO)
        worker = drain = None
        if not self._asked.read_only:
            from pieria.capture.behind import DrainBehind

            worker = banks.worker()
            worker.start()
            drain = DrainBehind(workspace, lambda done: banks.work_on(done.banks))
            drain.start()
        return _Held(banks, paths_of_user(workspace), worker, drain)
