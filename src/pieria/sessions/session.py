"""A session as its users hold it. What is allowed when, and how it is done, is told beside this."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from pieria.errors import InputError, PieriaError, PipelineError
from pieria.learning.steps import Step
from pieria.learning.traces import EpisodeTrace
from pieria.record import check
from pieria.sessions.log import Kept, unknown
from pieria.sessions.machine import Machine
from pieria.sessions.queue import Callback
from pieria.sessions.state import Operation, SessionState
from pieria.sessions.surroundings import PATIENCE, Surroundings

log = logging.getLogger(__name__)

Progress = Callable[[int, int], object]
"""Called with what is done and the whole."""
EVERY = 0.5
"""Seconds between two words on how far it is."""
_LONGEST = 10**9


class Session:
    """An agent's run towards a goal, step by step, from which knowledge is drawn. Threads may share it.

    What its state does not allow raises `SessionError`. The forms that end in `_async` do not wait: they call
    `callback`, once, with the word for what was done, or with the error.

    As a context manager it closes and commits at the end; after an exception its steps are kept, uncommitted.
    """

    def __init__(self, machine: Machine) -> None:
        """`begin` and `resume` make one."""
        self._machine = machine

    @classmethod
    def begin(cls, goal: str, at: Surroundings) -> Self:
        """A new one, which collects."""
        told = check.text(goal, "goal")
        new = f"session_{secrets.token_urlsafe(8)}"
        kept = Kept(new, at.repo, told, auto_commit=at.setting("auto_commit"), profile=at.profile)
        machine = Machine(at.log.begin(kept), (), at)
        machine.perform(Operation.START_EPISODE, told)
        return cls(machine)

    @classmethod
    def resume(cls, id: str, at: Surroundings) -> Self:
        """One that was begun before, where it stood. `NotFoundError` where there is none, or it is over."""
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
        return self._machine.id

    @property
    def state(self) -> SessionState:
        """`NotFoundError` where it expired: then it is over."""
        if self._machine.is_over:
            raise unknown(self.id)
        return self._machine.state

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those of the episode under way that it still needs: the last five, and all that are not in the graph yet.

        One that a process left before it was judged stands last, without a subgoal, until it can be judged.
        """
        left = self._machine.unjudged
        return self._machine.steps if left is None else (*self._machine.steps, left)

    @property
    def goal(self) -> str:
        """As it is kept: what was private is cut."""
        return self._machine.kept.goal

    @property
    def node_ids(self) -> tuple[str, ...]:
        """What the last episode brought to the graph, in this process."""
        return tuple(self._machine.node_ids)

    @property
    def fault(self) -> PieriaError | None:
        """Why knowledge could not be drawn, where it failed."""
        return self._machine.fault

    @property
    def is_over(self) -> bool:
        """Whether it expired, with all that it held committed."""
        return self._machine.is_over

    def get_context(self) -> dict[str, Any] | None:
        """The `goal` and the `recent_steps`, each in a line; None where no episode is under way."""
        return self._machine.context()

    # --- steps

    def append(self, observation: str, action: str) -> None:
        """What was observed, and what was done about it. Returns when the step is judged and kept.

        A step that cannot be judged raises, and nothing of it stays.
        """
        self.take(observation, action)

    def take(self, observation: str, action: str) -> EpisodeTrace:
        """The same, for whoever wants to know how the step was judged."""
        return self._machine.line.append(*_step(observation, action))

    def append_async(self, observation: str, action: str, callback: Callback | None = None) -> None:
        """The word is `appended`. Steps are taken in in the order in which they were appended."""
        self._machine.line.append_async(*_step(observation, action), _callback(callback))

    # --- episodes

    def start_episode(self, goal: str) -> None:
        """The next one, in a session that is idle."""
        self._machine.perform(Operation.START_EPISODE, check.text(goal, "goal"))

    def start_episode_async(self, goal: str, callback: Callback | None = None) -> None:
        """The word is `started`."""
        self._ask(Operation.START_EPISODE, callback, check.text(goal, "goal"))

    def close(self) -> None:
        """No step follows; knowledge is drawn from all that nothing was drawn from yet, while this returns."""
        self._machine.perform(Operation.CLOSE)

    def close_async(self, callback: Callback | None = None) -> None:
        """The word is `closed`."""
        self._ask(Operation.CLOSE, callback)

    def commit(self) -> None:
        """What was drawn is in the graph when this returns, and can be recalled. After a failure: another try."""
        self._machine.perform(Operation.COMMIT)

    def commit_async(self, callback: Callback | None = None) -> None:
        """The word is `committed`."""
        self._ask(Operation.COMMIT, callback)

    def discard(self) -> None:
        """What was drawn, or could not be, goes, and the steps with it. What was committed before stays."""
        self._machine.perform(Operation.DISCARD)

    def discard_async(self, callback: Callback | None = None) -> None:
        """The word is `discarded`."""
        self._ask(Operation.DISCARD, callback)

    def close_and_commit(self, max_retries: int = 2, max_polls: int = 200, poll_interval: float = 50) -> None:
        """Closes, waits until knowledge is drawn, and commits it. Where drawing fails it is tried again, so often.

        Each try is waited for `max_polls` times `poll_interval` milliseconds. Raises `PipelineError`: with
        `extraction_failed` when no try is left, with `extraction_timeout` when that was not long enough.
        """
        retries = check.whole(max_retries, "max_retries", 0, _LONGEST)
        seconds = _patience(max_polls, poll_interval)
        self._machine.close_in_time(seconds)
        self._finish(retries, seconds)

    def close_and_wait(self, seconds: float, progress: Progress | None = None) -> SessionState:
        """Closes, once what is under way lets it, and returns when nothing is being drawn any more: `idle` where all is
        committed, `ready` where it waits to be, or `failed`. Raises `PipelineError` where that takes longer.
        """
        self._machine.close_in_time(seconds)
        return self.wait(seconds, progress)

    def wait(self, seconds: float, progress: Progress | None = None) -> SessionState:
        """Its state once nothing is being drawn any more. `progress` is told of how many steps knowledge was drawn."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            try:
                return self._machine.settled(min(EVERY, left))
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
        if kind is not None:
            self._machine.pause()
        elif not self.is_over and self.state is SessionState.COLLECTING:
            self.close_and_commit()
        elif not self.is_over:
            self._finish(2, _patience(200, 50))

    def _ask(self, operation: Operation, callback: Callback | None, *arguments: Any) -> None:
        self._machine.queue.ask(operation, arguments, _callback(callback))

    def _finish(self, retries: int, seconds: float) -> None:
        """What was closed is committed."""
        machine = self._machine
        for left in range(retries, -1, -1):
            state = machine.settled(seconds)
            if state is SessionState.READY:
                self.commit()
                return
            if state is not SessionState.FAILED:
                return
            if left:
                self.commit()
        problem = machine.fault or PipelineError("extraction_failed")
        raise PipelineError("extraction_failed", errors=(problem,)) from problem


def leave(sessions: Iterable[Session], patience: float = PATIENCE) -> None:
    """For whoever closes what they work on: what is under way is waited for, all in all no longer than that.

    What is left is taken up again by whoever resumes them.
    """
    until = time.monotonic() + patience
    for session in sessions:
        try:
            session._machine.leave(until)
        except PieriaError as problem:
            # Nobody else is to be kept waiting for that: it is free again when its lease has run out.
            log.warning("%s could not be given back: %s", session.id, problem)


def _step(observation: object, action: object) -> tuple[str, str]:
    for parameter, text in (("observation", observation), ("action", action)):
        if not isinstance(text, str):
            raise InputError(parameter, "a text", text)
    return str(observation), str(action)


def _callback(given: object) -> Callback | None:
    if given is not None and not callable(given):
        raise InputError("callback", "a function that takes what came of it", given)
    return given


def _patience(max_polls: int, poll_interval: float) -> float:
    """In seconds."""
    polls = check.whole(max_polls, "max_polls", 0, _LONGEST)
    return polls * check.number(poll_interval, "poll_interval", 0, _LONGEST) / 1000
