"""The queue of asynchronous operations of a session. An idle session runs an operation at once, a busy one in turn.

At most five operations wait. Each must be allowed in the state that the operations before it lead to. It is checked
again when its turn comes. A failed operation also fails those behind it.
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
"""The word for a successful operation, or the error."""
Callback = Callable[[Any], object]
"""Called once with an `Outcome`."""


class Asked(NamedTuple):
    operation: Operation
    arguments: tuple[Any, ...]
    callback: Callback | None


class Queue:
    """The waiting operations of one session."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._waiting: deque[Asked] = deque()
        self._is_draining = False

    @property
    def closes(self) -> bool:
        """Whether a close waits; then no further step may be appended. The lock must be held."""
        return any(asked.operation is Operation.CLOSE for asked in self._waiting)

    def ask(self, operation: Operation, arguments: tuple[Any, ...], callback: Callback | None) -> None:
        """Run or queue an operation. Raises only for a refusal at once; the callback gets every later outcome."""
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
        """Start the waiting operations, unless the session is busy."""
        machine = self._machine
        with machine.changed:
            if self._is_draining or not self._waiting or machine.is_busy or machine.is_leaving:
                return
            self._is_draining = True
        machine.at.crew.errands.submit(self._drain)

    def fail(self, reason: str) -> None:
        """Fail all waiting operations. The lock must be held, so a pool thread calls the callbacks."""
        told = [(callback, SessionError(reason)) for callback in self.clear()]
        if told:
            self._machine.at.crew.errands.submit(partial(self.report, told))

    def clear(self) -> list[Callback | None]:
        """Remove all waiting operations and return their callbacks. The lock must be held."""
        callbacks = [asked.callback for asked in self._waiting]
        self._waiting.clear()
        return callbacks

    def report(self, told: Sequence[tuple[Callback | None, Outcome]]) -> None:
        """Call the callbacks. Their exceptions are logged and stop nothing else. The lock must be free."""
        for callback, outcome in told:
            try:
                if callback is not None:
                    callback(outcome)
            except (Exception, SystemExit):
                log.warning("a callback of %s failed", self._machine.id, exc_info=True)

    def _add(self, asked: Asked) -> None:
        """Queue an operation, or raise if the queue is full or the operation could never run. The lock must be held."""
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
        """Return the state after all running and waiting operations. The lock must be held."""
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
        """Return the next operation with what it does now, or with the error that refuses it. None if none can run."""
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
        """Return what the operation does in a session that is not busy, or raise. The lock must be held."""
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
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - passed to the callback
            return UnknownError(problem, asked.operation.value)
        return DONE[asked.operation]
