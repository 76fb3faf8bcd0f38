"""The log of a session: what must be saved while it runs, so that another process can resume it.

A log keeps one JSON value per session and one per step. A step is saved before any model call about it. One session
object at a time holds a session, across all processes that share the log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

from pieria.errors import NotFoundError, SessionError
from pieria.graph.changeset import Changeset, read, written
from pieria.learning.steps import Step


@dataclass(frozen=True, slots=True)
class UnfinishedSession:
    """The saved state of a session, without its steps."""

    id: str
    repo: str
    goal: str
    state: str = "idle"
    episode: Mapping[str, Any] | None = None
    """The current episode as JSON, without steps and trajectories; None if the session has no current episode."""
    auto_commit: bool = True
    committed: tuple[int, ...] = ()
    """Indices of the steps already extracted. Their knowledge is committed or, without `auto_commit`, in `waiting`."""
    waiting: tuple[Changeset, ...] = ()
    """Extracted changesets that wait to be committed or discarded."""
    reason: str | None = None
    """Why the extraction failed."""
    profile: Mapping[str, Any] | None = None
    """The session's own profile as JSON, so that a process that resumes the session uses the same one."""
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What a mind answered in failed extractions, as JSON, so that a retry does not ask and pay again."""

    def as_dict(self) -> dict[str, Any]:
        """Return the state as JSON values; `from_dict` reads them back."""
        kept = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            **kept,
            "episode": None if self.episode is None else dict(self.episode),
            "committed": list(self.committed),
            "waiting": [written(part) for part in self.waiting],
            "answers": dict(self.answers),
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        parts = {
            "committed": tuple(kept["committed"]),
            "waiting": tuple(read(part) for part in kept["waiting"]),
            "profile": kept.get("profile"),
            "answers": kept.get("answers", {}),
        }
        return cls(**{**kept, **parts})


class SessionLog(Protocol):
    """Where sessions are saved. A call that returns has saved its change; a call that raises has saved nothing.

    All methods but `begin`, `load`, `kept` and `holds` raise `NotFoundError` for an unknown session. Writing methods
    raise `SessionError` with the reason `held_elsewhere` if another process holds the session.
    """

    def begin(self, kept: UnfinishedSession) -> UnfinishedSession:
        """Save a new session and hold it. Returns it as saved: private parts of the goal may be cut."""

    def step(self, kept: UnfinishedSession, step: Step) -> Step:
        """Save a step, and save it again under the same index once it is judged. Returns it as saved."""

    def withdraw(self, kept: UnfinishedSession, index: int) -> None:
        """Delete a step that was refused."""

    def keep(self, kept: UnfinishedSession) -> UnfinishedSession:
        """Save the session and return it as saved. Without an episode, all its steps are deleted."""

    def commit(self, kept: UnfinishedSession, changeset: Changeset, forget: Collection[int] = ()) -> None:
        """Save the knowledge and the session, both or neither.

        `forget` has the indices of steps to delete, because the episode needs them no longer.
        """

    def load(self, id: str) -> tuple[UnfinishedSession, list[Step]] | None:
        """Return the session and its remaining steps in order, or None if there is no such session."""

    def steps(self, id: str, indices: Collection[int]) -> list[Step]:
        """Return the steps with these indices that still exist."""

    def kept(self) -> list[UnfinishedSession]:
        """Return all saved sessions, in the order of their ids."""

    def holds(self, id: str) -> bool:
        """Return whether this log holds the session, as last known: another process may have taken over its lease."""

    def hold(self, id: str) -> None:
        """Take the session for this log; from then on no other process may continue it."""

    def release(self, id: str) -> None:
        """Give up the session, so that another process may continue it."""

    def end(self, id: str) -> None:
        """Delete the session and its steps."""


def held_elsewhere(id: str) -> SessionError:
    hint = f"Go on with {id} where it is open, or close that first; after a crash it is free within about a minute."
    return SessionError("held_elsewhere", hint=hint)


def unknown(id: str) -> NotFoundError:
    return NotFoundError("session", id, hint="`sessions` lists those there are; one that is over is not among them.")


@dataclass(slots=True)
class _Entry:
    kept: UnfinishedSession
    steps: dict[int, Step] = field(default_factory=dict)


class MemoryLog:
    """A log in memory, for a graph in the caller's own backend. Its sessions end with the process."""

    def __init__(self, apply: Callable[[Changeset], object]) -> None:
        """`apply` writes knowledge to the graph."""
        self._apply = apply
        self._entries: dict[str, _Entry] = {}
        self._held: set[str] = set()
        self._lock = threading.RLock()

    def begin(self, kept: UnfinishedSession) -> UnfinishedSession:
        with self._lock:
            self._entries[kept.id] = _Entry(kept)
            self._held.add(kept.id)
        return kept

    def step(self, kept: UnfinishedSession, step: Step) -> Step:
        with self._lock:
            self._entry(kept).steps[step.index] = step
        return step

    def withdraw(self, kept: UnfinishedSession, index: int) -> None:
        with self._lock:
            self._entry(kept).steps.pop(index, None)

    def keep(self, kept: UnfinishedSession) -> UnfinishedSession:
        with self._lock:
            entry = self._entry(kept)
            if kept.episode is None:
                entry.steps.clear()
        return kept

    def commit(self, kept: UnfinishedSession, changeset: Changeset, forget: Collection[int] = ()) -> None:
        with self._lock:
            self._known(kept.id)
        # The backend may be slow, so the lock is free meanwhile. Only the holder of the session changes its entry.
        self._apply(changeset)
        with self._lock:
            entry = self._entry(kept)
            for index in tuple(entry.steps) if kept.episode is None else forget:
                entry.steps.pop(index, None)

    def load(self, id: str) -> tuple[UnfinishedSession, list[Step]] | None:
        with self._lock:
            entry = self._entries.get(id)
            return None if entry is None else (entry.kept, [step for _, step in sorted(entry.steps.items())])

    def steps(self, id: str, indices: Collection[int]) -> list[Step]:
        with self._lock:
            held = self._known(id).steps
            return [held[index] for index in sorted(indices) if index in held]

    def holds(self, id: str) -> bool:
        with self._lock:
            return id in self._held

    def kept(self) -> list[UnfinishedSession]:
        with self._lock:
            return [entry.kept for _, entry in sorted(self._entries.items())]

    def hold(self, id: str) -> None:
        with self._lock:
            self._known(id)
            if id in self._held:
                raise held_elsewhere(id)
            self._held.add(id)

    def release(self, id: str) -> None:
        with self._lock:
            self._known(id)
            self._held.discard(id)

    def end(self, id: str) -> None:
        with self._lock:
            self._known(id)
            del self._entries[id]
            self._held.discard(id)

    def _known(self, id: str) -> _Entry:
        entry = self._entries.get(id)
        if entry is None:
            raise unknown(id)
        return entry

    def _entry(self, kept: UnfinishedSession) -> _Entry:
        """Store the session's state in its entry and return the entry."""
        entry = self._known(kept.id)
        entry.kept = kept
        return entry
