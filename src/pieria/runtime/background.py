"""The background thread of a process: runs one step at a time for each worker with work.

It starts after the first work and a short pause, so that a short program loads no model. It never keeps a program from
ending.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

from pieria.runtime import forks

log = logging.getLogger(__name__)

PATIENCE = 0.25
"""Seconds before added work begins."""
AFTER_A_FAULT = 60.0
LAST_STEP, LAST_STEP_AT_HAND = 2.0, 20.0
"""Seconds that the process waits at its end for the running step, and for one that must not be cut.

On an overloaded machine, a fraction of a second of work may take several seconds.
"""


class Worker(Protocol):
    @property
    def last_step(self) -> float:
        """Seconds that the process waits at its end for a step."""

    def step(self) -> float | None:
        """Do some work. Return the seconds until the next step, or None if all is done."""


class _Once:
    """Work that runs until it has succeeded once."""

    last_step = LAST_STEP

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work

    def step(self) -> None:
        self._work()


class Background:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._lock = threading.RLock()
        # Garbage collection in the thread itself may add work just before it waits: a condition would not wake it then.
        self._woken: SimpleQueue[None] = SimpleQueue()
        self._due: dict[Worker, float] = {}
        self._at_work: Worker | None = None
        self._thread: threading.Thread | None = None
        self._ended = False

    def add(self, worker: Worker, pause: float = PATIENCE) -> bool:
        """Schedule a worker after the pause. If it is scheduled already, its time stays.

        Return False if the work will not run: the process is ending, or no thread can be started.
        """
        return self._schedule(worker, time.monotonic() + pause, is_urgent=False)

    def hurry(self, worker: Worker) -> bool:
        """Schedule a worker at once. Return False if the work will not run."""
        return self._schedule(worker, time.monotonic(), is_urgent=True)

    def _schedule(self, worker: Worker, begin: float, *, is_urgent: bool) -> bool:
        starting = None
        # Made without the lock: this may collect garbage, which schedules work and would start the thread within it.
        made = threading.Thread(target=self._run, name="pieria-background", daemon=True) if not self._thread else None
        with self._lock:
            if self._ended:
                return False
            if is_urgent or worker not in self._due:
                self._due[worker] = begin
            if self._thread is None:
                made = made or threading.Thread(target=self._run, name="pieria-background", daemon=True)
                starting = self._thread = made
            self._woken.put(None)
        return starting is None or self._start(starting)

    def _start(self, thread: threading.Thread) -> bool:
        """Start the thread, and return whether it runs.

        Call it without the lock: starting may collect garbage, and dropping a bank needs the lock.
        """
        try:
            thread.start()
        except RuntimeError as problem:
            log.info("background work is off: %s", problem)
            with self._lock:
                self._thread = None
            return False
        return True

    def afterwards(self, work: Callable[[], object]) -> bool:
        """Run work later, in the background thread: for example closing a bank that was dropped.

        Garbage collection runs at any point, under any locks, so waiting for another thread there may deadlock. Return
        False if the work will not run.
        """
        once = _Once(work)
        if self.hurry(once):
            return True
        # The caller does it now.
        self.drop(once)
        return False

    def is_current(self) -> bool:
        """Return whether the caller is the background thread."""
        return self._thread is threading.current_thread()

    @property
    def has_ended(self) -> bool:
        """Whether the process is about to end; a step should then stop early."""
        return self._ended

    def drop(self, worker: Worker) -> None:
        with self._lock:
            if self._due.pop(worker, None) is not None:
                self._woken.put(None)

    def end(self) -> None:
        """Wait for the running step, and run what must not be left.

        Cutting off a model's runtime crashes the process.
        """
        with self._lock:
            self._ended = True
            left = [worker for worker in self._due if isinstance(worker, _Once)]
            self._due.clear()
            self._woken.put(None)
            thread = self._thread
            patience = LAST_STEP if self._at_work is None else self._at_work.last_step
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)
        for worker in left:
            self._stepped(worker)

    def _run(self) -> None:
        while True:
            worker = self._next()
            if worker is None:
                return
            again = self._stepped(worker)
            with self._lock:
                self._at_work = None
                if again is not None and not self._ended:
                    self._due.setdefault(worker, time.monotonic() + again)

    def _stepped(self, worker: Worker) -> float | None:
        try:
            return worker.step()
        except Exception:
            # The thread serves all banks, so one failure must not stop the others.
            log.exception("background work failed unexpectedly; next try in %d s", AFTER_A_FAULT)
            return AFTER_A_FAULT

    def _next(self) -> Worker | None:
        """Wait for the next due worker and return it, or None if there is none and the thread ends."""
        current = threading.current_thread()
        while True:
            with self._lock:
                worker = min(self._due, key=self._due.__getitem__, default=None)
                if worker is None:
                    self._thread = None
                    # Garbage collection may have added work: before that line it started no thread, after it one.
                    if not self._due or self._thread is not None:
                        return None
                    self._thread = current
                    continue
                left = self._due[worker] - time.monotonic()
                if left <= 0:
                    # Before the step, so that work added during the step is not lost.
                    del self._due[worker]
                    self._at_work = worker
                    return worker
            with suppress(Empty):
                self._woken.get(timeout=left)


background = Background()
forks.in_child(background.reset)
atexit.register(background.end)
