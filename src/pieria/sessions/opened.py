"""The sessions of one repository that are open in this process. Each is open at most once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.graph.backend import GraphBackend
from pieria.learning.models import embedder_of
from pieria.notifier import Event
from pieria.record.time import Clock, system_clock
from pieria.runtime import forks
from pieria.sessions.log import SessionLog, unknown
from pieria.sessions.machine import context_of
from pieria.sessions.session import Session, leave
from pieria.sessions.state import SessionState
from pieria.sessions.surroundings import Crew, Surroundings

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.embedder import Embedder
    from pieria.models.mind import Mind

Own = Mapping[str, object]
"""Options of one session: `config`, `llm`, `embedder`, `notifier`, `profile`, `auto_commit`, as far as given."""


class Judges(NamedTuple):
    """The mind, embedder, configuration and event sink of a session.

    Without an embedder, the session uses the one that needs no model.
    """

    mind: Mind
    embedder: Embedder | None
    config: Config | None
    tell: Callable[[Event], object]
    profile: Mapping[str, object] | None = None
    """The session's own profile as JSON, if it has one."""


Judging = Callable[[Own], Judges]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """The state of a session for a listing. `is_open` says whether this process has it open."""

    id: str
    repo_id: str
    goal: str
    state: SessionState
    is_open: bool


class OpenSessions:
    """Begins, resumes and closes the sessions of one repository."""

    def __init__(
        self, repo: str, backend: GraphBackend, log: SessionLog, judging: Judging, clock: Clock = system_clock
    ) -> None:
        self._repo = repo
        self._backend = backend
        self._log = log
        self._judging = judging
        self._clock = clock
        self._open: dict[str, Session] = {}
        self._process = os.getpid()
        self._own_lock = threading.RLock()

    @property
    def _lock(self) -> threading.RLock:
        """The lock. Raises `ForkedError` in a forked child, where it may be locked for ever."""
        forks.check(self._process, "bank", self._repo)
        return self._own_lock

    def begin(self, goal: str, own: Own) -> Session:
        session = Session.begin(goal, self._surroundings(own))
        with self._lock:
            self._let_go_of_lost(list(self._open))
            self._open[session.id] = session
        return session

    def get(self, id: str) -> Session:
        """Return the open session, or resume it. Raises `NotFoundError` if it does not exist."""
        with self._lock:
            session = self._open.get(id)
            self._let_go_of_lost([id])
            if session is not None and session.is_over:
                raise unknown(id)
            # Another thread may have resumed the session by now.
            return self._open.get(id) or self.resume(id, {})

    def resume(self, id: str, own: Own) -> Session:
        """Resume a session with these options. Raises `SessionError` if it is open already."""
        known = self._log.load(id)
        kept = {} if known is None or known[0].profile is None else {"profile": known[0].profile}
        with self._lock:
            self._let_go_of_lost([id])
            session = self._open[id] = Session.resume(id, self._surroundings({**kept, **own}))
        return session

    def context(self, id: str) -> dict[str, Any] | None:
        """Return the logged goal and recent steps, without taking over the session."""
        found = self._log.load(id)
        if found is None:
            raise unknown(id)
        return None if found[0].episode is None else context_of(*found)

    def standing(self) -> list[SessionSummary]:
        """Return the state of every session that has not ended, in the order of their ids."""
        with self._lock:
            here = set(self._open)
        return [
            SessionSummary(kept.id, self._repo, kept.goal, SessionState(kept.state), kept.id in here)
            for kept in self._log.kept()
        ]

    def close(self) -> None:
        """Wait briefly for running work, then release all sessions. Unfinished work is done after a resume."""
        with self._lock:
            sessions = list(self._open.values())
            self._open.clear()
        leave(sessions)

    def _let_go_of_lost(self, ids: Sequence[str]) -> None:
        """Drop sessions that have ended or that another process has taken over. The lock must be held."""
        lost = [id for id in ids if id in self._open and not self._log.holds(id)]
        leave([self._open.pop(id) for id in lost], patience=0)

    def _surroundings(self, own: Own) -> Surroundings:
        judges = self._judging(own)
        return Surroundings(
            repo=self._repo,
            mind=judges.mind,
            embedder=embedder_of(judges.embedder),
            backend=self._backend,
            log=self._log,
            crew=_crew.get(Crew),
            tell=judges.tell,
            config=judges.config,
            profile=judges.profile,
            clock=self._clock,
        )


_crew: forks.Own[Crew] = forks.Own()
"""Shared by all sessions of this process."""
