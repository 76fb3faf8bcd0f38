"""The engine behind a server over stdio: it loads slowly, so a thread loads it after the client's first answer."""

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
    from pieria.capture.drain import DrainBehind

log = logging.getLogger(__name__)

WHO = "mcp"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `pieria mcp`; `settings` come from its command line."""

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
    """Threads may share it: the first to need it loads it, and the others wait."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._begun = self._closed = False
        self._session = f"{WHO}-{new_id()}"

    def load(self) -> None:
        """Start loading the engine, once."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._load_behind, name="pieria-engine", daemon=True).start()

    def host(self, context: Any, tool: Tool) -> Host:
        """Return the host of a request. Wait for the engine, and raise the error if it could not be loaded."""
        held = self._loaded()
        session = held.session or session_of(context) or self._session
        named = held.banks.workspace.resolved.is_bank_named
        return Host(held.banks, held.bank_name, session, held.paths, self._asked.access, is_named=named)

    def close(self) -> None:
        """Release the current job and close the banks. A call that still uses one ends with an error."""
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
            # Every call raises it again, and so reaches a person who can fix it.
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

        # A read-only server leaves no trace of its reads.
        quietly = {"count_uses": False} if self._asked.read_only else {}
        workspace = Workspace(self._asked.data, {**self._asked.settings, **quietly}, by_door=True)
        banks = Banks(workspace, WHO)
        worker = drain = None
        if not self._asked.read_only:
            from pieria.capture.drain import DrainBehind

            worker = banks.worker()
            worker.start()
            drain = DrainBehind(workspace, lambda done: banks.work_on(done.banks))
            drain.start()
        return _Held(banks, paths_of_user(workspace), worker, drain)
