"""The workspace's functions that start a session or take a session's id.

Each calls the session, found in the open repositories; a session left by a process is resumed. `pieria.sessions` has
the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pieria.errors import NotFoundError
from pieria.notifier import Event
from pieria.record import check
from pieria.workspace.behind import Callback
from pieria.workspace.repositories import Repositories

if TYPE_CHECKING:
    from pieria.sessions.opened import OpenSessions, SessionSummary
    from pieria.sessions.session import Session
    from pieria.sessions.state import SessionState

T = TypeVar("T")


def nobody_told(event: Event) -> None:
    """Ignore the event, if there is no notifier."""


class Sessions(Repositories):
    """Each method raises `NotFoundError` for an unknown session, and `SessionError` if its state does not allow the
    call.

    The `_async` forms do not wait: they call `callback` once, with a word for the result or with the error.
    """

    def start_session(
        self,
        goal: str,
        repo: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
        *,
        profile: object = None,
        auto_commit: bool | None = None,
    ) -> str:
        """Start a session in an open repository and return its id; it then collects steps.

        `config`, `llm`, `embedding` and `notifier` replace the repository's. `profile` and `auto_commit` replace
        single values of the repository's configuration.
        """
        own = _given(
            config=config, llm=llm, embedder=embedding, notifier=notifier, profile=profile, auto_commit=auto_commit
        )
        return self._repository(repo).sessions().begin(goal, own).id

    def session(self, session_id: str) -> Session:
        """Return the session, resumed if it was left."""
        return self._in_any(session_id, lambda sessions: sessions.get(session_id))

    def resume(
        self,
        session_id: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
    ) -> Session:
        """Resume a session that its process left, with its own models.

        Raise `SessionError` with the reason `held_elsewhere` if it is open.
        """
        own = _given(config=config, llm=llm, embedder=embedding, notifier=notifier)
        return self._in_any(session_id, lambda sessions: sessions.resume(session_id, own))

    def sessions(self, repo_id: str) -> list[SessionSummary]:
        """Return the unfinished sessions of a repository, including those open elsewhere."""
        return self._repository(repo_id).sessions().standing()

    def session_state(self, session_id: str) -> SessionState:
        return self.session(session_id).state

    def append(self, session_id: str, observation: str, action: str) -> None:
        """Append an observation and an action, and wait until the step is stored. A model that fails loses no step."""
        self.session(session_id).append(observation, action)

    def append_async(self, session_id: str, observation: str, action: str, callback: Callback | None = None) -> None:
        """Append in the background; the callback gets `appended`."""
        self.session(session_id).append_async(observation, action, callback)

    def close_async(self, session_id: str, callback: Callback | None = None) -> None:
        """Close in the background; the callback gets `closed`."""
        self.session(session_id).close_async(callback)

    def commit(self, session_id: str) -> None:
        """Write the extracted knowledge to the graph. May be repeated after a failure."""
        self.session(session_id).commit()

    def commit_async(self, session_id: str, callback: Callback | None = None) -> None:
        """Commit in the background; the callback gets `committed`."""
        self.session(session_id).commit_async(callback)

    def discard(self, session_id: str) -> None:
        """Drop the steps and the extracted knowledge."""
        self.session(session_id).discard()

    def discard_async(self, session_id: str, callback: Callback | None = None) -> None:
        """Discard in the background; the callback gets `discarded`."""
        self.session(session_id).discard_async(callback)

    def start_episode(self, session_id: str, goal: str) -> None:
        """Start the next episode in an idle session."""
        self.session(session_id).start_episode(goal)

    def start_episode_async(self, session_id: str, goal: str, callback: Callback | None = None) -> None:
        """Start an episode in the background; the callback gets `started`."""
        self.session(session_id).start_episode_async(goal, callback)

    def close_and_commit(
        self, session_id: str, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50
    ) -> None:
        """Close the episode, wait for extraction and commit it, with retries.

        With these defaults it waits for as long as the model answers, otherwise up to `max_polls` times `poll_interval`
        milliseconds for each try. Raise `PipelineError` if all fail.
        """
        self.session(session_id).close_and_commit(max_retries, max_polls, poll_interval)

    def _in_any(self, session_id: str, use: Callable[[OpenSessions], T]) -> T:
        check.identifier(session_id, "session_id")
        with self._repositories_lock:
            opened = [repository for repository in self._repositories.values() if repository.is_open]
        for repository in opened:
            try:
                return use(repository.sessions())
            except NotFoundError:
                continue
        hint = "`sessions` lists the sessions of a repository. The repository must be open: `open_repo`."
        raise NotFoundError("session", session_id, hint=hint)


def _given(**own: object) -> dict[str, object]:
    return {name: value for name, value in own.items() if value is not None}
