"""Jobs: work that waits in a bank until somebody does it, and what became of it.

Plain data, and how a new one is checked. Who does a job, and when it is tried again, is decided in `bank`.
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
from pieria.record.time import iso, micros

QUEUED = ("waiting", "later")
"""To be done: now, or not before it is due."""
OPEN = (*QUEUED, "running")
ENDED = ("done", "stale", "cancelled", "dead")
STATES = (*OPEN, *ENDED)
TRIES = 5
MOST_TRIES = 100
PAYLOAD_LIMIT = 64 << 10
"""Bytes: a payload names what is to be worked on, and does not repeat it."""
PRIORITIES = 1_000
_KIND = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


class NewJob(NamedTuple):
    """A job to be queued. `due` in microseconds; None for at once. `payload` is a JSON object as text.

    Of a kind and key there is one at most that waits, and one at most that runs. `memory` and `version` say whose
    content it is for, `digest` what other input: a job whose content has changed ends as stale.
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
class Problem:
    """Why a job was put off, is tried again or did not come to a good end. `code` is that of an error, or a word."""

    code: str
    message: str

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is. `what` is the unit, or the step."""

    done: int
    whole: int
    what: str

    def as_dict(self) -> dict[str, Any]:
        return {"done": self.done, "whole": self.whole, "what": self.what}


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands. `payload` is None where it cannot be read."""

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
    """How often a worker was lost that had it."""
    worker: str | None
    made_at: datetime
    begun_at: datetime | None
    ended_at: datetime | None
    progress: Progress | None
    problem: Problem | None

    @property
    def about(self) -> str | None:
        """Whose content it is for, as `id@version`."""
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
    """None for whatever there is. `ids` are answered all, whatever the limit."""

    ids: tuple[str, ...] | None = None
    states: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    limit: int = 50


class Lease(NamedTuple):
    """A worker's hold on a job: whoever shows the token may speak for the job, until another has taken it over."""

    token: str
    worker: str
    until: int
    """Microseconds."""


class Outcome(NamedTuple):
    """What becomes of a job that a worker had. `due` counts for those that are to be done `later`.

    An attempt that does not `count` is given back: nothing was tried, or nothing that could fail.
    """

    state: str
    problem: Problem | None = None
    due: int | None = None
    counts: bool = True


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
    """Checked, with an id of its own. Without a key, the same work for the same content is the same job."""
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
