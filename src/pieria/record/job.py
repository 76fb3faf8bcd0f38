"""Jobs: queued work of a bank, and its outcome.

Plain data and the check of a new job. `bank` decides who runs a job and when it is retried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from pieria.errors import InputError
from pieria.record import check
from pieria.record.ids import derived_id, new_id, parse_reference
from pieria.record.reply import Reply
from pieria.record.time import iso, micros

QUEUED = ("waiting", "later")
"""Queued: ready, or not due yet."""
OPEN = (*QUEUED, "running")
ENDED = ("done", "stale", "cancelled", "dead")
STATES = (*OPEN, *ENDED)
TRIES = 5
MOST_TRIES = 100
PAYLOAD_LIMIT = 64 << 10
"""Bytes. A payload names its input and does not repeat it."""
PRIORITIES = 1_000
SLEEP_STARTERS = SESSION_END, IDLE, WORKER = ("session end", "idle", "worker")
"""Who queues the sleeps that a bank takes automatically."""
_KIND = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


class NewJob(NamedTuple):
    """A job to queue. `due` is in microseconds, None for now. `payload` is a JSON object as text.

    At most one job of a kind and key waits, and at most one runs. `memory` and `version` name the content the job is
    for, `digest` identifies other input. A job whose content has changed ends as stale.
    """

    id: str
    kind: str
    key: str
    payload: str
    memory: str | None = None
    version: int | None = None
    digest: str | None = None
    priority: int = 0
    due: int | None = None
    tries: int = TRIES


@dataclass(frozen=True, slots=True)
class Problem(Reply):
    """Why a job was delayed, is retried or failed. `code` is that of an error, or a word."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Progress(Reply):
    """The progress of a job. `what` is the unit or the step."""

    done: int
    whole: int
    what: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job in its current state. `payload` is None if it cannot be read."""

    id: str
    kind: str
    key: str
    payload: Mapping[str, Any] | None
    memory: str | None
    version: int | None
    digest: str | None
    priority: int
    state: str
    due_at: datetime
    attempts: int
    tries: int
    takeovers: int
    """How often the job's worker was lost."""
    worker: str | None
    made_at: datetime
    begun_at: datetime | None
    ended_at: datetime | None
    progress: Progress | None
    problem: Problem | None

    @property
    def about(self) -> str | None:
        """Return the memory version it is for, as `id@version`."""
        return None if self.memory is None else f"{self.memory}@{self.version}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "key": self.key,
            "payload": None if self.payload is None else dict(self.payload),
            "about": self.about,
            "digest": self.digest,
            "priority": self.priority,
            "state": self.state,
            "due_at": iso(self.due_at),
            "attempts": self.attempts,
            "tries": self.tries,
            "takeovers": self.takeovers,
            "worker": self.worker,
            "made_at": iso(self.made_at),
            "begun_at": iso(self.begun_at) if self.begun_at else None,
            "ended_at": iso(self.ended_at) if self.ended_at else None,
            "progress": self.progress.as_dict() if self.progress else None,
            "problem": self.problem.as_dict() if self.problem else None,
        }


class JobQuery(NamedTuple):
    """None means no restriction. All given `ids` are returned, regardless of the limit."""

    ids: tuple[str, ...] | None = None
    states: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    limit: int = 50


class Lease(NamedTuple):
    """A worker's lease on a job. The token authorises changes to the job until another worker takes it over."""

    token: str
    worker: str
    until: int
    """Microseconds."""


class Outcome(NamedTuple):
    """The result of a worker's attempt. `due` applies only to the state `later`.

    An attempt that does not count is given back: nothing was tried, or nothing that could fail.
    """

    state: str
    problem: Problem | None = None
    due: int | None = None
    counts: bool = True


class Later(NamedTuple):
    """The effect of a job that runs again at `due`, in microseconds. This attempt does not count."""

    due: int


def new_job(
    kind: str,
    payload: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
    about: str | None = None,
    digest: str | None = None,
    priority: int = 0,
    due: datetime | None = None,
    tries: int = TRIES,
) -> NewJob:
    """Return a checked job with a new id. Without a key, equal work for equal content is the same job."""
    written = check.mapping({} if payload is None else payload, "payload") or "{}"
    check.text(written, "payload", PAYLOAD_LIMIT, "name what is to be worked on instead of quoting it")
    memory, version = (None, None) if about is None else _about(about)
    own = derived_id("", written, memory or "", str(version or ""), digest or "") if key is None else key
    return NewJob(
        new_id(),
        checked_kind(kind),
        check.identifier(own, "key"),
        written,
        memory,
        version,
        None if digest is None else check.identifier(digest, "digest"),
        check.whole(priority, "priority", -PRIORITIES, PRIORITIES),
        None if due is None else micros(due),
        check.whole(tries, "tries", 1, MOST_TRIES),
    )


def checked_kind(kind: object, parameter: str = "kind") -> str:
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise InputError(parameter, "a lower-case name such as embed", kind)
    return kind


def _about(about: str) -> tuple[str, int]:
    id, version = parse_reference(check.identifier(about, "about"))
    if version is None:
        raise InputError("about", "a version of a memory, spelt id@version", about)
    return id, version


@dataclass(frozen=True, slots=True)
class Spent(Reply):
    """The calls of one step to one model, for a day or in total. `seconds` is the time spent waiting for replies."""

    step: str
    model: str
    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: Spent) -> Spent:
        """Return the sum with another row of the same step and model."""
        return Spent(
            self.step,
            self.model,
            self.calls + other.calls,
            self.failures + other.failures,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
        )
