"""Run one claimed job: extend its lease while the handler runs, then settle its outcome.

A job's effect and its end are one transaction under the lease. A worker that lost its lease therefore changes nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from pieria.bank.jobs.handlers import Effect, Handler, Handlers, plan_of
from pieria.errors import BudgetError, BusyError, ClosedError, JobError, PieriaError, StorageError, UnknownError
from pieria.record.changeset import Change
from pieria.record.job import Job, Later, Outcome, Problem, Progress
from pieria.record.time import instant, micros
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.models.meter import Meter

log = logging.getLogger(__name__)

Told = Callable[[Job, Progress], object]
Idle = Callable[[], float]
"""Returns the seconds since the last call to a server; 0 while one runs."""
SECOND = 1_000_000
BEAT = 1.0
"""Seconds between checks for progress to write or a lease to extend."""
BEAT_PATIENCE = RELEASE_PATIENCE = 0.5
"""Seconds to wait for another writer. A lease that is not given back expires."""
GIVEN_BACK = Outcome("waiting", counts=False)
LOST = "lost"
"""The outcome for a worker that no longer holds the job."""


@dataclass(frozen=True, slots=True)
class WorkerTimes:
    """Durations in seconds.

    `lease`: how long a claim lasts without renewal. `first_pause`, `longest_pause`: the pause before a retry, doubled
    each time. `poll`: the pause between checks for work. `kept`: how long finished jobs stay.
    """

    lease: float = 30.0
    first_pause: float = 5.0
    longest_pause: float = 900.0
    poll: float = 0.5
    kept: float = 7 * 86_400.0

    def pause(self, attempt: int, chance: Random) -> float:
        """Return the pause before the next try. Up to half is cut at random, so that retries spread out."""
        longest = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return longest * chance.uniform(0.5, 1.0)


class Work:
    """The handler's view of its job: the payload, the bank, and progress reports.

    A handler returns its effect. A long job may `apply` parts before; after a failure its next run finds them done.
    """

    def __init__(
        self, bank: Bank, job: Job, token: str, rules: WorkerTimes, told: Told, idle: Idle | None = None
    ) -> None:
        self.bank = bank
        self.idle = idle
        """Of the server whose worker runs the job; None in a process that answers no calls."""
        self.job = job
        self.payload: Mapping[str, Any] = {} if job.payload is None else job.payload
        self.lost = False
        """Whether another worker has the job now, or it was cancelled."""
        self.stopping = False
        self._token = token
        self._rules = rules
        self._told = told
        self._progress: Progress | None = None
        self._written: Progress | None = None
        self._extended = bank.core.now()

    @property
    def meter(self) -> Meter:
        """The meter to pass to model calls."""
        return self.bank.core.meter

    def progress(self, done: int, whole: int, what: str = "") -> None:
        """Report progress; within about a second it is on the job for others to read."""
        self._progress = Progress(done, whole, what)
        self._told(self.job, self._progress)

    def check(self) -> None:
        """Raise `JobError` if the worker is stopping or has lost the job."""
        if self.lost:
            raise JobError("lease_lost")
        if self.stopping:
            raise JobError("stopped")

    def apply(self, effect: Effect) -> Change | None:
        """Write a part of the effect as a change of its own, if this worker still holds the job."""
        self.check()
        with self.bank.core.writing() as writer:
            change = self.bank.core.write_changes(writer, plan_of(effect))
            self._extend(writer)
            if self.lost:
                raise JobError("lease_lost")
        return change

    def settle(self, writer: Writer, outcome: Outcome) -> None:
        """End the job in the transaction of its effect.

        Raise `JobError` if the lease is lost, so that the effect is rolled back.
        """
        if self._progress is not self._written:
            self._extend(writer)
        if not writer.settle(self._token, outcome):
            self.lost = True
            raise JobError("lease_lost")

    def beat(self) -> None:
        """Write progress and extend the lease if either is due."""
        if self._progress is self._written and self.bank.core.now() - self._extended < self._rules.lease * SECOND / 3:
            return
        try:
            with self.bank.core.store.writing(BEAT_PATIENCE) as writer:
                self._extend(writer)
        except BusyError:
            log.debug("job %s: the bank is busy; its lease will be extended later", self.job.id)

    def _extend(self, writer: Writer) -> None:
        now, progress = self.bank.core.now(), self._progress
        self.lost = not writer.extend(self._token, now + int(self._rules.lease * SECOND), progress)
        self._extended, self._written = now, progress


class Shift:
    """Runs one claimed job, and returns the job's new state."""

    def __init__(self, work: Work, handlers: Handlers, rules: WorkerTimes, chance: Random) -> None:
        self.work = work
        self._handlers = handlers
        self._rules = rules
        self._chance = chance

    def perform(self) -> str:
        try:
            return self._done()
        except Exception as problem:  # noqa: BLE001 - a handler may raise anything, and it is written down
            return self._failed(problem)
        except BaseException:
            self.release()
            raise

    def release(self) -> bool:
        """Return the job to the queue, uncounted. A handler still running has lost it."""
        return self._settled(GIVEN_BACK, RELEASE_PATIENCE) != LOST

    def _done(self) -> str:
        work = self.work
        work.check()
        handler = self._handlers.get(work.job.kind)
        if handler is None:
            raise JobError("unknown_kind", hint="Upgrade the worker, or give it a handler; then replay the job.")
        if work.job.payload is None:
            raise JobError("unreadable_payload")
        handler.check(work.payload)
        with work.bank.core.reading() as reader:
            stale = self._is_stale(reader, handler)
        effect: Effect | Later = None
        if not stale:
            with _beating(work):
                effect = handler.run(work)
        if isinstance(effect, Later):
            return self._settled(Outcome("later", due=effect.due, counts=False))
        with work.bank.core.writing() as writer:
            # Check again, because it may have changed while the handler ran. Within the transaction nothing else
            # writes.
            if stale or self._is_stale(writer, handler):
                outcome = Outcome("stale", _told_of(JobError("changed")))
            else:
                outcome = Outcome("done")
                work.bank.core.write_changes(writer, plan_of(effect))
            work.settle(writer, outcome)
        return outcome.state

    def _is_stale(self, reader: Reader, handler: Handler) -> bool:
        job = self.work.job
        if job.memory is not None:
            held = reader.states([job.memory]).get(job.memory)
            if held is None or held.state.ended or held.state.version != job.version:
                return True
        return (
            job.digest is not None
            and handler.digest is not None
            and handler.digest(reader, self.work.payload) != job.digest
        )

    def _failed(self, problem: Exception) -> str:
        work, job = self.work, self.work.job
        if work.lost:
            log.info("job %s (%s): this worker lost its lease; its changes were discarded", job.id, job.kind)
            return LOST
        if work.stopping and isinstance(problem, JobError | ClosedError):
            return self._settled(GIVEN_BACK)
        budget = _budget_of(problem)
        if budget is not None:
            due = micros(instant(budget.until, "until"))
            return self._settled(Outcome("later", _told_of(budget), due, counts=False))
        if job.attempts < job.tries and _may_pass(problem):
            due = work.bank.core.now() + int(self._rules.pause(job.attempts, self._chance) * SECOND)
            return self._settled(Outcome("later", _told_of(problem), due))
        log.warning("job %s (%s) could not be done: %s", job.id, job.kind, _told_of(problem).message)
        log.debug("how it failed", exc_info=problem)
        return self._settled(Outcome("dead", _told_of(problem)))

    def _settled(self, outcome: Outcome, patience: float | None = None) -> str:
        try:
            with self.work.bank.core.store.writing(patience) as writer:
                self.work.settle(writer, outcome)
        except JobError:
            return LOST
        except PieriaError as problem:
            log.warning(
                "the result of job %s could not be written; another worker will take it over: %s",
                self.work.job.id,
                problem,
            )
            return LOST
        return outcome.state


