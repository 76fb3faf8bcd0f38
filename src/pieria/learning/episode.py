"""An episode: the steps an agent took towards a goal, and where it changed its subgoal.

An episode is immutable; every method returns a new one. `append` judges the new step's state and subgoal, and grades
the step before. Storage of episodes is elsewhere.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from pieria import telemetry
from pieria.errors import EpisodeError, InputError, PieriaError
from pieria.graph.similarity import cosine_similarity
from pieria.learning.models import embedder_of, mind_of
from pieria.learning.steps import EpisodeTrace, Step, Trajectory, vector_of, verbosity_of
from pieria.models.mind import StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.pieces import told
from pieria.record import check
from pieria.record.ids import new_id
from pieria.runtime import forks

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.embedder import Embedder
    from pieria.models.mind import Mind

log = logging.getLogger(__name__)

BOUNDARY = 0.75
"""A step whose subgoal is less similar than this to the one before starts a new trajectory."""
NEUTRAL = 0.5
"""Reward of a step that could not be graded."""
RECENT = 12
"""Steps shown to a mind when it names the next subgoal."""
OVER = "The episode is over; nothing further was observed."
"""The outcome used to grade the last step."""

KEPT = 256
"""Vectors kept in the cache."""


def _trajectory_id() -> str:
    return f"traj_{new_id()}"


@dataclass(frozen=True, slots=True)
class Episode:
    """`trajectories` is filled on close; until then new steps join `current_trajectory_id`."""

    goal: str
    id: str = field(default_factory=lambda: f"ep_{new_id()}")
    steps: tuple[Step, ...] = ()
    trajectories: tuple[Trajectory, ...] = ()
    current_trajectory_id: str = field(default_factory=_trajectory_id)
    current_subgoal_embedding: tuple[float, ...] | None = None
    closed: bool = False

    @property
    def next_index(self) -> int:
        """The index of the next step. Old steps may have been dropped from the front."""
        return self.steps[-1].index + 1 if self.steps else 0

    def append(
        self,
        observation: str,
        action: str,
        *,
        llm: object = None,
        embedding: object = None,
        config: Config | None = None,
        prompts: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        repo_id: str | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> tuple[Episode, EpisodeTrace]:
        """Return the episode with one more step, and the trace.

        `llm` is a language model or a mind; without one, rules judge. `embedding` is an embedding, an embedder or a
        function of a list of texts. An error in judging the step is raised and the episode does not change. If the
        step before cannot be graded, it gets a reward of 0.5. `session_id` and `repo_id` go into telemetry; `clock`
        counts seconds, for the trace.
        """
        begun = clock()
        self._check_open()
        observed, done = _checked(observation, "observation"), _checked(action, "action")
        if not (observed.strip() or done.strip()):
            raise InputError("observation", "a text that is not blank, or an action", observed)
        with telemetry.during("episode.append", repo_id=repo_id, session_id=session_id) as measured:
            embedder = embedder_of(embedding, config)
            mind = with_likeness(mind_of(llm, config, prompts=prompts), embedder)
            judged = replace(self._judged(observed, done, mind, embedder), judged_by=name_of(mind))
            score = self._likeness(judged.embedding, embedder)
            is_turn = score is not None and score < BOUNDARY
            graded = self._graded(OVER if is_turn and not self._is_outcome(observed) else observed, mind)
            step = replace(judged, trajectory_id=_trajectory_id() if is_turn else self.current_trajectory_id)
            grown = replace(
                graded,
                steps=(*graded.steps, step),
                current_trajectory_id=step.trajectory_id,
                current_subgoal_embedding=step.embedding,
            )
            measured.update(step_count=grown.next_index, new_trajectory=is_turn)
        reward = graded.steps[-1].reward if graded is not self else None
        trace = trace_of(step, score, is_turn, reward, int((clock() - begun) * 1_000_000), config)
        return grown, trace

    def score_pending_reward(
        self, *, llm: object = None, config: Config | None = None, prompts: Mapping[str, Any] | None = None
    ) -> Episode:
        """Return the episode with its last step graded. Call it when no step follows."""
        self._check_open()
        if not self.steps or self.steps[-1].reward is not None:
            return self
        return self._graded(OVER, mind_of(llm, config, prompts=prompts))

    def close(self) -> Episode:
        """Return the closed episode, with its trajectories in the order of their first steps."""
        if self.closed:
            raise EpisodeError("already_closed")
        return replace(self, trajectories=tuple(self._trajectories()), closed=True)

    @staticmethod
    def build_trajectory_from_steps(steps: Sequence[Step]) -> Trajectory:
        """Return the trajectory of these steps, given in any order."""
        return Trajectory.of(steps)

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict, which `from_dict` reads back."""
        return {
            "id": self.id,
            "goal": self.goal,
            "steps": [step.as_dict() for step in self.steps],
            "trajectories": [trajectory.as_dict() for trajectory in self.trajectories],
            "current_trajectory_id": self.current_trajectory_id,
            "current_subgoal_embedding": _listed(self.current_subgoal_embedding),
            "closed": self.closed,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        read = {
            "steps": tuple(map(Step.from_dict, kept["steps"])),
            "trajectories": tuple(map(Trajectory.from_dict, kept["trajectories"])),
            "current_subgoal_embedding": vector_of(kept["current_subgoal_embedding"]),
        }
        return cls(**{**kept, **read})

    def _check_open(self) -> None:
        if self.closed:
            raise EpisodeError("episode_closed", hint="Begin another one.")

    def _judged(self, observation: str, action: str, mind: Mind, embedder: Embedder) -> Step:
        """Return the next step, without a trajectory."""
        last = self.steps[-1] if self.steps else None
        before, done = (last.state, last.action) if last else (None, None)
        state = mind.state(self.goal, observation, before=before, action=done)
        subgoal = mind.subgoal(self.goal, state, observation, action, before=self._recent())
        embedding = _vector(subgoal, embedder) if subgoal else None
        return Step(self.next_index, observation, action, subgoal, state, embedding=embedding)

    def _recent(self) -> list[StepSeen]:
        """Return the last steps of the current trajectory."""
        own = [step for step in self.steps[-RECENT:] if step.trajectory_id == self.current_trajectory_id]
        return [StepSeen(step.observation, step.action, step.state, step.subgoal, step.reward) for step in own]

    def _likeness(self, embedding: tuple[float, ...] | None, embedder: Embedder) -> float | None:
        """Return the cosine of this subgoal and the one before, or None if one has no vector."""
        before = self.current_subgoal_embedding
        if before is None or embedding is None:
            return None
        if len(before) != len(embedding):  # the embedder has changed
            before = _vector(self.steps[-1].subgoal, embedder)
        return cosine_similarity(before, embedding)

    def _is_outcome(self, observation: str) -> bool:
        """Return whether an observation that begins another matter also says how the last step went."""
        last = self.steps[-1]
        return not told(observation).isdisjoint(told(f"{last.subgoal} {last.action}"))

    def _graded(self, outcome: str, mind: Mind) -> Episode:
        """Return the episode with its last step graded, if it is not graded yet."""
        if not self.steps or self.steps[-1].reward is not None:
            return self
        *before, last = self.steps
        try:
            reward = mind.reward(last.subgoal, last.observation, last.action, outcome)
        except PieriaError as problem:
            log.warning("step %d of %s could not be graded: %s; it counts as %s", last.index, self.id, problem, NEUTRAL)
            reward = NEUTRAL
        return replace(self, steps=(*before, replace(last, reward=reward)))

    def _trajectories(self) -> Iterator[Trajectory]:
        """Yield the trajectories. Their steps are consecutive: no step returns to an earlier trajectory."""
        for _, steps in groupby(self.steps, key=lambda step: step.trajectory_id):
            yield Trajectory.of(list(steps))


def _checked(text: object, parameter: str) -> str:
    """Return any valid text; it may be empty."""
    is_blank = isinstance(text, str) and not text.strip()
    return str(text) if is_blank else check.text(text, parameter, too_long="tell it in several steps")


def _vector(text: str, embedder: Embedder) -> tuple[float, ...]:
    return tuple(map(float, embedder.passages([text]).vectors[0]))


def _listed(vector: Sequence[float] | None) -> list[float] | None:
    return None if vector is None else list(vector)


def name_of(mind: Mind) -> str:
    """Return the mind's name; a user's mind may lack one."""
    told = getattr(mind, "name", None)
    return told if isinstance(told, str) and told else type(mind).__name__


def trace_of(
    step: Step, score: float | None, is_turn: bool, reward: float | None, taken: int, config: Config | None
) -> EpisodeTrace:
    verbosity = verbosity_of(config)
    is_detailed = verbosity == "detailed"
    return EpisodeTrace(
        verbosity=verbosity,
        step_index=step.index,
        trajectory_id=step.trajectory_id,
        boundary_detected=is_turn,
        reward=reward,
        duration_us=taken,
        subgoal=step.subgoal if is_detailed else None,
        similarity_score=score if is_detailed else None,
        similarity_threshold=BOUNDARY if is_detailed else None,
        judged_by=step.judged_by,
    )


def with_likeness(mind: Mind, embedder: Embedder) -> Mind:
    """Return a rule mind that also compares meaning; return any other mind unchanged.

    A remote embedder is not used, since each call costs money. Neither is the floor, which knows only words.
    """
    if not isinstance(mind, RuleMind) or embedder.is_floor or not embedder.is_at_hand:
        return mind
    kept = _kept.setdefault(embedder, _Kept())
    return mind.embedding(lambda texts: kept.vectors(embedder, texts))


class _Kept:
    """A thread-safe cache of recent vectors."""

    def __init__(self) -> None:
        self._held: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Any]:
        named = {sha256(text.encode()).digest(): text for text in texts}
        with self._lock:
            found = {name: self._held[name] for name in named if name in self._held}
        lacking = [name for name in named if name not in found]
        if lacking:
            made = embedder.passages([named[name] for name in lacking]).vectors.tolist()
            found.update(zip(lacking, made, strict=True))
        with self._lock:
            for name in named:
                self._held[name] = found[name]
                self._held.move_to_end(name)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return [found[sha256(text.encode()).digest()] for text in texts]


_kept: weakref.WeakKeyDictionary[Embedder, _Kept] = weakref.WeakKeyDictionary()
forks.in_child(_kept.clear)
