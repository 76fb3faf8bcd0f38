"""The functions of a workspace that take a session's id, and those that begin one.

Each is a word to the session itself, found among the repositories that are open here; one that was left is taken up
again. What a session may do is told in `pieria.sessions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pieria.errors import NotFoundError
from pieria.notifier import Event
from pieria.record import check
from pieria.workspace.repositories import Repositories

if TYPE_CHECKING:
    from pieria.sessions.opened import OpenSessions, Standing
    from pieria.sessions.session import Session
    from pieria.sessions.state import SessionState

Callback = Callable[[Any], object]
T = TypeVar("T")


def nobody_told(event: Event) -> None:
    """For where there is no notifier."""


class Sessions(Repositories):
    """Without a session of the id, each of them raises `NotFoundError`; what its state does not allow, `SessionError`.

    The forms that end in `_async` do not wait: they call `callback`, once, with the word for what was done, or with
    the error.
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
        """Begins a session in a repository that is open, and returns its id; it collects steps from then on.

        `config`, `llm`, `embedding` and `notifier` are its own, in place of the repository's; a configuration as a
        whole. `profile` and `auto_commit` are so much of one that is as the repository's otherwise.
        """
        own = _given(
            config=config, llm=llm, embedder=embedding, notifier=notifier, profile=profile, auto_commit=auto_commit
        )
        return self._repository(repo).sessions().begin(goal, own).id

    def session(self, session_id: str) -> Session:
        """The session itself, taken up again where it was left."""
        return self._in_any(session_id, lambda sessions: sessions.get(session_id))

    def resume(
        self,
        session_id: str,
        config: object = None,
        llm: object = None,
        embedding: object = None,
        notifier: object = None,
    ) -> Session:
        """Takes up a session that was left, by a process that was lost or that ended, with what is its own.

        Raises `SessionError`, reason `held_elsewhere`, where it is open.
        """
        own = _given(config=config, llm=llm, embedder=embedding, notifier=notifier)
        return self._in_any(session_id, lambda sessions: sessions.resume(session_id, own))

    def sessions(self, repo_id: str) -> list[Standing]:
        """Those of a repository that are not over, whoever has them open."""
        return self._repository(repo_id).sessions().standing()

    def session_state(self, session_id: str) -> SessionState:
        return self.session(session_id).state

    def append(self, session_id: str, observation: str, action: str) -> None:
        """What was observed, and what was done about it. Returns when the step is judged and kept."""
        self.session(session_id).append(observation, action)

    def append_async(self, session_id: str, observation: str, action: str, callback: Callback | None = None) -> None:
        """The word is `appended`."""
        self.session(session_id).append_async(observation, action, callback)

    def close_async(self, session_id: str, callback: Callback | None = None) -> None:
        """The word is `closed`."""
        self.session(session_id).close_async(callback)

    def commit(self, session_id: str) -> None:
        """What was drawn is in the graph when this returns. After a failure: another try."""
        self.session(session_id).commit()

    def commit_async(self, session_id: str, callback: Callback | None = None) -> None:
        """The word is `committed`."""
        self.session(session_id).commit_async(callback)

    def discard(self, session_id: str) -> None:
        """What was drawn, or could not be, goes, and the steps with it."""
        self.session(session_id).discard()

    def discard_async(self, session_id: str, callback: Callback | None = None) -> None:
        """The word is `discarded`."""
        self.session(session_id).discard_async(callback)

    def start_episode(self, session_id: str, goal: str) -> None:
        """The next one, in a session that is idle."""
        self.session(session_id).start_episode(goal)

    def start_episode_async(self, session_id: str, goal: str, callback: Callback | None = None) -> None:
        """The word is `started`."""
        self.session(session_id).start_episode_async(goal, callback)

    def close_and_commit(
        self, session_id: str, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50
    ) -> None:
        """Closes the episode, waits until knowledge is drawn, and commits it; where that fails, it is tried again.

        Each try is waited for `max_polls` times `poll_interval` milliseconds. Raises `PipelineError`.
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
        hint = "`sessions` lists those of a repository; its repository has to be open: `open_repo`."
        raise NotFoundError("session", session_id, hint=hint)


def _given(**own: object) -> dict[str, object]:
    return {name: value for name, value in own.items() if value is not None}
