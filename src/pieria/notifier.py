"""What users are told while memory changes: the events there are, and how they reach a notifier without harm.

An event is listed here with the keys of its payload, and an unlisted one is refused, so that whoever listens can rely
on the list. Who emits which is told elsewhere; what leaves the process is the notifier's business alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pieria.errors import InputError, PieriaError

log = logging.getLogger(__name__)

WAITING = 10_000
"""Events that wait for a slow notifier at most."""
PATIENCE = 2.0
"""Seconds that a workspace which closes waits for its notifier."""
METADATA = ("session_id", "trace", "node_ids")
"""What any event may carry along."""


class Shape(NamedTuple):
    """The keys of an event's payload, those that may be missing, and the metadata that it always carries."""

    payload: tuple[str, ...]
    optional: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()


_PRUNED = Shape(("checked", "deleted", "deleted_ids"))
_TRAJECTORY = Shape(("session_id", "trajectory_id", "node_count", "node_ids"), metadata=("trace",))
_UNWRITTEN = Shape(("operation", "reason"))

EVENTS: Mapping[str, Shape] = {
    "changeset_applied": Shape(("changeset",)),
    "nodes_deleted": Shape(("node_ids",)),
    "decay_completed": _PRUNED,
    "consolidation_completed": _PRUNED,
    "validation_completed": Shape(("checked", "penalized", "orphaned"), optional=("grounded",)),
    "repair_completed": Shape(("checked", "repaired_nodes", "dangling_refs", "orphans_deleted", "orphan_ids")),
    "session_transition": Shape(("session_id", "old_state", "new_state")),
    "recall_executed": Shape(("query", "results"), metadata=("session_id", "trace")),
    "recall_failed": Shape(("query", "reason"), metadata=("session_id",)),
    "step_appended": Shape(
        ("session_id", "step_index", "trajectory_id", "boundary_detected"), metadata=("trace",)
    ),
    "step_judged": Shape(
        ("session_id", "step_index", "trajectory_id", "boundary_detected"), metadata=("trace",)
    ),
    "trajectory_committed": _TRAJECTORY,
    "trajectory_flushed": _TRAJECTORY,
    "session_expired": Shape(("session_id",)),
    "trajectory_extraction_failed": Shape(("session_id", "trajectory_id", "reason")),
    "append_failed": Shape(("session_id", "error")),
    "write_failed": _UNWRITTEN,
    "write_crashed": _UNWRITTEN,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """One of `EVENTS`, with just the keys that are listed for it. Payload and metadata are copies."""

    name: str
    payload: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = EVENTS.get(self.name) if isinstance(self.name, str) else None
        if shape is None:
            near = get_close_matches(str(self.name), EVENTS, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            raise InputError("name", f"one of {', '.join(EVENTS)}", self.name, hint=hint)
        payload = _checked(self.payload, f"{self.name}.payload", shape.payload, shape.optional)
        metadata = _checked(self.metadata, f"{self.name}.metadata", shape.metadata, METADATA)
        object.__setattr__(self, "payload", payload)
        object.__setattr__(self, "metadata", metadata)


def _checked(given: object, parameter: str, wanted: tuple[str, ...], allowed: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(parameter, "a mapping", given)
    for name in wanted:
        if name not in given:
            raise InputError(f"{parameter}.{name}", "a value", None)
    for name in given:
        if name not in wanted and name not in allowed:
            raise InputError(parameter, f"no keys but {', '.join(dict.fromkeys((*wanted, *allowed)))}", name)
    return dict(given)


def fitting(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was found, what the payload of an event has keys for."""
    shape = EVENTS[name]
    return {key: found[key] for key in (*shape.payload, *shape.optional) if key in found}


@runtime_checkable
class Notifier(Protocol):
    """Any object with this method. `repo_id` is the name of the bank, or of the repository, that the event is of."""

    def notify(self, repo_id: str, event: Event) -> object: ...


class NoopNotifier:
    """Listens to nothing."""

    def notify(self, repo_id: str, event: Event) -> None:
        """Nothing comes of it."""


def safe_notify(notifier: Notifier, repo_id: str, event: Event) -> None:
    """Tells one event, here and now. What a notifier raises is logged and does no other harm."""
    try:
        notifier.notify(repo_id, event)
    except (Exception, SystemExit):
        log.warning("a notifier failed on %s of %s", event.name, repo_id, exc_info=True)


Tell = Callable[..., object]
"""Tells of an event by its name and, as keywords, its payload."""


def nothing_told(name: str, **payload: Any) -> None:
    """For where nobody listens, or where what writes tells by itself."""


@contextmanager
def telling(tell: Tell, operation: str, event: str, **payload: Any) -> Iterator[None]:
    """The event once the block is through; otherwise that its operation was refused, or broke off."""
    try:
        yield
    except PieriaError as problem:
        tell("write_failed", operation=operation, reason=problem)
        raise
    except Exception as problem:
        tell("write_crashed", operation=operation, reason=problem)
        raise
    tell(event, **payload)


class Courier:
    """Brings events to one notifier, in their order, in a thread of its own: whoever tells one never waits for it.

    The thread lasts as long as there is something to tell. Events that find `WAITING` others before them are left out,
    and the log says how many.
    """

    def __init__(self, notifier: object) -> None:
        if not isinstance(notifier, Notifier) or isinstance(notifier, type):
            raise InputError("notifier", "an object with a method notify(repo_id, event)", notifier)
        self._notifier = notifier
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, Event]] = deque()
        self._left_out = 0
        self._thread: threading.Thread | None = None

    def tell(self, repo_id: str, event: Event) -> None:
        if isinstance(self._notifier, NoopNotifier):
            return
        with self._changed:
            if len(self._waiting) >= WAITING:
                self._left_out += 1
                return
            self._waiting.append((repo_id, event))
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name="pieria-notifier", daemon=True)
            starting = self._thread
        try:
            starting.start()
        except RuntimeError as problem:
            with self._changed:
                self._thread = None
            log.info("a notifier gets no more events: %s", problem)

    def close(self, patience: float = PATIENCE) -> None:
        """Waits until all is told, but no longer than that. Told by the notifier itself, it waits for nothing."""
        until = time.monotonic() + patience
        with self._changed:
            while self._thread not in (None, threading.current_thread()):
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    left_over = len(self._waiting) + self._left_out
                    log.warning("a notifier was not done in time: %d events are left", left_over)
                    return

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    if self._left_out:
                        log.warning("a notifier is too slow: %d events were left out", self._left_out)
                    self._left_out = 0
                    self._thread = None
                    self._changed.notify_all()
                    return
                told = self._waiting.popleft()
            safe_notify(self._notifier, *told)
