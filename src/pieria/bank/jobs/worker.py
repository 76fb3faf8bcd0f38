"""The worker: takes jobs from banks in turn, and runs one job at a time.

`jobs.queue` holds the jobs and `jobs.run` runs one; this module decides when a worker polls, waits and stops.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from random import Random
from typing import TYPE_CHECKING

from pieria.bank.jobs.handlers import Handlers
from pieria.bank.jobs.run import SECOND, Idle, Shift, Told, Work, WorkerTimes
from pieria.errors import ClosedError, PieriaError
from pieria.record.ids import new_id
from pieria.record.job import Job, Lease
from pieria.runtime import forks
from pieria.runtime.patience import given_up

if TYPE_CHECKING:
    from pieria.bank import Bank

log = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds between checks whether the waiting caller has given up."""
LAST_CHANCE = 0.4
"""Seconds that a handler gets to finish when its worker is closed."""
PRUNED_AT_ONCE = 100
AFTER_CAPTURE = ("distil", "session_summary")
AFTER_A_FAULT = 30.0
"""Seconds that a bank is skipped after it could not be read or written."""
LOOK = 60.0
"""Seconds between two looks whether a bank is due for an automatic sleep."""
AWAY = 5.0
"""Seconds until the banks are listed again after listing them failed."""


