"""The public session object. States and transitions are in `machine`."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from pieria.errors import AdapterError, BudgetError, InputError, PieriaError, PipelineError, ReplyError
from pieria.learning.steps import EpisodeTrace, Step
from pieria.record import check
from pieria.runtime import forks
from pieria.sessions.log import UnfinishedSession, unknown
from pieria.sessions.machine import Machine
from pieria.sessions.queue import Callback
from pieria.sessions.state import Operation, SessionState
from pieria.sessions.surroundings import PATIENCE, Surroundings
from pieria.sessions.wait import Seconds, Wait, WhileAnswered

log = logging.getLogger(__name__)

Progress = Callable[[int, int], object]
"""Called with the number of extracted steps and of all steps."""
AGAIN = "The steps are kept: commit() tries again, and discard() drops them."
EVERY = 0.5
"""Seconds between two progress reports."""
RETRIES, POLLS, INTERVAL = 2, 200, 50
"""The defaults of `close_and_commit`. With both of the last two, it waits for as long as the mind answers."""
_LONGEST = 10**9


class Session:
    """The steps of an agent towards a goal, with knowledge extracted from them. Threads may share a session.

    An operation that the state does not allow raises `SessionError`. Methods that end in `_async` do not wait: they
    call `callback` once, with the word for the result or with the error.

    As a context manager a session closes and commits at the end. After an exception its steps stay, uncommitted.
    """

    def __init__(self, machine: Machine) -> None:
        """Use `begin` or `resume` to make a session."""
        self._held = machine
        self._process = os.getpid()

    @property
    def _machine(self) -> Machine:
        """The state. Raises `ForkedError` in a forked child, where the lock may be locked for ever."""
        forks.check(self._process, "session", self.id)
        return self._held

    @classmethod
    def begin(cls, goal: str, at: Surroundings) -> Self:
        """Begin a new session; its state is `collecting`."""
        told = check.text(goal, "goal")
        new = f"session_{secrets.token_urlsafe(8)}"
        kept = UnfinishedSession(new, at.repo, told, auto_commit=at.setting("auto_commit"), profile=at.profile)
        machine = Machine(at.log.begin(kept), (), at)
        machine.perform(Operation.START_EPISODE, told)
        return cls(machine)

    @classmethod
    def resume(cls, id: str, at: Surroundings) -> Self:
        """Continue a session in its saved state. Raises `NotFoundError` if it does not exist or has ended."""
        check.identifier(id, "id")
        at.log.hold(id)
        try:
            loaded = at.log.load(id)
            if loaded is None:
                raise unknown(id)
            machine = Machine(*loaded, at)
        except BaseException:
            at.log.release(id)
            raise
        machine.go_on()
        return cls(machine)

    @property
    def id(self) -> str:
        return self._held.id

    @property
    def state(self) -> SessionState:
        """The current state. Raises `NotFoundError` after the session expired."""
        if self._machine.is_over:
            raise unknown(self.id)
        return self._machine.state

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the current episode that it still needs: the last five, and all that are not in the graph yet.

        An unjudged step of an earlier process comes last, without a subgoal.
        """
        left = self._machine.unjudged
        return self._machine.steps if left is None else (*self._machine.steps, left)

    @property
    def goal(self) -> str:
        """The goal as saved, without private parts."""
        return self._machine.kept.goal

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The nodes that the current or last episode added to the graph, in this process."""
        return tuple(self._machine.node_ids)

    @property
    def fault(self) -> PieriaError | None:
        """Why extraction failed, or None."""
        return self._machine.fault

    @property
    def is_over(self) -> bool:
        """Whether the session expired. All its knowledge is committed then."""
        return self._machine.is_over

    def get_context(self) -> dict[str, Any] | None:
        """Return the `goal` and the `recent_steps`, one line each; None if there is no current episode."""
        return self._machine.context()

    # --- steps

    def append(self, observation: str, action: str) -> None:
        """Keep a step: what was observed, and what was done about it.

        A model judges it at once, or later together with others; rules judge it where the model fails. Raises if the
        step cannot be stored; then nothing of it is kept.
        """
        self.take(observation, action)

    def take(self, observation: str, action: str) -> EpisodeTrace:
        """Do as `append` does, and return how the step was judged."""
        return self._machine.line.append(*_step(observation, action))

    def append_async(self, observation: str, action: str, callback: Callback | None = None) -> None:
        """Append a step without waiting; the word is `appended`. Steps keep the order of the calls."""
        self._machine.line.append_async(*_step(observation, action), _callback(callback))

    # --- episodes

    def start_episode(self, goal: str) -> None:
        """Start the next episode of an idle session."""
        self._machine.perform(Operation.START_EPISODE, check.text(goal, "goal"))

    def start_episode_async(self, goal: str, callback: Callback | None = None) -> None:
        """Start an episode without waiting; the word is `started`."""
        self._ask(Operation.START_EPISODE, callback, check.text(goal, "goal"))

    def close(self) -> None:
        """Close the episode and return while extraction of the remaining steps goes on. No step can follow."""
        self._machine.perform(Operation.CLOSE)

    def close_async(self, callback: Callback | None = None) -> None:
        """Close without waiting; the word is `closed`."""
        self._ask(Operation.CLOSE, callback)

    def commit(self) -> None:
        """Commit extracted knowledge: when this returns it is in the graph and can be recalled.

        After a failed extraction, start another one instead.
        """
        self._machine.perform(Operation.COMMIT)

    def commit_async(self, callback: Callback | None = None) -> None:
        """Commit without waiting; the word is `committed`."""
        self._ask(Operation.COMMIT, callback)

    def discard(self) -> None:
        """Delete uncommitted knowledge and the steps. Knowledge committed before stays."""
        self._machine.perform(Operation.DISCARD)

    def discard_async(self, callback: Callback | None = None) -> None:
        """Discard without waiting; the word is `discarded`."""
        self._ask(Operation.DISCARD, callback)

    def close_and_commit(
        self, max_retries: int = RETRIES, max_polls: int = POLLS, poll_interval: float = INTERVAL
    ) -> None:
        """Close, wait for extraction and commit. A failed extraction is retried `max_retries` times.

        A retry after which less is missing does not count, since each asks only for what is missing.
        By default it waits for as long as the model answers. With another number of polls or another interval, each
        try may take `max_polls` times `poll_interval` milliseconds. Raises `PipelineError` with `extraction_failed`
        when no retry is left or a retry cannot help, and with `extraction_timeout` when a try takes too long.
        """
        retries = check.whole(max_retries, "max_retries", 0, _LONGEST)
        self._machine.close_in_time(self._wait(max_polls, poll_interval))
        self._finish(retries, max_polls, poll_interval)

    def close_and_wait(self, seconds: float, progress: Progress | None = None) -> SessionState:
        """Close and return the state after extraction: `idle` if all is committed, or `ready`, or `failed`.

        Raises `PipelineError` if closing or extraction takes longer than `seconds`.
        """
        self._machine.close_in_time(Seconds(seconds))
        return self.wait(seconds, progress)

    def wait(self, seconds: float, progress: Progress | None = None) -> SessionState:
        """Return the state once extraction is over. `progress` gets the number of extracted steps meanwhile."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            try:
                return self._machine.settled(Seconds(min(EVERY, left)))
            except PipelineError:
                if left <= EVERY:
                    raise
            if progress is not None:
                progress(*self._machine.drawing.reach())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process != os.getpid():
            return
        if kind is not None:
            self._machine.pause()
        elif not self.is_over and self.state is SessionState.COLLECTING:
            self.close_and_commit()
        elif not self.is_over:
            self._finish(RETRIES, POLLS, INTERVAL)

    def _ask(self, operation: Operation, callback: Callback | None, *arguments: Any) -> None:
        self._machine.queue.ask(operation, arguments, _callback(callback))

    def _wait(self, max_polls: int, poll_interval: float) -> Wait:
        """Return the wait of one try."""
        polls = check.whole(max_polls, "max_polls", 0, _LONGEST)
        interval = check.number(poll_interval, "poll_interval", 0, _LONGEST)
        if (polls, interval) == (POLLS, INTERVAL):
            return WhileAnswered(self._machine.at)
        return Seconds(polls * interval / 1000)

    def _finish(self, retries: int, max_polls: int, poll_interval: float) -> None:
        """Commit a closed session, and retry failed extractions. A retry that gained something is not counted."""
        machine = self._machine
        left, gained = retries, -1
        while True:
            state = machine.settled(self._wait(max_polls, poll_interval))
            if state is SessionState.READY:
                self.commit()
                return
            if state is not SessionState.FAILED:
                return
            left -= machine.drawing.gained == gained
            if left <= 0 or not may_pass(machine.fault):
                break
            gained = machine.drawing.gained
            self.commit()
        problem = machine.fault or PipelineError("extraction_failed")
        raise PipelineError("extraction_failed", errors=(problem,), hint=problem.hint or AGAIN) from problem


def may_pass(problem: PieriaError | None) -> bool:
    """Return whether an extraction that failed so may succeed at once.

    A server that refuses the request or asks for a long pause answers no sooner, and a spent budget is spent. Another
    reply may be better.
    """
    if isinstance(problem, BudgetError):
        return False
    if not isinstance(problem, AdapterError) or isinstance(problem, ReplyError):
        return True
    return problem.retryable and problem.wait is None


def leave(sessions: Iterable[Session], patience: float = PATIENCE) -> None:
    """Release sessions. Waits at most `patience` seconds in all for running work.

    A process that resumes a session does its remaining work.
    """
    until = time.monotonic() + patience
    for session in sessions:
        try:
            session._machine.leave(until)
        except PieriaError as problem:
            # Do not delay the other sessions: this one is free again when its lease expires.
            log.warning("%s could not be given back: %s", session.id, problem)


def _step(observation: object, action: object) -> tuple[str, str]:
    for parameter, text in (("observation", observation), ("action", action)):
        if not isinstance(text, str):
            raise InputError(parameter, "a text", text)
    return str(observation), str(action)


def _callback(given: object) -> Callback | None:
    if given is not None and not callable(given):
        raise InputError("callback", "a function that takes the result", given)
    return given
