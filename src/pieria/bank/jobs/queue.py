"""The jobs of a bank: queue, list, replay and cancel them. A `Worker` runs them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pieria.bank.jobs.handlers import Handler, Handlers
from pieria.bank.jobs.run import WorkerTimes
from pieria.bank.jobs.worker import Worker
from pieria.errors import NotFoundError
from pieria.record import check
from pieria.record.draft import Instant
from pieria.record.job import STATES, Job, JobQuery, checked_kind, new_job
from pieria.record.time import instant

if TYPE_CHECKING:
    from pieria.bank import Bank

MOST_LISTED = 10_000
NO_HANDLER = Handler(lambda work: None)
"""For kinds whose handlers only other processes have."""


class JobList(list[Job]):
    """Jobs, newest first. `truncated` says that there are more."""

    def __init__(self, jobs: Iterable[Job] = (), *, truncated: bool = False) -> None:
        super().__init__(jobs)
        self.truncated = truncated

    def as_dict(self) -> dict[str, Any]:
        return {"jobs": [job.as_dict() for job in self], "truncated": self.truncated}


class Jobs:
    def __init__(self, bank: Bank, handlers: Handlers) -> None:
        self._bank = bank
        self._handlers = handlers
        # A running worker is referenced by its thread; an unreferenced one needs no closing.
        self._workers: weakref.WeakSet[Worker] = weakref.WeakSet()

    def add(
        self,
        kind: str,
        payload: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        about: str | None = None,
        priority: int = 0,
        due: Instant | None = None,
        tries: int | None = None,
    ) -> Job:
        """Queue a job, or return the queued or running one of the same kind and key.

        `payload` says what to do, and names memories by id instead of quoting them. `about` is the `id@version` it is
        for: once that has changed, the job ends as stale. Without a key, equal payloads are one job.
        """
        handler = self._handlers.get(checked_kind(kind), NO_HANDLER)
        wanted = partial(
            new_job,
            kind,
            payload,
            key=key,
            about=about,
            priority=priority,
            due=None if due is None else instant(due, "due"),
            tries=handler.tries if tries is None else tries,
        )
        job = wanted()
        handler.check(payload or {})
        with self._bank.core.writing() as writer:
            if handler.digest is not None:
                job = wanted(digest=handler.digest(writer, payload or {}))
            return writer.jobs(JobQuery(ids=tuple(writer.enqueue([job]))))[0]

    def get(self, id: str) -> Job:
        check.identifier(id, "id")
        with self._bank.core.reading() as reader:
            for job in reader.jobs(JobQuery(ids=(id,))):
                return job
        raise NotFoundError("job", id, hint="`jobs.list` lists the jobs. Finished jobs are deleted after a week.")

    def list(
        self, *, states: str | Iterable[str] | None = None, kinds: str | Iterable[str] | None = None, limit: int = 50
    ) -> JobList:
        """Return jobs of these states and kinds, newest first."""
        wanted = None if states is None else check.choices(states, "states", STATES)
        of = _kinds(kinds)
        check.whole(limit, "limit", 1, MOST_LISTED)
        with self._bank.core.reading() as reader:
            found = reader.jobs(JobQuery(states=wanted, kinds=of, limit=limit + 1))
        return JobList(found[:limit], truncated=len(found) > limit)

    def counts(self) -> dict[str, int]:
        """Return the number of jobs in each state."""
        with self._bank.core.reading() as reader:
            counted = reader.job_counts()
        return by_state(counted)

    def replay(self, ids: str | Iterable[str]) -> tuple[Job, ...]:
        """Queue dead or cancelled jobs again with all their tries: all of them, or none."""
        wanted = check.identifiers(ids, "ids")
        with self._bank.core.writing() as writer:
            writer.replay(wanted)
            return _in_order(wanted, writer.jobs(JobQuery(ids=wanted)))

    def cancel(self, ids: str | Iterable[str]) -> tuple[Job, ...]:
        """Cancel jobs: all of them, or none.

        A running handler is notified within about a second, and its effect is dropped.
        """
        wanted = check.identifiers(ids, "ids")
        with self._bank.core.writing() as writer:
            writer.cancel(wanted)
            return _in_order(wanted, writer.jobs(JobQuery(ids=wanted)))

    def worker(
        self,
        handlers: Handlers | None = None,
        *,
        kinds: str | Iterable[str] | None = None,
        rules: WorkerTimes | None = None,
    ) -> Worker:
        """Return a worker for this bank, with further handlers by kind. It is closed with the bank."""
        every = {**self._handlers, **(handlers or {})}
        worker = Worker(lambda: (self._bank,), every, kinds=_kinds(kinds), rules=rules)
        self._joined(worker)
        return worker

    def _joined(self, worker: Worker) -> None:
        """Close the worker with this bank."""
        self._workers.add(worker)

    def _close(self) -> None:
        for worker in list(self._workers):
            worker.close()


def by_state(counted: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """Return the counts in the order of a job's states, without zeros."""
    found = {state: sum(number for (_, held), number in counted.items() if held == state) for state in STATES}
    return {state: number for state, number in found.items() if number}


def _kinds(kinds: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if kinds is None:
        return None
    named = [kinds] if isinstance(kinds, str) else kinds
    return tuple(checked_kind(kind, "kinds") for kind in check.names(named, "kinds"))


def _in_order(ids: Iterable[str], jobs: Iterable[Job]) -> tuple[Job, ...]:
    by_id = {job.id: job for job in jobs}
    return tuple(by_id[id] for id in ids)