@contextmanager
def _beating(work: Work) -> Iterator[None]:
    """Extend the lease in a separate thread, because a handler may wait long for a model."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(min(BEAT, work._rules.lease / 6)) and not work.lost:
            try:
                work.beat()
            except PieriaError as problem:
                log.warning("the lease of job %s could not be extended: %s", work.job.id, problem.message)

    heart = threading.Thread(target=beat, name="pieria-lease", daemon=True)
    heart.start()
    try:
        yield
    finally:
        over.set()
        heart.join()


def _may_pass(problem: Exception) -> bool:
    """Return whether another try may help. Store failures are the machine's, not the job's; unknown errors may pass."""
    return not isinstance(problem, PieriaError) or problem.retryable or isinstance(problem, StorageError)


def _budget_of(problem: BaseException | None) -> BudgetError | None:
    """Return the budget error behind a failure, which an adapter or a mind may have wrapped."""
    while problem is not None and not isinstance(problem, BudgetError):
        wrapped = [one for one in getattr(problem, "errors", ()) if isinstance(one, BudgetError)]
        problem = wrapped[0] if wrapped else problem.__cause__
    return problem


def _told_of(problem: Exception) -> Problem:
    """Return the problem to record. Leave out messages of foreign errors: they may quote user text."""
    if isinstance(problem, JobError) and problem.reason in JobError.reasons:
        return Problem(str(problem.reason), problem.message)
    if isinstance(problem, PieriaError):
        return Problem(problem.code, problem.message)
    return Problem(UnknownError.code, f"unexpected failure: {type(problem).__name__}")
