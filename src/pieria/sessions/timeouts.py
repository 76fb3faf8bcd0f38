"""What happens to a session that commits by itself when no step comes: what is there is committed, then it is over."""

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
"""Milliseconds until a session that is busy when its time is up is looked at again."""


class Timeouts:
    """Each of the two periods begins anew with each step."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def restart(self) -> None:
        """The lock is held."""
        self.restart_flush()
        self._arm(SESSION, self._machine.at.setting("session_timeout_ms"), self.expire)

    def restart_flush(self) -> None:
        """Where there is something to be committed. The lock is held."""
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
        """Elsewhere, for what is logged may take its time."""
        self._machine.at.crew.errands.submit(self._expire)

    def expired(self) -> None:
        """What was there is committed, and the session is over; where that failed, its steps wait for another try. The
        lock is held."""
        machine = self._machine
        machine.is_stopping = False
        if machine.state is not SessionState.FAILED:
            machine.end()
        machine.tell("session_expired", {"session_id": machine.id})

    @property
    def _is_waiting(self) -> bool:
        machine = self._machine
        is_gone = machine.is_left or machine.is_leaving or machine.is_over or machine.is_inherited
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