class Worker:
    """Runs the jobs of some banks, one at a time. `banks` is called again for every round.

    `run` works in the calling thread, `start` in a thread of its own. Closing the worker, or a bank it works on, ends
    it within two seconds. A handler that takes longer has no effect, and its job goes back to the queue.

    `sleeps` names this worker as the one who queues a sleep for a bank that is due; without it, none is queued. `idle`
    is for the worker of a server.
    """

    def __init__(
        self,
        banks: Callable[[], Iterable[Bank]],
        handlers: Handlers,
        *,
        kinds: Collection[str] | None = None,
        rules: WorkerTimes | None = None,
        told: Told = lambda job, progress: None,
        chance: Random | None = None,
        sleeps: str | None = None,
        idle: Idle | None = None,
    ) -> None:
        self.name: str = f"{os.getpid()}-{new_id()}"
        """The name under which jobs record their worker."""
        self.tally: Counter[str] = Counter()
        """The number of jobs by final state."""
        self._banks = banks
        self._handlers = handlers
        self._kinds = kinds
        self._rules = rules or WorkerTimes()
        self._told = told
        self._sleeps = sleeps
        self._idle = idle
        self._looked: dict[str, float] = {}
        self._chance = chance or Random()  # noqa: S311 - no secret
        self._stop = threading.Event()
        self._rested = threading.Event()
        self._rested.set()
        self.problem: Exception | None = None
        self._shift: Shift | None = None
        self._aside: dict[str, float] = {}

    def run(self, *, once: bool = False, idle: float | None = None, seconds: float | None = None) -> Counter[str]:
        """Work until closed; with `once`, until nothing is due; with `idle`, until nothing was due for `idle` seconds.

        After `seconds` no further job begins. Return the tally. A failing bank is skipped for a while; with `once` its
        error is raised.
        """
        self._rested.clear()
        try:
            self._rounds(once, idle, seconds)
        finally:
            self._rested.set()
        return self.tally

    def start(self, *, once: bool = False, idle: float | None = None) -> None:
        """Run in the background. An error is in `problem` after the end."""
        self._rested.clear()
        _behind.add(self)
        threading.Thread(target=self._run_behind, args=(once, idle), name="pieria-worker", daemon=True).start()

    def _run_behind(self, once: bool, idle: float | None) -> None:
        try:
            self._rounds(once, idle)
        except PieriaError as problem:
            self.problem = problem
        except Exception as problem:
            log.exception("a worker ended unexpectedly")
            self.problem = problem
        finally:
            self._rested.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the worker has ended. Return False if it still runs."""
        until = math.inf if seconds is None else time.monotonic() + seconds
        while not given_up():
            left = until - time.monotonic()
            if self._rested.wait(max(0.0, min(left, PATIENCE))):
                return True
            if left <= PATIENCE:
                return False
        return False

    def stop(self) -> None:
        """Ask the worker to end soon: no further job begins, and the running handler is notified."""
        self._stop.set()
        shift = self._shift
        if shift is not None:
            shift.work.stopping = True

    def close(self) -> None:
        """End the worker, and return an unfinished job to the queue. Safe to call twice."""
        self.stop()
        if self.wait(LAST_CHANCE):
            return
        shift = self._shift
        if shift is not None and shift.release():
            log.info("job %s was released: its handler did not end in time", shift.work.job.id)

    def _rounds(self, once: bool, idle: float | None, seconds: float | None = None) -> None:
        last = time.monotonic()
        end = math.inf if seconds is None else last + seconds
        while not self._stop.is_set() and time.monotonic() < end and not given_up():
            if self._round(raising=once):
                last = time.monotonic()
            elif once or (idle is not None and time.monotonic() - last >= idle):
                break
            else:
                self._stop.wait(self._rules.poll)

    def _round(self, *, raising: bool) -> int:
        """Run one job of every bank that has one, and return their number.

        If the banks cannot be listed for the moment, for example during a server restart, pause and return 0.
        """
        try:
            return self._of_each(raising=raising)
        except PieriaError as problem:
            if raising or not problem.retryable:
                raise
            log.warning("the worker looks for no jobs for %d s: %s", AWAY, problem.message)
            self._stop.wait(AWAY)
            return 0

    def _of_each(self, *, raising: bool) -> int:
        done = 0
        for bank in self._banks():
            if self._stop.is_set():
                break
            if bank.is_foreign or self._aside.get(bank.name, 0.0) > time.monotonic():
                continue
            try:
                done += self._one_of(bank)
            except ClosedError:
                self._aside[bank.name] = time.monotonic() + AFTER_A_FAULT
            except PieriaError as problem:
                if raising:
                    raise
                log.warning("the worker skips bank %s for %d s: %s", bank.name, AFTER_A_FAULT, problem.message)
                self._aside[bank.name] = time.monotonic() + AFTER_A_FAULT
            except Exception:
                if raising:
                    raise
                # One bank's failure must not stop the worker for the others.
                log.exception("the worker skips bank %s for %d s: a job failed unexpectedly", bank.name, AFTER_A_FAULT)
                self._aside[bank.name] = time.monotonic() + AFTER_A_FAULT
        return done

    def _one_of(self, bank: Bank) -> bool:
        bank.jobs._joined(self)
        with bank.core.reading() as reader:
            due = reader.jobs_due(self._kinds)
        if due is None or due > bank.core.now():
            return self._sleeps is not None and self._queued_sleep(bank, self._sleeps)
        token = new_id()
        job = self._claimed(bank, token)
        if job is None:
            return False
        work = Work(bank, job, token, self._rules, self._told, self._idle)
        self._shift = Shift(work, self._handlers, self._rules, self._chance)
        # `stop` may have been called between the claim and now, before it could see the job.
        work.stopping = self._stop.is_set()
        state = self._shift.perform()
        self._shift = None
        self.tally[state] += 1
        log.info("job %s (%s) in bank %s: %s", job.id, job.kind, bank.name, state)
        return True

    def _queued_sleep(self, bank: Bank, by: str) -> bool:
        """Queue a sleep if the bank is due, and return whether there is a job now."""
        now = time.monotonic()
        if self._looked.get(bank.name, -math.inf) + LOOK > now:
            return False
        self._looked[bank.name] = now
        from pieria.bank.upkeep.automatic_sleep import queue_if_due

        return queue_if_due(bank.core, by, self._idle)

    def _claimed(self, bank: Bank, token: str) -> Job | None:
        now = bank.core.now()
        with bank.core.store.writing() as writer:
            writer.prune_jobs(now - int(self._rules.kept * SECOND), PRUNED_AT_ONCE)
            return writer.claim(Lease(token, self.name, now + int(self._rules.lease * SECOND)), self._kinds)


def catch_up(bank: Bank, seconds: float | None = None) -> Counter[str]:
    """Run due distilling jobs of a bank for at most `seconds`, in case no worker ever runs.

    With a language model do nothing: its calls are slow and have a budget. A server distils its own banks.
    """
    if bank.is_remote or bank.core.llm is not None or bank.is_foreign:
        return Counter()
    return bank.jobs.worker(kinds=AFTER_CAPTURE).run(once=True, seconds=seconds)


_behind: weakref.WeakSet[Worker] = weakref.WeakSet()
forks.in_child(_behind.clear)


@atexit.register
def _end() -> None:
    """Close running workers, because cutting off a thread in a model's runtime crashes the process."""
    for worker in list(_behind):
        worker.close()
