"""What is asked of a session without waiting: done at once where it is not busy, otherwise in its turn.

At most five wait. Each has to be allowed in the state that those before it lead to, and is checked again when its turn
comes; what fails takes those behind it along.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.errors import ClosedError, PieriaError, SessionError, UnknownError
from pieria.sessions.state import AT_ONCE, DONE, QUEUE_LIMIT, Do, Operation, SessionState, after, settles_as

if TYPE_CHECKING:
    from pieria.sessions.machine import Machine

log = logging.getLogger(__name__)

Outcome = str | PieriaError
"""The word for what was done, or why it was not."""
Callback = Callable[[Any], object]
"""Called once, with an `Outcome`."""


class Asked(NamedTuple):
    operation: Operation
    arguments: tuple[Any, ...]
    callback: Callback | None


class Queue:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.start_anew()

    def start_anew(self) -> None:
        self._waiting: deque[Asked] = deque()
        self._is_draining = False

    @property
    def closes(self) -> bool:
        """Whether the episode is to be closed: then no step may come in behind. The lock is held."""
        return any(asked.operation is Operation.CLOSE for asked in self._waiting)

    def ask(self, operation: Operation, arguments: tuple[Any, ...], callback: Callback | None) -> None:
        """Raises only what is plain at once. The callback is told what comes of it."""
        machine = self._machine
        asked = Asked(operation, arguments, callback)
        with machine.changed:
            machine.check()
            if machine.is_leaving:
                raise ClosedError("session")
            if machine.is_stopping:
                raise SessionError("session_stopping")
            if machine.is_busy or self._waiting:
                self._add(asked)
                return
            do = self._allowed(operation)
            machine.operating = operation
        self.report([(callback, self._carried_out(asked, do))])

    def drain(self) -> None:
        """What waits is done, where nothing is in its way."""
        machine = self._machine
        with machine.changed:
            if self._is_draining or not self._waiting or machine.is_busy or machine.is_leaving:
                return
            self._is_draining = True
        machine.at.crew.errands.submit(self._drain)

    def fail(self, reason: str) -> None:
        """None of what waits is done. The lock is held, so the callbacks are told elsewhere."""
        told = [(callback, SessionError(reason)) for callback in self.clear()]
        if told:
            self._machine.at.crew.errands.submit(partial(self.report, told))

    def clear(self) -> list[Callback | None]:
        """Whom what waits would have been told to. The lock is held."""
        callbacks = [asked.callback for asked in self._waiting]
        self._waiting.clear()
        return callbacks

    def report(self, told: Sequence[tuple[Callback | None, Outcome]]) -> None:
        """What a callback raises is logged, and does no other harm. No lock is held."""
        for callback, outcome in told:
            try:
                if callback is not None:
                    callback(outcome)
            except (Exception, SystemExit):
                log.warning("a callback of %s failed", self._machine.id, exc_info=True)

    def _add(self, asked: Asked) -> None:
        """The lock is held."""
        machine, projected = self._machine, self._projected()
        if len(self._waiting) >= QUEUE_LIMIT:
            raise SessionError("pending_queue_full", hint=f"At most {QUEUE_LIMIT} may wait.")
        if after(projected, asked.operation, machine.kept.auto_commit) is None:
            raise SessionError("invalid_queued_operation", projected)
        self._waiting.append(asked)
        metadata = {
            "op": asked.operation.value,
            "queue_depth": len(self._waiting),
            "projected_state": self._projected().value,
            "session_id": machine.id,
            "repo_id": machine.at.repo,
        }
        telemetry.point("session.op_enqueue", {"system_time": time.time_ns()}, metadata)

    def _projected(self) -> SessionState:
        """The state that all that is under way and waits leads to. The lock is held."""
        machine = self._machine
        auto, state = machine.kept.auto_commit, machine.state
        if state is SessionState.EXTRACTING:
            state = settles_as(auto)
        elif machine.operating is not None:
            state = after(state, machine.operating, auto) or state
        for asked in self._waiting:
            state = after(state, asked.operation, auto) or state
        return state

    def _drain(self) -> None:
        machine = self._machine
        with machine.changed:
            depth = len(self._waiting)
        done = failed = 0
        metadata = {"queue_depth": depth, "session_id": machine.id, "repo_id": machine.at.repo}
        with telemetry.during("session.op_drain", **metadata) as measured:
            while (turn := self._next()) is not None:
                asked, do = turn
                outcome = self._carried_out(asked, do) if isinstance(do, Do) else do
                told = [(asked.callback, outcome)]
                if isinstance(outcome, str):
                    done += 1
                else:
                    failed += 1
                    with machine.changed:
                        told += [(callback, SessionError("preceding_op_failed")) for callback in self.clear()]
                self.report(told)
            measured.update(ops_executed=done, ops_failed=failed)
        with machine.changed:
            self._is_draining = False
        self.drain()

    def _next(self) -> tuple[Asked, Do | PieriaError] | None:
        """Whose turn it is, and what it comes to by now, or why it is refused. None where nobody's turn has come."""
        machine = self._machine
        with machine.changed:
            if not self._waiting or machine.is_busy or machine.is_leaving:
                return None
            asked = self._waiting.popleft()
            try:
                do = self._allowed(asked.operation)
            except PieriaError as problem:
                return asked, problem
            machine.operating = asked.operation
            return asked, do

    def _allowed(self, operation: Operation) -> Do:
        """In a session that is not busy. The lock is held."""
        machine = self._machine
        machine.check()
        if machine.is_stopping:
            raise SessionError("session_stopping")
        found = AT_ONCE[operation][machine.state]
        if not isinstance(found, Do):
            raise SessionError(found)
        return found

    def _carried_out(self, asked: Asked, do: Do) -> Outcome:
        try:
            self._machine.carry_out(do, *asked.arguments)
        except PieriaError as problem:
            return problem
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - told to the callback
            return UnknownError(problem, asked.operation.value)
        return DONE[asked.operation]
