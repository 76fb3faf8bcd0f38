"""The line of incoming steps: each is logged, judged by the mind and added to the episode, in that order.

A step is logged twice: before a model call and after it. A crash between the two leaves an unjudged step in the log.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pieria.errors import Invalid, PieriaError, SessionError
from pieria.learning.judgement import LIMIT, append_step
from pieria.learning.steps import EpisodeTrace, Step
from pieria.models.minds.rules import RuleMind
from pieria.sessions.queue import Callback
from pieria.sessions.state import DONE, Operation, SessionState
from pieria.sessions.wait import Seconds

if TYPE_CHECKING:
    from pieria.models.mind import Mind
    from pieria.sessions.machine import Machine

log = logging.getLogger(__name__)

TOO_LONG = f"The steps before it took {LIMIT:g} seconds. Append it again; nothing of it was kept."


@dataclass(slots=True, eq=False)
class Ticket:
    """A step in line. With `waits` the calling thread processes it; without, a thread of the pool does."""

    observation: str
    action: str
    waits: bool
    callback: Callback | None = None
    is_begun: bool = False
    is_left: bool = False
    """Whether the step is logged already, by a process that ended before it was judged."""


class Line:
    """The steps of one session that wait to be judged."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._tickets: deque[Ticket] = deque()

    @property
    def is_busy(self) -> bool:
        return bool(self._tickets)

    def append(self, observation: str, action: str) -> EpisodeTrace:
        """Keep a step, and return how it was judged. On an error nothing of the step is kept.

        Raises `SessionError` (`append_in_progress`) if the steps before it take longer than `LIMIT` seconds.
        """
        ticket = Ticket(observation, action, waits=True)
        machine = self._machine
        wait = Seconds(LIMIT)
        with machine.changed:
            machine.may(Operation.APPEND)
            self._tickets.append(ticket)
        try:
            with machine.changed:
                while self._tickets[0] is not ticket:
                    if wait.left() <= 0:
                        raise SessionError("append_in_progress", hint=TOO_LONG)
                    machine.changed.wait(wait.left())
                    machine.check()
            return self._take_in(ticket)
        finally:
            self._done(ticket)

    def append_async(self, observation: str, action: str, callback: Callback | None) -> None:
        """Queue a step. The callback gets every outcome, including a refusal by the session's state."""
        machine = self._machine
        with machine.changed:
            machine.check()
            try:
                machine.may(Operation.APPEND)
            except SessionError as problem:
                refused = problem
            else:
                self._tickets.append(Ticket(observation, action, waits=False, callback=callback))
                self._go_on()
                return
        _heard(callback, refused)
        machine.queue.report([(callback, refused)])

    def take_again(self, raw: Step) -> None:
        """Queue a step that an earlier process logged but did not judge. The lock must be held."""
        self._tickets.append(Ticket(raw.observation, raw.action, waits=False, is_left=True))
        self._go_on()

    def turn_away(self) -> list[Callback | None]:
        """Remove asynchronous steps that have not begun, and return their callbacks. The lock must be held.

        None of these steps is logged yet.
        """
        turned = [ticket for ticket in self._tickets if not ticket.waits and not ticket.is_begun]
        for ticket in turned:
            self._tickets.remove(ticket)
        return [ticket.callback for ticket in turned]

    def _go_on(self) -> None:
        """Start the first step, unless its own thread waits to process it. The lock must be held."""
        if self._tickets and not self._tickets[0].waits and not self._tickets[0].is_begun:
            self._tickets[0].is_begun = True
            self._machine.at.crew.errands.submit(partial(self._run, self._tickets[0]))

    def _run(self, ticket: Ticket) -> None:
        outcome: str | PieriaError = DONE[Operation.APPEND]
        try:
            self._take_in(ticket)
        except PieriaError as problem:
            outcome = problem
            _heard(ticket.callback, problem)
        finally:
            self._done(ticket)
        self._machine.queue.report([(ticket.callback, outcome)])

    def _done(self, ticket: Ticket) -> None:
        machine = self._machine
        with machine.changed:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
            self._go_on()
            machine.changed.notify_all()
        machine.queue.drain()

    def _take_in(self, ticket: Ticket) -> EpisodeTrace:
        raw: Step | None = None
        try:
            left = self.judge_left()
            if ticket.is_left:
                assert left is not None
                return left
            raw = self._logged(ticket)
            trace = self._judged(raw)
        except BaseException as problem:
            self._refused(raw, problem)
            if isinstance(problem, PieriaError) or not isinstance(problem, Exception | SystemExit):
                raise
            raise SessionError("append_crashed") from problem
        self._taken_in(trace)
        return trace

    def judge_left(self) -> EpisodeTrace | None:
        """Judge the step that an earlier process left unjudged, if there is one.

        If judging fails, the step stays in the log: no caller has heard that it was refused.
        """
        raw = self._machine.unjudged
        if raw is None:
            return None
        trace = self._judged(raw)
        self._taken_in(trace)
        return trace

    def _logged(self, ticket: Ticket) -> Step:
        machine = self._machine
        with machine.changed:
            machine.check()
            machine.refresh()
            assert machine.episode is not None
            raw = Step(machine.episode.next_index, ticket.observation, ticket.action)
            return machine.at.log.step(machine.kept, raw)

    def _judged(self, raw: Step) -> EpisodeTrace:
        try:
            return self._judge_by(raw, self._machine.at.mind)
        except Invalid as problem:
            if isinstance(self._machine.at.mind, RuleMind):
                raise
            log.warning("a step is judged by rules, for its judgement cannot be kept: %s", problem)
            return self._judge_by(raw, RuleMind())

    def _judge_by(self, raw: Step, mind: Mind) -> EpisodeTrace:
        machine, at = self._machine, self._machine.at
        episode = machine.episode
        assert episode is not None
        about = {"config": at.config, "session_id": machine.id, "repo_id": at.repo}
        grown, trace = append_step(episode, raw.observation, raw.action, mind, at.embedder, **about)
        with machine.changed:
            machine.check()
            machine.keep_reward(grown)
            machine.keep_step(grown)
        return trace

    def _taken_in(self, trace: EpisodeTrace) -> None:
        machine = self._machine
        with machine.changed:
            payload = {
                "session_id": machine.id,
                "step_index": trace.step_index,
                "trajectory_id": trace.trajectory_id,
                "boundary_detected": trace.boundary_detected,
            }
            machine.tell("step_appended", payload, {"trace": trace})
            if machine.state is not SessionState.COLLECTING:
                return
            machine.drawing.judge_full()
            if machine.kept.auto_commit and trace.boundary_detected:
                machine.drawing.start_past()
            machine.timeouts.restart()

    def _refused(self, raw: Step | None, problem: BaseException) -> None:
        """Withdraw the step from the log. A failure to withdraw must not hide why the step was refused."""
        machine = self._machine
        with machine.changed:
            if machine.is_left:
                return
            try:
                if raw is not None:
                    machine.at.log.withdraw(machine.kept, raw.index)
            except Exception:
                log.warning("a step of %s that was refused could not be withdrawn", machine.id, exc_info=True)
            machine.tell("append_failed", {"session_id": machine.id, "error": problem})


def _heard(callback: Callable[..., object] | None, problem: PieriaError) -> None:
    """Log the loss of a step that has no callback."""
    if callback is None:
        log.warning("a step was not taken in: %s", problem)
