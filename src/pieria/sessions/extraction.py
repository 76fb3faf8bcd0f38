"""Extraction of knowledge from the steps of a session: one job per trajectory or group of short ones.

Jobs run beside each other. A mind that judges in batches judges the steps first. Each job commits its knowledge with
the indices of its steps, so no step is extracted twice. Steps of a failed job are tried again, and what its mind
answered is kept for that.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pieria import telemetry
from pieria.errors import PieriaError, PipelineError
from pieria.graph.changeset import Changeset
from pieria.graph.nodes import Episodic
from pieria.learning.answers import Answers, group_trajectories, is_enough, key_of
from pieria.learning.draft import settled
from pieria.learning.judgement import judge_batch, judges_together, next_batch
from pieria.learning.knowledge import episodic_id
from pieria.learning.steps import Step, StructuringTrace, Trajectory
from pieria.learning.structuring import Structured, counts, structure_together
from pieria.sessions.state import RECENT, SessionState

if TYPE_CHECKING:
    from pieria.graph import GraphBackend
    from pieria.learning.episode import Episode
    from pieria.learning.steps import Step
    from pieria.sessions.machine import Machine

log = logging.getLogger(__name__)

TRIES = 2
"""Failures after which a trajectory is no longer tried at boundaries. A flush or a close still tries it."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The trajectories of one job. With `is_flushed` they may not be over yet."""

    trajectories: tuple[Trajectory, ...]
    is_flushed: bool

    @property
    def indices(self) -> set[int]:
        return {index for trajectory in self.trajectories for index in indices_of(trajectory)}


