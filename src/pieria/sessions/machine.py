"""The state machine of one session: its current state, and every transition.

A change is logged before it takes effect in memory. The lock guards memory and is never held during a model call. The
tables of allowed operations are in `state`, incoming steps in `line`, extraction in `extraction`, waiting operations in
`queue`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from pieria import telemetry
from pieria.errors import ClosedError, Invalid, PieriaError, PipelineError, SessionError
from pieria.graph.changeset import Changeset
from pieria.learning.draft import prepared
from pieria.learning.episode import Episode
from pieria.learning.steps import Step
from pieria.notifier import Event
from pieria.sessions.extraction import Drawing
from pieria.sessions.line import Line
from pieria.sessions.log import UnfinishedSession, unknown
from pieria.sessions.queue import Queue
from pieria.sessions.state import ALLOWED, RECENT, Do, Operation, SessionState
from pieria.sessions.surroundings import Surroundings
from pieria.sessions.timeouts import Timeouts
from pieria.sessions.wait import Wait

log = logging.getLogger(__name__)


class Machine:
    """The state of one session, shared by threads. Methods that need the lock say so; all others take it themselves."""

    def __init__(self, kept: UnfinishedSession, steps: Sequence[Step], at: Surroundings) -> None:
        self.at = at
        self.line = Line(self)
        self.drawing = Drawing(self)
        self.queue = Queue(self)
        self.timeouts = Timeouts(self)
        self.changed = threading.Condition()
        self.operating: Operation | None = None
        """The operation in progress; there is at most one."""
        self.is_over = self.is_left = False
        self.is_stopping = self.is_leaving = False
        self.node_ids: list[str] = []
        """The nodes that the current or last episode added to the graph, in this process."""
        self.kept = kept
        self.episode = _episode(kept, [step for step in steps if step.trajectory_id])
        self.unjudged = next((step for step in steps if not step.trajectory_id), None)

    # --- state

    @property
    def id(self) -> str:
        return self.kept.id

    @property
    def state(self) -> SessionState:
        return SessionState(self.kept.state)

    @property
    def fault(self) -> PieriaError | None:
        """Why extraction failed. A failure in another process leaves only its message."""
        if self.state is not SessionState.FAILED:
            return None
        return self.drawing.fault or PipelineError(self.kept.reason)

    @property
    def is_busy(self) -> bool:
        """Whether an asynchronous operation has to wait in the queue. The lock must be held."""
        if self.operating is not None or self.state is SessionState.EXTRACTING:
            return True
        return self.state is SessionState.COLLECTING and (self.line.is_busy or self.drawing.is_busy)

    @property
    def is_drawn(self) -> bool:
        """Whether an `auto_commit` session has committed all steps with their rewards. The lock must be held."""
        steps = self.steps
        is_known = self.unjudged is None and (not steps or steps[-1].reward is not None)
        return self.kept.auto_commit and is_known and not self.drawing.left()

    def check(self) -> None:
        """Raise if the session was closed or has ended. The lock must be held."""
        if self.is_left:
            raise ClosedError("session")
        if self.is_over:
            raise unknown(self.id)

    def may(self, operation: Operation) -> Do:
        """Return what the operation does now, or raise the reason for refusing it. The lock must be held."""
        self.check()
        if self.is_leaving:
            raise ClosedError("session")
        if self.is_stopping:
            raise SessionError("session_stopping")
        found = ALLOWED[operation][self.state]
        if not isinstance(found, Do):
            raise SessionError(found)
        if found is Do.APPEND and (self.operating is Operation.CLOSE or self.queue.closes):
            raise SessionError("extraction_in_progress")
        if found is Do.CLOSE and self.line.is_busy:
            raise SessionError("append_in_progress")
        if found is Do.CLOSE and self.drawing.is_busy:
            raise SessionError("extraction_in_progress")
        return found

    # --- operations

    def perform(self, operation: Operation, *arguments: Any) -> None:
        """Wait for the operation in progress, if any, then carry out this one."""
        with self.changed:
            while self.operating is not None:
                self.changed.wait()
            do = self.may(operation)
            self.operating = operation
        self.carry_out(do, *arguments)

    def carry_out(self, do: Do, *arguments: Any) -> None:
        """Run the operation that `operating` names, then clear it and start what waits."""
        try:
            getattr(self, f"_{do}")(*arguments)
        finally:
            with self.changed:
                self.operating = None
                self.changed.notify_all()
            self.queue.drain()

    def _start(self, goal: str) -> None:
        with self.changed:
            episode = Episode(goal=goal)
            self.move(replace(_idle(self.kept), state=SessionState.COLLECTING, goal=goal, episode=_head(episode)))
            self.episode = replace(episode, goal=self.kept.goal)
            self.node_ids = []
            self.timeouts.restart()

    def _close(self) -> None:
        with self.changed:
            if self.is_drawn:
                self.move(_idle(self.kept))
            else:
                self.draw_all()
            self.timeouts.stop()

    def _retry(self) -> None:
        with self.changed:
            self.draw_all()

    def _discard(self) -> None:
        with self.changed:
            self.move(_idle(self.kept))

    def _commit(self) -> None:
        at, waiting = self.at, reduce(Changeset.merge, self.kept.waiting, Changeset())
        with at.crew.lane(at.repo):
            fitted = prepared(waiting, at.backend, at.watched, at.embedder, at.config)
            with self.changed:
                self.node_ids = list(fitted.nodes())
                self.move(_idle(self.kept), fitted, node_ids=self.node_ids)

    def draw_all(self) -> None:
        """Extract knowledge from all remaining steps. The lock must be held."""
        self.move(replace(self.kept, state=SessionState.EXTRACTING, reason=None))
        self.drawing.begin()

    # --- waiting

    def close_in_time(self, wait: Wait) -> None:
        """Close once pending steps and extractions allow it. Raises `PipelineError` when the wait is over."""
        while True:
            try:
                self.perform(Operation.CLOSE)
                return
            except SessionError as problem:
                if problem.reason not in ("append_in_progress", "extraction_in_progress"):
                    raise
                with self.changed:
                    if self.state is not SessionState.COLLECTING:
                        raise
                    self._wait(lambda: not self.is_busy, wait)

    def settled(self, wait: Wait) -> SessionState:
        """Return the state once extraction is over. Raises `PipelineError` when the wait is over."""
        with self.changed:
            self._wait(lambda: self.state is not SessionState.EXTRACTING, wait)
            return self.state

    def _wait(self, come: Callable[[], bool], wait: Wait) -> None:
        """Wait until `come` returns true. Raises `PipelineError` when the wait is over. The lock must be held."""
        while not (come() or self.is_left):
            left = wait.left()
            if left <= 0:
                raise PipelineError("extraction_timeout", hint=wait.hint)
            self.changed.wait(left)
        if self.is_left:
            raise ClosedError("session")

    def pause(self) -> None:
        """Stop automatic commits until the next step."""
        with self.changed:
            self.timeouts.stop()

    # --- saving

    def move(
        self, kept: UnfinishedSession, changeset: Changeset | None = None, *, node_ids: list[str] | None = None
    ) -> None:
        """Save the session in another state, together with a changeset if there is one. The lock must be held."""
        self.check()
        states = {"from_state": self.state.value, "to_state": SessionState(kept.state).value}
        with telemetry.during("session.transition", session_id=self.id, repo_id=self.at.repo, **states):
            if changeset is None:
                kept = self.at.log.keep(kept)
            else:
                self.at.log.commit(kept, changeset, [step.index for step in self.steps])
        self._moved(kept, node_ids)

    def fail(self, problem: PieriaError) -> None:
        """Move to `failed`. The steps and the committed knowledge stay. The lock must be held."""
        kept = replace(self.kept, state=SessionState.FAILED, reason=str(problem))
        try:
            self.move(kept)
        except Exception:
            # The log still says `extracting`, so a process that resumes the session will extract again.
            log.warning("that %s failed could not be logged", self.id, exc_info=True)
            self._moved(kept, None)

    def conclude(self, node_ids: list[str]) -> None:
        """Move to `idle` or `ready` after a successful extraction. The lock must be held."""
        if self.kept.auto_commit:
            self.move(_idle(self.kept), node_ids=node_ids)
        else:
            self.move(replace(self.kept, state=SessionState.READY))

    def _moved(self, kept: UnfinishedSession, node_ids: list[str] | None) -> None:
        old, self.kept = self.state, kept
        if kept.episode is None:
            self.episode = self.unjudged = None
        payload = {"session_id": self.id, "old_state": old, "new_state": self.state}
        self.tell("session_transition", payload, {} if node_ids is None else {"node_ids": node_ids})
        self.changed.notify_all()

    @property
    def steps(self) -> tuple[Step, ...]:
        episode = self.episode
        return () if episode is None else episode.steps

    def commit(self, kept: UnfinishedSession, changeset: Changeset, *, forget: Collection[int]) -> None:
        """Save extracted knowledge, and drop the steps to forget. The lock must be held."""
        self.at.log.commit(kept, changeset, forget)
        self.kept = kept
        self._have([step for step in self.steps if step.index not in forget])

    def refresh(self) -> None:
        """Blank steps in memory that were erased from the log meanwhile. The lock must be held."""
        # Only steps that are in the graph can be erased.
        held = set(self.kept.committed).intersection(step.index for step in self.steps)
        if held and any(map(is_erased, self.at.log.steps(self.id, held))):
            # An answer may repeat the erased words.
            self.kept = replace(self.kept, answers={})
            logged = {step.index: step for step in self.at.log.steps(self.id, [step.index for step in self.steps])}
            self._have([_as_logged(step, logged.get(step.index, step)) for step in self.steps])

    def _have(self, steps: Sequence[Step]) -> None:
        if self.episode is not None:
            self.episode = replace(self.episode, steps=tuple(steps))

    def keep_reward(self, graded: Episode) -> None:
        """Save the reward of a graded step, in the log and on its node if the graph has one. The lock must be held."""
        rewards = {step.index: step.reward for step in graded.steps if step.reward is not None}
        for step in self.steps:
            if step.reward is None and step.index in rewards:
                known = replace(step, reward=rewards[step.index])
                if self.kept.auto_commit and step.index in self.kept.committed:
                    self.drawing.reward_late(known)
                kept = self.at.log.step(self.kept, known)
                self._have([kept if each.index == step.index else each for each in self.steps])

    def keep_judgements(self, judged: Sequence[Step]) -> None:
        """Save the final judgement of steps. A reward that came meanwhile stays. The lock must be held.

        The judgement of the rules stays if the model's cannot be kept: it may hold a secret that the bank refuses.
        """
        held = {step.index: step for step in self.steps}
        for step in judged:
            ruled = replace(held[step.index], provisional=False, trajectory_id=step.trajectory_id, embedding=None)
            known = step if step.reward is not None else replace(step, reward=ruled.reward)
            is_last = self.steps[-1].index == step.index
            if is_last and self.episode is not None:
                place = {"current_trajectory_id": step.trajectory_id, "current_subgoal_embedding": step.embedding}
                self.episode = replace(self.episode, **place)  # type: ignore[arg-type]
                self.kept = replace(self.kept, episode=_head(self.episode))
            try:
                kept = self.at.log.step(self.kept, known)
            except Invalid as problem:
                log.warning("a step of %s stays judged by rules: %s", self.id, problem)
                kept = self.at.log.step(self.kept, ruled)
            self._have([kept if each.index == step.index else each for each in self.steps])

    def keep_step(self, grown: Episode) -> None:
        """Save the newest step with its judgement. The lock must be held."""
        kept = replace(self.kept, episode=_head(grown))
        last = self.at.log.step(kept, grown.steps[-1])
        self.episode = replace(grown, steps=(*self.steps, last))
        self.kept = kept
        self.unjudged = None

    def context(self) -> dict[str, Any] | None:
        with self.changed:
            if self.episode is None or self.is_over:
                return None
            if not self.is_left:
                self.refresh()
            return context_of(self.kept, self.steps)

    def tell(self, name: str, payload: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
        self.at.tell(Event(name, dict(payload), dict(metadata or {})))

    # --- begin and end

    def go_on(self) -> None:
        """Continue where the last process stopped."""
        with self.changed:
            if self.state is SessionState.EXTRACTING:
                self.drawing.begin()
            elif self.state is SessionState.COLLECTING:
                if self.unjudged is not None:
                    self.line.take_again(self.unjudged)
                self.drawing.judge_full()
                if self.kept.auto_commit:
                    self.drawing.start_past()
                    self.timeouts.restart()

    def end(self) -> None:
        """Delete the session from the log; all its knowledge is committed. The lock must be held."""
        self.is_over = True
        self.timeouts.stop()
        try:
            self.at.log.end(self.id)
        except Exception:
            log.warning("that %s is over could not be logged", self.id, exc_info=True)
        self.changed.notify_all()

    def leave(self, until: float) -> None:
        """Stop starting work, wait for running work until this time, then release the session.

        A process that resumes the session does the remaining work.
        """
        with self.changed:
            self.is_leaving = True
            self.timeouts.stop()
            unheard = [*self.line.turn_away(), *self.queue.clear()]
            self.changed.notify_all()
            while self._is_working and (left := until - time.monotonic()) > 0:
                self.changed.wait(left)
            was_held = not (self.is_left or self.is_over)
            self.is_left = True
            self.changed.notify_all()
        self.queue.report([(callback, ClosedError("session")) for callback in unheard])
        if was_held and self.at.log.holds(self.id):
            self.at.log.release(self.id)

    @property
    def _is_working(self) -> bool:
        return self.line.is_busy or self.drawing.is_busy or self.drawing.is_judging or self.operating is not None


def context_of(kept: UnfinishedSession, steps: Sequence[Step]) -> dict[str, Any]:
    said = [step for step in steps if step.trajectory_id and not is_erased(step)]
    recent = [f"{step.observation} -> {step.action}" for step in said[-RECENT:]]
    return {"goal": kept.goal, "recent_steps": recent}


def _as_logged(step: Step, logged: Step) -> Step:
    """Return the step without erased words: the logged step if it is erased, else this step with the logged state."""
    return logged if is_erased(logged) else replace(step, state=logged.state)


def is_erased(step: Step) -> bool:
    """Return whether the words of a step were erased: a step with words is not."""
    return not step.observation and not step.action


def _idle(kept: UnfinishedSession) -> UnfinishedSession:
    return replace(kept, state=SessionState.IDLE, episode=None, committed=(), waiting=(), reason=None, answers={})


def _head(episode: Episode) -> dict[str, Any]:
    """Return the parts of an episode that neither the steps nor the session hold."""
    return {"id": episode.id, "current_trajectory_id": episode.current_trajectory_id}


def _episode(kept: UnfinishedSession, steps: Sequence[Step]) -> Episode | None:
    if kept.episode is None:
        return None
    embedding = steps[-1].embedding if steps else None
    return Episode(kept.goal, steps=tuple(steps), current_subgoal_embedding=embedding, **kept.episode)
