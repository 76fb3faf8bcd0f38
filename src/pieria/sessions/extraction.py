"""Extraction of knowledge from the steps of a session: one job per trajectory, several at once.

Each job commits its knowledge together with the indices of its steps, so no step is extracted twice. Steps of a failed
job stay unextracted and are tried again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from pieria.errors import PieriaError, PipelineError
from pieria.graph.changeset import Changeset
from pieria.graph.nodes import Episodic
from pieria.learning.draft import settled
from pieria.learning.knowledge import episodic_id
from pieria.learning.steps import Step, StructuringTrace, Trajectory
from pieria.learning.structuring import Structured, structured
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
    """Steps of one trajectory to extract knowledge from. With `is_flushed` the trajectory was not over yet."""

    trajectory: Trajectory
    is_flushed: bool

    @property
    def indices(self) -> set[int]:
        return {step.index for step in self.trajectory.steps}


class Drawing:
    """Starts the extractions of one session, commits their results and tracks their failures."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._under_way: set[Part] = set()
        self._is_preparing = False
        self._faults: list[PieriaError] = []
        self._failures: Counter[str] = Counter()
        self._node_ids: list[str] = []

    @property
    def is_busy(self) -> bool:
        return self._is_preparing or bool(self._under_way)

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

        The limit exists because each retry costs a model call.
        """
        episode = self._machine.episode
        assert episode is not None
        aside = {id for id, failures in self._failures.items() if failures >= TRIES} | {episode.current_trajectory_id}
        self._start([step for step in self.left() if step.trajectory_id not in aside])

    def flush(self) -> None:
        """Extract all remaining steps, although their trajectory may go on. The lock must be held."""
        self._machine.refresh()
        self._start(self.left(), is_flushed=True)

    def _start(self, steps: Sequence[Step], *, is_flushed: bool = False) -> None:
        for _, together in groupby(steps, key=lambda step: step.trajectory_id):
            part = Part(Trajectory.of(list(together)), is_flushed)
            self._under_way.add(part)
            self._machine.at.crew.extractions.submit(partial(self._draw, part))

    def _prepare(self) -> None:
        machine = self._machine
        try:
            machine.line.judge_left()
            episode = machine.episode
            assert episode is not None
            graded = episode.score_pending_reward(llm=machine.at.mind, config=machine.at.config)
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
        episode = machine.episode
        try:
            if machine.is_leaving or episode is None:
                raise PipelineError("task_crashed")
            drawn = structured(
                part.trajectory,
                machine.kept.goal,
                llm=at.mind,
                embedding=at.embedder,
                config=at.config,
                episode_id=episode.id,
                session_id=machine.id,
                repo_id=at.repo,
                clock=at.clock,
            )
            if machine.kept.auto_commit:
                with at.crew.lane(at.repo):
                    self._commit(part, settled(drawn, at.backend, at.mind, at.embedder, at.config))
            else:
                self._hold(part, drawn.changeset)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - reported as an event and in the log
            self._failed(part, problem)
        self._settle()

    def _hold(self, part: Part, changeset: Changeset) -> None:
        """Keep the changeset in the log until the caller commits or discards it."""
        machine = self._machine
        with machine.changed:
            machine.check()
            waiting = (*machine.kept.waiting, changeset)
            machine.kept = machine.at.log.keep(
                replace(machine.kept, waiting=waiting, committed=tuple(self._with(part)))
            )
            self._under_way.discard(part)

    def _commit(self, part: Part, drawn: Structured) -> None:
        """Commit the knowledge with the rewards that arrived during extraction."""
        machine = self._machine
        with machine.changed:
            machine.check()
            known = rewarded(drawn.changeset, machine.episode, part.indices)
            committed = self._with(part)
            forget = self._needless(committed)
            kept = replace(machine.kept, committed=tuple(index for index in committed if index not in forget))
            machine.commit(kept, known, forget=forget)
            self._under_way.discard(part)
            self._tell_committed(part, known, drawn.trace)

    def _needless(self, committed: Collection[int]) -> set[int]:
        """Return the committed steps that the log can drop: graded, and too old for the context or the next step."""
        over = self._machine.steps[:-RECENT]
        return {step.index for step in over if step.index in committed and step.reward is not None}

    def _with(self, part: Part) -> list[int]:
        return sorted({*self._machine.kept.committed, *part.indices})

    def _tell_committed(self, part: Part, changeset: Changeset, trace: StructuringTrace) -> None:
        node_ids = list(changeset.nodes())
        self._node_ids += node_ids
        self._machine.node_ids += node_ids
        payload = {
            "session_id": self._machine.id,
            "trajectory_id": part.trajectory.id,
            "node_count": len(node_ids),
            "node_ids": node_ids,
        }
        name = "trajectory_flushed" if part.is_flushed else "trajectory_committed"
        self._machine.tell(name, payload, {"trace": trace})

    def _failed(self, part: Part, problem: BaseException) -> None:
        machine = self._machine
        with machine.changed:
            self._under_way.discard(part)
            if machine.is_leaving or machine.is_left:
                return
            error = _as_error(problem)
            self._faults.append(error)
            self._failures[part.trajectory.id] += 1
            log.warning("nothing could be drawn from %s of %s: %s", part.trajectory.id, machine.id, error)
            payload = {"session_id": machine.id, "trajectory_id": part.trajectory.id, "reason": error}
            machine.tell("trajectory_extraction_failed", payload)
            if machine.state is SessionState.COLLECTING:
                machine.queue.fail("extraction_failed")
                machine.timeouts.restart_flush()

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