class Drawing:
    """Starts the extractions of one session, commits their results and tracks their failures."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._under_way: set[Part] = set()
        self._is_preparing = self._is_judging = False
        self._one_judge = threading.Lock()
        self.gained = 0
        """Counts extracted trajectories, and answers about others: a retry that gained nothing may be in vain."""
        self._faults: list[PieriaError] = []
        self._failures: Counter[str] = Counter()
        self._node_ids: list[str] = []

    @property
    def is_busy(self) -> bool:
        return self._is_preparing or bool(self._under_way)

    @property
    def is_judging(self) -> bool:
        """Whether a batch of steps is judged while the session goes on."""
        return self._is_judging

    @property
    def fault(self) -> PieriaError | None:
        """The first error of the current extraction round, or None."""
        return self._faults[0] if self._faults else None

    def reach(self) -> tuple[int, int]:
        """Return how many steps knowledge was extracted from, and the number of steps in memory."""
        return len(self._machine.kept.committed), len(self._machine.steps)

    def left(self) -> list[Step]:
        """Return the steps that no extraction has taken or is working on. The lock must be held."""
        machine = self._machine
        taken = set(machine.kept.committed).union(*(part.indices for part in self._under_way))
        return [step for step in machine.steps if step.index not in taken]

    def judge_full(self) -> None:
        """Judge the next batch of steps in a thread, if a batch is full. The lock must be held."""
        if not self._is_judging and next_batch(self._machine.steps):
            self._is_judging = True
            self._machine.at.crew.extractions.submit(self._judge_full)

    def begin(self) -> None:
        """Start the final extraction of a closed episode: grade its last step, then extract the steps that are left.

        The lock must be held.
        """
        self._faults, self._node_ids = [], []
        self._machine.refresh()
        self._is_preparing = True
        self._machine.at.crew.extractions.submit(self._prepare)

    def start_past(self) -> None:
        """Extract the finished trajectories, except those that failed `TRIES` times. The lock must be held.

        The limit exists because each retry costs a model call. Short trajectories wait for others to share one.
        """
        known = [step for step in self._machine.steps if not step.provisional]
        aside = {id for id, failures in self._failures.items() if failures >= TRIES}
        aside |= {step.trajectory_id for step in known[-1:]}
        self._start([step for step in self._known() if step.trajectory_id not in aside], is_past=True)

    def flush(self) -> None:
        """Extract all remaining steps, although their trajectory may go on. The lock must be held."""
        self._machine.refresh()
        if any(step.provisional for step in self._machine.steps):
            self._is_preparing = True
            self._machine.at.crew.extractions.submit(self._flush)
        else:
            self._start(self.left(), is_flushed=True)

    def _known(self) -> list[Step]:
        """Return the steps that are left and finally judged. The lock must be held."""
        return [step for step in self.left() if not step.provisional]

    def _start(self, steps: Sequence[Step], *, is_flushed: bool = False, is_past: bool = False) -> None:
        mind = self._machine.at.mind
        together = [Trajectory.of(list(own)) for _, own in groupby(steps, key=lambda step: step.trajectory_id)]
        for group in group_trajectories(together, mind):
            if is_past and judges_together(mind) and not is_enough(group):
                continue
            part = Part(group, is_flushed)
            self._under_way.add(part)
            self._machine.at.crew.extractions.submit(partial(self._draw, part))

    def _judge_full(self) -> None:
        machine = self._machine
        try:
            self._judge()
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - the steps wait for the next batch
            if not machine.is_left:
                log.warning("steps of %s could not be judged yet: %s", machine.id, problem)
        with machine.changed:
            self._is_judging = False
            if machine.state is SessionState.COLLECTING and machine.kept.auto_commit and not machine.is_leaving:
                self.start_past()
        self._settle()

    def _judge(self, *, rest: bool = False, is_over: bool = False) -> None:
        """Judge full batches of steps or, for the `rest`, all that wait. One thread at a time judges."""
        machine, at = self._machine, self._machine.at
        with self._one_judge:
            while True:
                with machine.changed:
                    machine.check()
                    machine.refresh()
                    episode = machine.episode
                    batch = next_batch(machine.steps, rest=rest)
                    if episode is None or not batch or machine.is_leaving:
                        return
                mind: Any = at.watched
                judged = judge_batch(episode, batch, mind, at.embedder, at.config, is_over=is_over)
                with machine.changed:
                    machine.check()
                    machine.keep_judgements([each.step for each in judged])
                    for each in judged:
                        payload = {
                            "session_id": machine.id,
                            "step_index": each.step.index,
                            "trajectory_id": each.step.trajectory_id,
                            "boundary_detected": each.is_turn,
                        }
                        machine.tell("step_judged", payload, {"trace": each.trace})

    def _flush(self) -> None:
        machine = self._machine
        try:
            self._judge(rest=True)
            with machine.changed:
                machine.check()
                machine.refresh()
                self._start(self._known(), is_flushed=True)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - the next flush tries again
            if not machine.is_left:
                log.warning("%s could not be flushed; it is tried again: %s", machine.id, problem)
        with machine.changed:
            self._is_preparing = False
            if not self._under_way and not machine.is_leaving:
                machine.timeouts.restart_flush()
        self._settle()

    def _prepare(self) -> None:
        machine = self._machine
        try:
            machine.line.judge_left()
            self._judge(rest=True, is_over=True)
            episode = machine.episode
            assert episode is not None
            graded = episode.score_pending_reward(llm=machine.at.watched, config=machine.at.config)
            with machine.changed:
                machine.check()
                machine.keep_reward(graded)
                self._start(self.left())
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - it is what the session failed for
            with machine.changed:
                self._faults.append(_as_error(problem))
        with machine.changed:
            self._is_preparing = False
        self._settle()

    def _draw(self, part: Part) -> None:
        machine, at = self._machine, self._machine.at
        answers = Answers(machine.kept.answers)
        try:
            episode = machine.episode
            if machine.is_leaving or episode is None:
                raise PipelineError("task_crashed")
            about = {"session_id": machine.id, "repo_id": at.repo}
            with telemetry.during("structuring.extract", **about) as measured:
                drawn = structure_together(
                    part.trajectories,
                    machine.kept.goal,
                    mind=at.watched,
                    embedder=at.embedder,
                    config=at.config,
                    episode_id=episode.id,
                    clock=at.clock,
                    answers=answers,
                    **about,
                )
                whole = reduce(Changeset.merge, (each.changeset for each in drawn), Changeset())
                measured.update(trajectory_count=len(drawn), **counts(whole))
            if machine.kept.auto_commit:
                for trajectory, each in zip(part.trajectories, drawn, strict=True):
                    with at.crew.lane(at.repo):
                        fitted = settled(each, at.backend, at.watched, at.embedder, at.config)
                        self._commit(trajectory, fitted, is_flushed=part.is_flushed)
            else:
                self._hold(part, [each.changeset for each in drawn])
            with machine.changed:
                self._under_way.discard(part)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - reported as an event and in the log
            self._failed(part, problem, answers)
        self._settle()

    def _hold(self, part: Part, changesets: Sequence[Changeset]) -> None:
        """Keep the changesets in the log until the caller commits or discards them."""
        machine = self._machine
        with machine.changed:
            machine.check()
            kept = replace(
                machine.kept,
                waiting=(*machine.kept.waiting, *changesets),
                committed=self._with(part.indices),
                answers=self._unneeded(part.trajectories),
            )
            machine.kept = machine.at.log.keep(kept)
            self.gained += 1

    def _commit(self, trajectory: Trajectory, drawn: Structured, *, is_flushed: bool) -> None:
        """Commit the knowledge with the rewards that arrived during extraction."""
        machine = self._machine
        indices = indices_of(trajectory)
        with machine.changed:
            machine.check()
            known = rewarded(drawn.changeset, machine.episode, indices)
            committed = self._with(indices)
            forget = self._needless(committed)
            kept = replace(
                machine.kept,
                committed=tuple(index for index in committed if index not in forget),
                answers=self._unneeded([trajectory]),
            )
            machine.commit(kept, known, forget=forget)
            self.gained += 1
            self._tell_committed(trajectory, known, drawn.trace, is_flushed=is_flushed)

    def _needless(self, committed: Collection[int]) -> set[int]:
        """Return the committed steps that the log can drop: graded, and too old for the context or the next batch."""
        steps = self._machine.steps
        waiting = next((place for place, step in enumerate(steps) if step.provisional), len(steps))
        over = steps[: max(0, min(len(steps) - RECENT, waiting - 1))]
        return {step.index for step in over if step.index in committed and step.reward is not None}

    def _with(self, indices: Collection[int]) -> tuple[int, ...]:
        return tuple(sorted({*self._machine.kept.committed, *indices}))

    def _unneeded(self, trajectories: Iterable[Trajectory]) -> dict[str, Mapping[str, Any]]:
        """Return the kept answers without those about extracted trajectories."""
        gone = {key_of(trajectory.steps) for trajectory in trajectories}
        return {key: value for key, value in self._machine.kept.answers.items() if key not in gone}

    def _tell_committed(
        self, trajectory: Trajectory, changeset: Changeset, trace: StructuringTrace, *, is_flushed: bool
    ) -> None:
        node_ids = list(changeset.nodes())
        self._node_ids += node_ids
        self._machine.node_ids += node_ids
        payload = {
            "session_id": self._machine.id,
            "trajectory_id": trajectory.id,
            "node_count": len(node_ids),
            "node_ids": node_ids,
        }
        name = "trajectory_flushed" if is_flushed else "trajectory_committed"
        self._machine.tell(name, payload, {"trace": trace})

    def _failed(self, part: Part, problem: BaseException, answers: Answers) -> None:
        machine = self._machine
        with machine.changed:
            self._under_way.discard(part)
            if machine.is_leaving or machine.is_left:
                return
            error = _as_error(problem)
            self._faults.append(error)
            committed = set(machine.kept.committed)
            left = [each for each in part.trajectories if not committed.issuperset(indices_of(each))]
            self._keep_answers(answers, left)
            for trajectory in left:
                self._failures[trajectory.id] += 1
                log.warning("nothing could be drawn from %s of %s: %s", trajectory.id, machine.id, error)
                payload = {"session_id": machine.id, "trajectory_id": trajectory.id, "reason": error}
                machine.tell("trajectory_extraction_failed", payload)
            if machine.state is SessionState.COLLECTING:
                machine.queue.fail("extraction_failed")
                machine.timeouts.restart_flush()

    def _keep_answers(self, answers: Answers, left: Sequence[Trajectory]) -> None:
        """Log what was answered about trajectories that are left. The lock must be held."""
        machine = self._machine
        keys = {key_of(trajectory.steps) for trajectory in left}
        told = {key: value for key, value in answers.as_dict().items() if key in keys}
        if not told:
            return
        known = {key: len(machine.kept.answers.get(key, ())) for key in told}
        self.gained += sum(len(value) - known[key] for key, value in told.items())
        kept = replace(machine.kept, answers={**machine.kept.answers, **told})
        try:
            machine.kept = machine.at.log.keep(kept)
        except Exception:
            # In memory they still serve a retry of this process.
            log.warning("what %s was answered could not be logged", machine.id, exc_info=True)
            machine.kept = kept

    def _settle(self) -> None:
        """Wake waiting threads after an extraction, and finish the episode if that extraction was the last one."""
        machine = self._machine
        with machine.changed:
            machine.changed.notify_all()
            if machine.state is SessionState.EXTRACTING and not self.is_busy and not machine.is_leaving:
                self._conclude()
        machine.queue.drain()

    def _conclude(self) -> None:
        """Move the session to its next state after the last extraction. The lock must be held."""
        machine = self._machine
        if not self._faults:
            try:
                machine.conclude(self._node_ids)
            except Exception as problem:  # noqa: BLE001 - it is what the session failed for
                self._faults.append(_as_error(problem))
        if self._faults:
            machine.fail(self._faults[0])
            machine.queue.fail("extraction_failed")
        if machine.is_stopping:
            machine.timeouts.expired()

    def reward_late(self, step: Step) -> None:
        """Write the reward of a step whose node is already in the graph. The lock must be held."""
        machine = self._machine
        assert machine.episode is not None
        node = step_of(machine.at.backend, machine.episode.id, step)
        if node is not None:
            machine.at.log.commit(machine.kept, Changeset([node]), ())


def indices_of(trajectory: Trajectory) -> set[int]:
    return {step.index for step in trajectory.steps}


def _as_error(problem: BaseException) -> PieriaError:
    if isinstance(problem, PieriaError):
        return problem
    error = PipelineError("task_crashed")
    error.__cause__ = problem
    return error


def rewarded(changeset: Changeset, episode: Episode | None, indices: Collection[int]) -> Changeset:
    """Return the changeset with the current rewards of these steps."""
    if episode is None:
        return changeset
    known = {episodic_id(episode.id, step.index): step.reward for step in episode.steps if step.index in indices}
    additions = [
        replace(node, reward=known[node.id]) if isinstance(node, Episodic) and node.id in known else node
        for node in changeset.additions
    ]
    return replace(changeset, additions=additions)


def step_of(backend: GraphBackend, episode_id: str, step: Step) -> Episodic | None:
    """Return the step's node with its reward, or None if the graph has no such node."""
    node = backend.get_node(episodic_id(episode_id, step.index))
    return replace(node, reward=step.reward) if isinstance(node, Episodic) else None
