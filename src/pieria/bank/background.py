"""The one thread of a process that works behind its banks' backs: it goes round whoever has work, a step each.

It starts with the first work and after a moment's pause, so that a program that writes one thing and ends does not load
a model for it. It never keeps a program from ending.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol

log = logging.getLogger(__name__)

PATIENCE = 0.25
"""Seconds that work may wait to begin."""
AFTER_A_FAULT = 60.0
LAST_STEP, LAST_STEP_AT_HAND = 2.0, 20.0
"""Seconds that the end of the process waits for the step under way, and for one that must not be cut off: on a machine
that is overloaded, a fraction of a second may take several."""


class Worker(Protocol):
    @property
    def last_step(self) -> float:
        """How long the end of the process waits for its step."""

    def step(self) -> float | None:
        """Does some of its work. Returns in how many seconds there is more to do; None when all is done."""

    def start_anew(self) -> None:
        """After a fork."""


class _Once:
    """Work that is done once."""

    last_step = LAST_STEP

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work

    def step(self) -> None:
        self._work()

    def start_anew(self) -> None:
        """Nothing of it has begun."""


class Background:
    def __init__(self) -> None:
        self._known: weakref.WeakSet[Worker] = weakref.WeakSet()
        self._start_anew()

    def _start_anew(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[Worker, float] = {}
        self._at_work: Worker | None = None
        self._thread: threading.Thread | None = None
        self._ended = False

    def know(self, worker: Worker) -> None:
        """It is to be told of a fork, whether it ever had work or not."""
        with self._changed:
            self._known.add(worker)

    def add(self, worker: Worker, pause: float = PATIENCE) -> bool:
        """It has work, to begin after the pause. One that is waiting for its next try goes on waiting.

        False where nobody will do it: the process ends, or has no thread to give.
        """
        return self._taken(worker, time.monotonic() + pause, is_urgent=False)

    def hurry(self, worker: Worker) -> bool:
        """It has work that cannot wait. False where nobody will do it."""
        return self._taken(worker, time.monotonic(), is_urgent=True)

    def _taken(self, worker: Worker, begin: float, *, is_urgent: bool) -> bool:
        starting = None
        with self._changed:
            self._known.add(worker)
            if self._ended:
                return False
            if is_urgent or worker not in self._due:
                self._due[worker] = begin
            if self._thread is None:
                starting = self._thread = threading.Thread(target=self._run, name="pieria-background", daemon=True)
            self._changed.notify()
        return starting is None or self._has_started(starting)

    def _has_started(self, thread: threading.Thread) -> bool:
        """Without the lock: before a thread has started, it may find that a bank was dropped, and need it for that."""
        try:
            thread.start()
        except RuntimeError as problem:
            log.info("nothing is done in the background: %s", problem)
            with self._changed:
                self._thread = None
            return False
        return True

    def afterwards(self, work: Callable[[], object]) -> bool:
        """For what comes up at a moment that is nobody's own, such as the closing of a bank that was dropped.

        The garbage is collected in the middle of anything, under whatever locks are held there, and what waits for
        another thread then may wait for itself. False where nobody will do it.
        """
        return self.hurry(_Once(work))

    def is_current(self) -> bool:
        """Whether it is the thread of this that asks."""
        return self._thread is threading.current_thread()

    @property
    def has_ended(self) -> bool:
        """Whether the process is about to end: then a step does well to stop where it is."""
        return self._ended

    def drop(self, worker: Worker) -> None:
        with self._changed:
            self._due.pop(worker, None)
            self._changed.notify()

    def end(self) -> None:
        """The process ends: no further step begins. A thread that is cut off within a model's runtime would crash."""
        with self._changed:
            self._ended = True
            left = [worker for worker in self._due if isinstance(worker, _Once)]
            self._due.clear()
            self._changed.notify()
            thread = self._thread
            patience = LAST_STEP if self._at_work is None else self._at_work.last_step
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)
        for worker in left:
            self._stepped(worker)

    def after_fork(self) -> None:
        """In the child nobody is at work; what was due, or was being done, is due again."""
        due = {*self._due} | ({self._at_work} if self._at_work else set())
        self._start_anew()
        for worker in list(self._known):
            worker.start_anew()
        for worker in due:
            self.add(worker)

    def _run(self) -> None:
        while True:
            worker = self._next()
            if worker is None:
                return
            again = self._stepped(worker)
            with self._changed:
                self._at_work = None
                if again is not None and not self._ended:
                    self._due.setdefault(worker, time.monotonic() + again)

    def _stepped(self, worker: Worker) -> float | None:
        try:
            return worker.step()
        except Exception:
            # The thread serves all banks: what one of them stumbles over must not stop the others.
            log.exception("work in the background failed unexpectedly; it is tried again in %d s", AFTER_A_FAULT)
            return AFTER_A_FAULT

    def _next(self) -> Worker | None:
        """Who is due first, when the time has come. None ends the thread: there is nothing to wait for."""
        with self._changed:
            while self._due:
                worker = min(self._due, key=self._due.__getitem__)
                left = self._due[worker] - time.monotonic()
                if left <= 0:
                    # Before its step, so that what is added during the step is not lost.
                    del self._due[worker]
                    self._at_work = worker
                    return worker
                self._changed.wait(left)
            self._thread = None
            return None


background = Background()
os.register_at_fork(after_in_child=background.after_fork)
atexit.register(background.end)
