"""The worker: goes round the banks it is given, and does one job after the other.

Which jobs there are and what becomes of one is elsewhere (`jobs`, `work`); here is when a worker looks, waits, stops.
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
from pieria.bank.jobs.run import SECOND, Rules, Shift, Told, Work
from pieria.errors import ClosedError, PieriaError
from pieria.record.ids import new_id
from pieria.record.job import Job, Lease
from pieria.record.patience import given_up

if TYPE_CHECKING:
    from pieria.bank import Bank

log = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds after which whoever waits for a worker learns that nobody wants to know any more."""
LAST_CHANCE = 0.4
"""Seconds that a handler has to come to an end when its worker is closed."""
PRUNED_AT_ONCE = 100
AFTER_CAPTURE = ("distil", "session_summary")
AFTER_A_FAULT = 30.0
"""Seconds for which a bank is left alone that could not be read or written."""
AWAY = 5.0
"""Seconds until it is asked again which banks there are, where that could not be told."""


class Worker:
    """Does the jobs of some banks, one at a time. `banks` is asked anew for every round.

    `run` works in the thread that calls it, `start` in one of its own. Closing it, or a bank it works on, ends it
    within two seconds: a handler that takes longer goes on to no effect, and its job is given back.
    """

    def __init__(
        self,
        banks: Callable[[], Iterable[Bank]],
        handlers: Handlers,
        *,
        kinds: Collection[str] | None = None,
        rules: Rules | None = None,
        told: Told = lambda job, progress: None,
        chance: Random | None = None,
    ) -> None:
        self.name: str = f"{os.getpid()}-{new_id()}"
        """By which jobs say who has them."""
        self.tally: Counter[str] = Counter()
        """In what states it left how many jobs."""
        self._banks = banks
        self._handlers = handlers
        self._kinds = kinds
        self._rules = rules or Rules()
        self._told = told
        self._chance = chance or Random()  # noqa: S311 - no secret
        self._process = os.getpid()
        self._stop = threading.Event()
        self._rested = threading.Event()
        self._rested.set()
        self.problem: Exception | None = None
        self._shift: Shift | None = None
        self._aside: dict[str, float] = {}

    def run(self, *, once: bool = False, idle: float | None = None, seconds: float | None = None) -> Counter[str]:
        """Works until it is closed; with `once`, until nothing is due; with `idle`, until so many seconds later. After
        so many `seconds` it begins no further job.

        Returns the tally. A bank that cannot be worked on is left alone for a while, or with `once` raises.
        """
        self._rested.clear()
        try:
            self._rounds(once, idle, seconds)
        finally:
            self._rested.set()
        return self.tally

    def start(self, *, once: bool = False, idle: float | None = None) -> None:
        """The same in the background. What it raises is in `problem` when it has ended."""
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
        """Waits until it works no more. False where it still does."""
        until = math.inf if seconds is None else time.monotonic() + seconds
        while not given_up():
            left = until - time.monotonic()
            if self._rested.wait(max(0.0, min(left, PATIENCE))):
                return True
            if left <= PATIENCE:
                return False
        return False

    def stop(self) -> None:
        """Asks it to end soon: no further job is begun, and the handler at work is told."""
        self._stop.set()
        shift = self._shift
        if shift is not None:
            shift.work.stopping = True

    def close(self) -> None:
        """Ends it, and gives back the job that is not done by then. Safe to call twice."""
        self.stop()
        if self._process != os.getpid() or self.wait(LAST_CHANCE):
            return
        shift = self._shift
        if shift is not None and shift.release():
            log.info("job %s was given back: its handler did not end in time", shift.work.job.id)

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
        """One job of every bank that has one. Returns how many there were.

        Where it cannot be told just now which banks there are, as while a server is started anew, that passes.
        """
        try:
            return self._of_each(raising=raising)
        except PieriaError as problem:
            if raising or not problem.retryable:
                raise
            log.warning("no work is looked for, for %d s: %s", AWAY, problem.message)
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
                log.warning("bank %s is left alone for %d s: %s", bank.name, AFTER_A_FAULT, problem.message)
                self._aside[bank.name] = time.monotonic() + AFTER_A_FAULT
            except Exception:
                if raising:
                    raise
                # It serves all banks, for as long as a server runs: one of them must not end it for the others.
                log.exception("bank %s is left alone for %d s: work failed unexpectedly", bank.name, AFTER_A_FAULT)
                self._aside[bank.name] = time.monotonic() + AFTER_A_FAULT
        return done

    def _one_of(self, bank: Bank) -> bool:
        bank.jobs._joined(self)
        with bank._reading() as reader:
            due = reader.jobs_due(self._kinds)
        if due is None or due > bank._now():
            return False
        token = new_id()
        job = self._claimed(bank, token)
        if job is None:
            return False
        work = Work(bank, job, token, self._rules, self._told)
        self._shift = Shift(work, self._handlers, self._rules, self._chance)
        # It may have been closed between the claim and now, when nobody could know of the job.
        work.stopping = self._stop.is_set()
        state = self._shift.perform()
        self._shift = None
        self.tally[state] += 1
        log.info("job %s (%s) in bank %s: %s", job.id, job.kind, bank.name, state)
        return True

    def _claimed(self, bank: Bank, token: str) -> Job | None:
        now = bank._now()
        with bank.store.writing() as writer:
            writer.prune_jobs(now - int(self._rules.kept * SECOND), PRUNED_AT_ONCE)
            return writer.claim(Lease(token, self.name, now + int(self._rules.lease * SECOND)), self._kinds)


def catch_up(bank: Bank, seconds: float | None = None) -> Counter[str]:
    """Does what is due of a bank's distilling, for where no worker may ever come by: one job after the other, until so
    many seconds are over. Nothing where a language model would be asked: that takes its time, and has its budget.
    """
    if bank._llm is not None or bank.is_foreign:
        return Counter()
    return bank.jobs.worker(kinds=AFTER_CAPTURE).run(once=True, seconds=seconds)


_behind: weakref.WeakSet[Worker] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """A thread that is cut off within a model's runtime would crash; and nobody need wait for a lease to run out."""
    for worker in list(_behind):
        worker.close()
