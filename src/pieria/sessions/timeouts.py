"""Timeouts of a session with `auto_commit`: without steps its knowledge is committed first, then the session ends."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from pieria.sessions.state import SessionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from pieria.sessions.machine import Machine

log = logging.getLogger(__name__)

FLUSH, SESSION = "flush", "session"
LATER = 1_000
"""Milliseconds until another try, if the session is busy when its timeout expires."""


class Timeouts:
    """The flush and session timeouts of one session. Each step restarts both."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def restart(self) -> None:
        """Restart both timeouts. The lock must be held."""
        self.restart_flush()
        self._arm(SESSION, self._machine.at.setting("session_timeout_ms"), self.expire)

    def restart_flush(self) -> None:
        """Restart the flush timeout if there are steps to extract. The lock must be held."""
        if self._machine.drawing.left():
            self._arm(FLUSH, self._machine.at.setting("flush_timeout_ms"), self.flush)

    def stop(self) -> None:
        for name in (FLUSH, SESSION):
            self._machine.at.crew.timers.disarm((name, self._machine.id))

    def flush(self) -> None:
        machine = self._machine
        with machine.changed:
            if not self._is_waiting:
                return
            if machine.is_busy:
                self.restart_flush()
            else:
                machine.drawing.flush()

    def expire(self) -> None:
        """End the session in a pool thread, because writing the log may be slow."""
        self._machine.at.crew.errands.submit(self._expire)

    def expired(self) -> None:
        """End the session, or keep it if extraction failed, so that its steps can be retried. The lock must be held."""
        machine = self._machine
        machine.is_stopping = False
        if machine.state is not SessionState.FAILED:
            machine.end()
        machine.tell("session_expired", {"session_id": machine.id})

    @property
    def _is_waiting(self) -> bool:
        machine = self._machine
        is_gone = machine.is_left or machine.is_leaving or machine.is_over
        return not is_gone and machine.state is SessionState.COLLECTING

    def _expire(self) -> None:
        machine = self._machine
        with machine.changed:
            if not self._is_waiting:
                return
            if machine.is_busy:
                self._arm(SESSION, LATER, self.expire)
                return
            machine.is_stopping = True
            if machine.is_drawn:
                self.expired()
                return
            try:
                machine.draw_all()
            except Exception:
                machine.is_stopping = False
                log.warning("%s could not expire; it is tried again", machine.id, exc_info=True)
                self._arm(SESSION, LATER, self.expire)
                return
            self.stop()

    def _arm(self, name: str, milliseconds: int | None, ring: Callable[[], None]) -> None:
        machine = self._machine
        if machine.kept.auto_commit and milliseconds is not None:
            machine.at.crew.timers.arm((name, machine.id), milliseconds, partial(ring))
