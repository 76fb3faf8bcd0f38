"""A session that the server holds open. It is found again by its id, also after the server was restarted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from pieria.errors import InputError, PieriaError
from pieria.remote.calls import Calls
from pieria.remote.classes import verbs_of
from pieria.runtime.lazy import cached_property
from pieria.sessions import Session
from pieria.sessions.queue import Callback


class SessionBehind(Session):
    """The parts of a session that are not a plain call."""

    def __init__(self, calls: Calls, id: str) -> None:
        self._calls = calls
        self._on = {"id": id}

    @property
    def id(self) -> str:
        return self._on["id"]

    @cached_property
    def _line(self) -> ThreadPoolExecutor:
        """One thread, so that steps keep the order of the calls."""
        return ThreadPoolExecutor(1, "pieria-session")

    def append_async(self, observation: str, action: str, callback: Callback | None = None) -> None:
        self._later("appended", lambda: self.append(observation, action), callback)

    def start_episode_async(self, goal: str, callback: Callback | None = None) -> None:
        self._later("started", lambda: self.start_episode(goal), callback)

    def close_async(self, callback: Callback | None = None) -> None:
        self._later("closed", self.close, callback)

    def commit_async(self, callback: Callback | None = None) -> None:
        self._later("committed", self.commit, callback)

    def discard_async(self, callback: Callback | None = None) -> None:
        self._later("discarded", self.discard, callback)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.send("session.leave", {"failed": kind is not None}, on=self._on)

    def _later(self, word: str, work: Callable[[], object], callback: Callback | None) -> None:
        if callback is not None and not callable(callback):
            raise InputError("callback", "a function that takes the result", callback)

        def done() -> None:
            outcome: str | PieriaError = word
            try:
                work()
            except PieriaError as problem:
                outcome = problem
            if callback is not None:
                callback(outcome)

        self._line.submit(done)


_OWN = ("append_async", "start_episode_async", "close_async", "commit_async", "discard_async", "id")
_sent = {name: member for name, member in verbs_of(Session, "session").items() if name not in _OWN}
RemoteSession: Any = type("Session", (SessionBehind,), {"__module__": __name__, "__doc__": Session.__doc__, **_sent})
"""A session whose steps are sent."""
