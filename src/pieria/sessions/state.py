"""The states of a session, and tables of the operations allowed in each. Nothing here acts on a session."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class SessionState(StrEnum):
    """The states. A member equals its text."""

    IDLE = "idle"
    """There is no current episode."""
    COLLECTING = "collecting"
    """Steps are appended."""
    EXTRACTING = "extracting"
    """The episode is closed, and knowledge is extracted from it."""
    READY = "ready"
    """Knowledge waits to be committed or discarded."""
    FAILED = "failed"
    """Extraction failed; the steps are still there."""


class Operation(StrEnum):
    START_EPISODE = "start_episode"
    APPEND = "append"
    CLOSE = "close"
    COMMIT = "commit"
    DISCARD = "discard"


class Do(StrEnum):
    """The actions that allowed operations lead to."""

    START = "start"
    APPEND = "append"
    CLOSE = "close"
    COMMIT = "commit"
    RETRY = "retry"
    DISCARD = "discard"


_IDLE, _COLLECTING, _EXTRACTING, _READY, _FAILED = SessionState
Row = Mapping[SessionState, Do | str]


def _row(idle: Do | str, collecting: Do | str, extracting: Do | str, ready: Do | str, failed: Do | str) -> Row:
    return dict(zip(SessionState, (idle, collecting, extracting, ready, failed), strict=True))


_DRAWING, _FULL, _BROKEN = "extraction_in_progress", "not_idle", "session_failed"

ALLOWED: Mapping[Operation, Row] = {
    Operation.START_EPISODE: _row(Do.START, _FULL, _DRAWING, _FULL, _BROKEN),
    Operation.APPEND: _row("not_collecting", Do.APPEND, _DRAWING, _FULL, _BROKEN),
    Operation.CLOSE: _row("not_collecting", Do.CLOSE, _DRAWING, _FULL, _BROKEN),
    Operation.COMMIT: _row("not_ready", "not_ready", _DRAWING, Do.COMMIT, Do.RETRY),
    Operation.DISCARD: _row("not_discardable", "not_discardable", _DRAWING, Do.DISCARD, Do.DISCARD),
}
"""What each operation does in each state, or the reason for refusing it."""

_NEVER = "invalid_operation"

AT_ONCE: Mapping[Operation, Row] = {
    Operation.START_EPISODE: _row(Do.START, _NEVER, _NEVER, _NEVER, _BROKEN),
    Operation.CLOSE: _row(_NEVER, Do.CLOSE, _NEVER, _NEVER, _BROKEN),
    Operation.COMMIT: _row(_NEVER, _NEVER, _NEVER, Do.COMMIT, _BROKEN),
    Operation.DISCARD: _row(_NEVER, _NEVER, _NEVER, Do.DISCARD, _BROKEN),
}
"""As `ALLOWED`, for asynchronous operations in a session that is not busy. A busy session queues them."""

QUEUE_LIMIT = 5
RECENT = 5
"""Steps in a context."""


def settles_as(auto_commit: bool) -> SessionState:
    """Return the state after a successful extraction."""
    return _IDLE if auto_commit else _READY


def after(state: SessionState, operation: Operation, auto_commit: bool) -> SessionState | None:
    """Return the state that a queued operation leads to from this one, or None if it is not allowed there."""
    return {
        (_READY, Operation.COMMIT): _IDLE,
        (_READY, Operation.DISCARD): _IDLE,
        (_IDLE, Operation.START_EPISODE): _COLLECTING,
        (_COLLECTING, Operation.CLOSE): settles_as(auto_commit),
    }.get((state, operation))


DONE: Mapping[Operation, str] = {
    Operation.START_EPISODE: "started",
    Operation.APPEND: "appended",
    Operation.CLOSE: "closed",
    Operation.COMMIT: "committed",
    Operation.DISCARD: "discarded",
}
"""The word that a callback gets for a successful operation."""
