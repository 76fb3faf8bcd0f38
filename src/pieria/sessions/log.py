"""What is kept of a session while it goes on, so that it can be taken up again: its log.

A log keeps one value for a session and one for each of its steps, all of it JSON. A step is kept before any model is
asked about it. One session object at a time holds a session; where logs are shared, that is one among all processes.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

from pieria.errors import NotFoundError, SessionError
from pieria.graph.changeset import Changeset
from pieria.graph.json_nodes import read, written
from pieria.learning.steps import Step


@dataclass(frozen=True, slots=True)
class Kept:
    """A session as it stands, without its steps."""

    id: str
    repo: str
    goal: str
    state: str = "idle"
    episode: Mapping[str, Any] | None = None
    """Its episode as JSON, without steps and trajectories; None where none is under way."""
    auto_commit: bool = True
    committed: tuple[int, ...] = ()
    """The steps that knowledge was drawn from: it is committed or, in a session that commits by hand, waits."""
    waiting: tuple[Changeset, ...] = ()
    """What was drawn, part by part, and is to be committed or discarded."""
    reason: str | None = None
    """Why it failed."""
    profile: Mapping[str, Any] | None = None
    """The profile that is its own, as JSON: it holds in whichever process the session goes on."""

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it; `from_dict` makes the same of it again."""
        kept = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            **kept,
            "episode": None if self.episode is None else dict(self.episode),
            "committed": list(self.committed),
            "waiting": [written(part) for part in self.waiting],
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        parts = {
            "committed": tuple(kept["committed"]),
            "waiting": tuple(read(part) for part in kept["waiting"]),
            "profile": kept.get("profile"),
        }
        return cls(**{**kept, **parts})


class SessionLog(Protocol):
    """Each call is kept when it returns, and one that raises keeps nothing.

    All but `begin`, `load`, `kept` and `holds` raise `NotFoundError` for a session that is not there, and what writes
    `SessionError` with the reason `held_elsewhere` where another holds it.
    """

    def begin(self, kept: Kept) -> Kept:
        """A new session, held from now on. Returns it as it is kept: of its goal something may be cut."""

    def step(self, kept: Kept, step: Step) -> Step:
        """A step as it came in, and once more under the same index when it is judged. Returns it as it is kept."""

    def withdraw(self, kept: Kept, index: int) -> None:
        """The step was refused, and nothing of it stays."""

    def keep(self, kept: Kept) -> Kept:
        """The session as it stands now, returned as it is kept. Without an episode it has no steps any more."""

    def commit(self, kept: Kept, changeset: Changeset, forget: Collection[int] = ()) -> None:
        """The knowledge and the session as it stands with it, both or neither. The steps to forget are not needed by
        the episode any more.
        """

    def load(self, id: str) -> tuple[Kept, list[Step]] | None:
        """The session and what is left of its steps, in their order; None where there is no such session."""

    def steps(self, id: str, indices: Collection[int]) -> list[Step]:
        """Those of the session's steps, as far as they are there."""

    def kept(self) -> list[Kept]:
        """All the sessions that are there, in the order of their ids."""

    def holds(self, id: str) -> bool:
        """Whether this log has it, as far as it knows: another may have taken it for lost meanwhile."""

    def hold(self, id: str) -> None:
        """Nobody else may go on with it from now on."""

    def release(self, id: str) -> None:
        """Whoever wants to may go on with it."""

    def end(self, id: str) -> None:
        """It is over: nothing of it is left in the log."""


def held_elsewhere(id: str) -> SessionError:
    hint = f"Go on with {id} where it is open, or close that first; after a crash it is free within about a minute."
    return SessionError("held_elsewhere", hint=hint)


def unknown(id: str) -> NotFoundError:
    return NotFoundError("session", id, hint="`sessions` lists those there are; one that is over is not among them.")


@dataclass(slots=True)
class _Entry:
    kept: Kept
    steps: dict[int, Step] = field(default_factory=dict)


class MemoryLog:
    """For a graph that a backend of the caller's keeps: its sessions end with the process."""

    def __init__(self, apply: Callable[[Changeset], object]) -> None:
        """`apply` writes knowledge to the graph."""
        self._apply = apply
        self._entries: dict[str, _Entry] = {}
        self._held: set[str] = set()
        self.start_anew()
        _logs.add(self)

    def start_anew(self) -> None:
        """After a fork, in the child: its sessions are still its parent's."""
        self._lock = threading.RLock()

    def begin(self, kept: Kept) -> Kept:
        with self._lock:
            self._entries[kept.id] = _Entry(kept)
            self._held.add(kept.id)
        return kept

    def step(self, kept: Kept, step: Step) -> Step:
        with self._lock:
            self._entry(kept).steps[step.index] = step
        return step

    def withdraw(self, kept: Kept, index: int) -> None:
        with self._lock:
            self._entry(kept).steps.pop(index, None)

    def keep(self, kept: Kept) -> Kept:
        with self._lock:
            entry = self._entry(kept)
            if kept.episode is None:
                entry.steps.clear()
        return kept

    def commit(self, kept: Kept, changeset: Changeset, forget: Collection[int] = ()) -> None:
        with self._lock:
            self._known(kept.id)
        # The backend may take its time; nobody but whoever holds the session changes what is kept of it.
        self._apply(changeset)
        with self._lock:
            entry = self._entry(kept)
            for index in tuple(entry.steps) if kept.episode is None else forget:
                entry.steps.pop(index, None)

    def load(self, id: str) -> tuple[Kept, list[Step]] | None:
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

    def kept(self) -> list[Kept]:
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

    def _entry(self, kept: Kept) -> _Entry:
        """The entry of the session, with this as what is kept of it."""
        entry = self._known(kept.id)
        entry.kept = kept
        return entry


_logs: weakref.WeakSet[MemoryLog] = weakref.WeakSet()


def _after_fork() -> None:
    for log in list(_logs):
        log.start_anew()


os.register_at_fork(after_in_child=_after_fork)
