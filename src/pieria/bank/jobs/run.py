"""One job in the hands of a worker: its lease is kept up while the handler runs, and what came of it is settled.

The effect of a job and its end are one transaction under the lease. So a worker that was taken for lost, and comes back
after another has taken the job over, changes nothing.
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
from pieria.record.change import Change
from pieria.record.job import Job, Outcome, Problem, Progress
from pieria.record.time import instant, micros
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.models.meter import Meter

log = logging.getLogger(__name__)

Told = Callable[[Job, Progress], object]
SECOND = 1_000_000
BEAT = 1.0
"""Seconds between looks at whether there is progress to write down, or a lease to extend."""
BEAT_PATIENCE = RELEASE_PATIENCE = 0.5
"""Seconds that another writer is waited for. A lease that is not given back runs out by itself."""
GIVEN_BACK = Outcome("waiting", counts=False)
LOST = "lost"
"""How a job ends for a worker that does not have it any more."""


@dataclass(frozen=True, slots=True)
class Rules:
    """In seconds: how long a lease holds without a sign of life; how long a job that failed waits for its next try,
    each time twice as long; how long a worker waits between looks for work; how long jobs that are over are kept."""

    lease: float = 30.0
    first_pause: float = 5.0
    longest_pause: float = 900.0
    poll: float = 0.5
    kept: float = 7 * 86_400.0

    def pause(self, attempt: int, chance: Random) -> float:
        """Up to half of it is left out by chance, so that many do not come back together."""
        longest = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return longest * chance.uniform(0.5, 1.0)


class Work:
    """What a handler is given: the job, the bank, and how to tell how far it is.

    What is to be written, a handler returns. A long job may `apply` some of it before; begun again after a failure, it
    finds that done.
    """

    def __init__(self, bank: Bank, job: Job, token: str, rules: Rules, told: Told) -> None:
        self.bank = bank
        self.job = job
        self.payload: Mapping[str, Any] = {} if job.payload is None else job.payload
        self.lost = False
        """The job is another worker's now, or was cancelled."""
        self.stopping = False
        self._token = token
        self._rules = rules
        self._told = told
        self._progress: Progress | None = None
        self._written: Progress | None = None
        self._extended = bank._now()

    @property
    def meter(self) -> Meter:
        """To be handed to whatever calls a model."""
        return self.bank.meter

    def progress(self, done: int, whole: int, what: str = "") -> None:
        """Tells how far it is; on the job within a second or so, for others to read."""
        self._progress = Progress(done, whole, what)
        self._told(self.job, self._progress)

    def check(self) -> None:
        """Raises `JobError` where there is no point in going on: the worker is being stopped, or has lost the job."""
        if self.lost:
            raise JobError("lease_lost")
        if self.stopping:
            raise JobError("stopped")

    def apply(self, effect: Effect) -> Change | None:
        """Writes some of what the job comes to, as a change of its own, if the job is still this worker's."""
        self.check()
        with self.bank._writing() as writer:
            change = self.bank._applied(writer, plan_of(effect))
            self._extend(writer)
            if self.lost:
                raise JobError("lease_lost")
        return change

    def settle(self, writer: Writer, outcome: Outcome) -> None:
        """Ends the job, within the transaction of its effect. Raises `JobError`, so that nothing of that is kept."""
        if self._progress is not self._written:
            self._extend(writer)
        if not writer.settle(self._token, outcome):
            self.lost = True
            raise JobError("lease_lost")

    def beat(self) -> None:
        """Writes down progress and extends the lease, where either is due."""
        if self._progress is self._written and self.bank._now() - self._extended < self._rules.lease * SECOND / 3:
            return
        try:
            with self.bank.store.writing(BEAT_PATIENCE) as writer:
                self._extend(writer)
        except BusyError:
            log.debug("job %s: another is writing; its lease is extended a little later", self.job.id)

    def _extend(self, writer: Writer) -> None:
        now, progress = self.bank._now(), self._progress
        self.lost = not writer.extend(self._token, now + int(self._rules.lease * SECOND), progress)
        self._extended, self._written = now, progress


class Shift:
    """Does one job that was claimed, and says in what state it left it."""

    def __init__(self, work: Work, handlers: Handlers, rules: Rules, chance: Random) -> None:
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
        """Gives the job back as if it had not been begun; whoever still works on it has lost it."""
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
        with work.bank._reading() as reader:
            stale = self._is_stale(reader, handler)
        effect = None
        if not stale:
            with _beating(work):
                effect = handler.run(work)
        with work.bank._writing() as writer:
            # Once more, since it may have changed while the handler was at it; now nothing comes between.
            if stale or self._is_stale(writer, handler):
                outcome = Outcome("stale", _told_of(JobError("changed")))
            else:
                outcome = Outcome("done")
                work.bank._applied(writer, plan_of(effect))
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
            log.info("job %s (%s) was taken away from this worker; nothing of it was kept", job.id, job.kind)
            return LOST
        if work.stopping and isinstance(problem, JobError | ClosedError):
            return self._settled(GIVEN_BACK)
        budget = _budget_of(problem)
        if budget is not None:
            due = micros(instant(budget.until, "until"))
            return self._settled(Outcome("later", _told_of(budget), due, counts=False))
        if job.attempts < job.tries and _may_pass(problem):
            due = work.bank._now() + int(self._rules.pause(job.attempts, self._chance) * SECOND)
            return self._settled(Outcome("later", _told_of(problem), due))
        log.warning("job %s (%s) could not be done: %s", job.id, job.kind, _told_of(problem).message)
        log.debug("how it failed", exc_info=problem)
        return self._settled(Outcome("dead", _told_of(problem)))

    def _settled(self, outcome: Outcome, patience: float | None = None) -> str:
        try:
            with self.work.bank.store.writing(patience) as writer:
                self.work.settle(writer, outcome)
        except JobError:
            return LOST
        except PieriaError as problem:
            log.warning("job %s could not be settled, so that another takes it over: %s", self.work.job.id, problem)
            return LOST
        return outcome.state


@contextmanager
def _beating(work: Work) -> Iterator[None]:
    """Keeps the lease up in a thread of its own, since a handler may wait long for a model."""
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
    """Whether another try may help. A store that fails is the machine's trouble and not the job's; of what nobody
    foresaw nobody knows."""
    return not isinstance(problem, PieriaError) or problem.retryable or isinstance(problem, StorageError)


def _budget_of(problem: BaseException | None) -> BudgetError | None:
    """The budget that stands behind a failure, which an adapter or a mind may have wrapped."""
    while problem is not None and not isinstance(problem, BudgetError):
        wrapped = [one for one in getattr(problem, "errors", ()) if isinstance(one, BudgetError)]
        problem = wrapped[0] if wrapped else problem.__cause__
    return problem


def _told_of(problem: Exception) -> Problem:
    """Without the message of an error that is not ours: nobody knows what it quotes."""
    if isinstance(problem, JobError) and problem.reason in JobError.reasons:
        return Problem(str(problem.reason), problem.message)
    if isinstance(problem, PieriaError):
        return Problem(problem.code, problem.message)
    return Problem(UnknownError.code, f"unexpected failure: {type(problem).__name__}")
