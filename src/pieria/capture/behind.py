"""A background thread that drains the spool in a long-running process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pieria.capture.drain import Drain, Drained
from pieria.errors import PieriaError

if TYPE_CHECKING:
    from pieria.workspace import Workspace

log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two looks."""
AFTER_A_FAULT = 30.0
LAST = 1.0
"""Seconds that `close` waits for the running batch. Lines not stored by then stay in the spool."""


class DrainBehind:
    """A daemon thread that drains. It calls `told` with each result. `close` may be called twice."""

    def __init__(self, workspace: Workspace, told: Callable[[Drained], object] = lambda done: None) -> None:
        self._drain = Drain(workspace)
        self._told = told
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pieria-drain", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LAST)

    def _run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            pause = EVERY
            try:
                if self._drain.spool.is_waiting:
                    self._told(self._drain.drain(stopping=self._stop.is_set))
            except PieriaError as problem:
                log.warning("captured events wait for %d s: %s", AFTER_A_FAULT, problem.message)
                pause = AFTER_A_FAULT
            except Exception:
                # Nothing else restarts this thread. The spool stays intact if a drain fails.
                log.exception("draining the spool failed unexpectedly; next try in %d s", AFTER_A_FAULT)
                pause = AFTER_A_FAULT
