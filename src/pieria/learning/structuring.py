"""Extract knowledge from a trajectory: facts and procedures, as a changeset of the graph.

This module decides what is judged and in what order; `knowledge` builds the nodes. It does not write.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pieria import telemetry
from pieria.errors import EpisodeError, PieriaError, PipelineError, PromptError, ReplyError
from pieria.graph.changeset import Changeset
from pieria.graph.nodes import Intent, Procedural, Semantic, Tag
from pieria.learning.episode import Episode
from pieria.learning.knowledge import Layout, Learnt, Vector
from pieria.learning.models import embedder_of, mind_of
from pieria.learning.steps import Step, StructuringTrace, Trajectory, verbosity_of
from pieria.models.embedder import Embedder
from pieria.models.mind import Mind, Procedure, Proposition, StepSeen
from pieria.record import check
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.minds.llm import OwnPrompt

log = logging.getLogger(__name__)
T = TypeVar("T")

WORKERS = 8
"""Trajectories structured at a time."""


class Structured(NamedTuple):
    """The changeset to write, and its trace."""

    changeset: Changeset
    trace: StructuringTrace


def extract(
    episode: Episode,
    *,
    llm: object = None,
    embedding: object = None,
    config: Config | None = None,
    prompts: Mapping[str, OwnPrompt] | None = None,
    session_id: str | None = None,
    repo_id: str | None = None,
    clock: Clock = system_clock,
    workers: int = WORKERS,
) -> Changeset:
    """Return what a closed episode teaches. `workers` trajectories are structured at a time.

    If one trajectory fails, its error is raised after all have ended, and the results of the others are lost. To keep
    them, call `extract_trajectory` for each.
    """
    if not episode.closed:
        raise EpisodeError("episode_not_closed", hint="Close it first: episode.close().")
    at_once = check.whole(workers, "workers", 1, 1_000)
    mind = mind_of(llm, config, prompts=prompts)
    embedder = None if embedding is None else embedder_of(embedding, config)

    def ask(trajectory: Trajectory) -> Changeset:
        return extract_trajectory(
            trajectory,
            episode.goal,
            llm=mind,
            embedding=embedder,
            config=config,
            episode_id=episode.id,
            session_id=session_id,
            repo_id=repo_id,
            clock=clock,
        )

    with telemetry.during("structuring.extract", repo_id=repo_id, session_id=session_id) as measured:
        with ThreadPoolExecutor(max(1, min(at_once, len(episode.trajectories))), "pieria-structuring") as pool:
            asked = [pool.submit(ask, trajectory) for trajectory in episode.trajectories]
        _check_all(asked)
        whole = Changeset()
        for each in asked:
            whole = whole.merge(each.result())
        measured.update(trajectory_count=len(asked), **_counts(whole))
    return whole


def extract_trajectory(
    trajectory: Trajectory,
    goal: str,
    *,
    llm: object = None,
    embedding: object = None,
    config: Config | None = None,
    prompts: Mapping[str, OwnPrompt] | None = None,
    episode_id: str | None = None,
    session_id: str | None = None,
    repo_id: str | None = None,
    clock: Clock = system_clock,
) -> Changeset:
    """Return what a trajectory teaches. See `structured`."""
    return structured(
        trajectory,
        goal,
        llm=llm,
        embedding=embedding,
        config=config,
        prompts=prompts,
        episode_id=episode_id,
        session_id=session_id,
        repo_id=repo_id,
        clock=clock,
    ).changeset


def structured(
    trajectory: Trajectory,
    goal: str,
    *,
    llm: object = None,
    embedding: object = None,
    config: Config | None = None,
    prompts: Mapping[str, OwnPrompt] | None = None,
    episode_id: str | None = None,
    session_id: str | None = None,
    repo_id: str | None = None,
    clock: Clock = system_clock,
) -> Structured:
    """Return what a trajectory teaches: facts and procedures at the same time, then the procedures' grades.

    `llm` is a language model or a mind; without one, rules judge. `embedding` is an embedding, an embedder or a
    function of a list of texts; without one, nodes have no vectors, and a bank embeds them. `episode_id` names the
    sources, and defaults to the trajectory's id. `clock` dates the nodes. `repo_id` and `session_id` go into
    telemetry. Errors of a model's adapter or reply are raised; other errors of the mind become a `PipelineError` with
    the reason `task_crashed`.
    """
    phases = _Phases()
    with telemetry.during("structuring.extract_trajectory", repo_id=repo_id, session_id=session_id) as measured:
        mind = mind_of(llm, config, prompts=prompts)
        embedder = None if embedding is None else embedder_of(embedding, config)
        steps = trajectory.steps
        if embedder is None:
            steps = tuple(replace(step, embedding=None) for step in steps)
        begun = Learnt(trajectory.id, trajectory.subgoal, goal, episode_id or trajectory.id, steps)
        learnt = _learnt(begun, mind, phases) if steps else begun
        with phases.timed("embedding"):
            vectors = {} if embedder is None or not steps else _vectors(learnt.texts(), embedder)
        changeset = Layout(learnt, vectors, clock()).changeset() if steps else Changeset()
        measured.update(_counts(changeset))
    return Structured(changeset, _traced(learnt, changeset, phases, config))


def _learnt(begun: Learnt, mind: Mind, phases: _Phases) -> Learnt:
    goal = begun.goal
    steps = _judged(phases, "states", lambda: list(_with_states(begun.steps, goal, mind)))
    seen = [StepSeen(step.observation, step.action, step.state, step.subgoal, step.reward) for step in steps]
    lessons = _beside(lambda: _judged(phases, "procedural", lambda: list(mind.procedures(goal, seen))))
    found: Future[list[Proposition]] = Future()
    _fill(found, lambda: _judged(phases, "semantic", lambda: list(mind.propositions(goal, seen))))
    _check_all((found, lessons))
    facts, procedures = found.result(), lessons.result()
    returns = _judged(phases, "return", lambda: _returns(mind, goal, seen, procedures)) if procedures else []
    return replace(begun, steps=steps, facts=facts, procedures=procedures, returns=returns)


def _returns(mind: Mind, goal: str, seen: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
    """Return the grades, or none if they cannot be read; the procedures are kept without them."""
    try:
        return list(mind.returns(goal, seen, procedures))
    except (PromptError, ReplyError) as problem:
        log.warning("%d procedures could not be graded, and count as much as their steps: %s", len(procedures), problem)
        return []


def _beside(ask: Callable[[], T]) -> Future[T]:
    """Run `ask` in a daemon thread, or here if there is none. A model that hangs must not keep the process alive."""
    answer: Future[T] = Future()
    try:
        threading.Thread(target=_fill, args=(answer, ask), name="pieria-structuring", daemon=True).start()
    except RuntimeError as problem:
        log.info("what could be asked at once is asked one after the other: %s", problem)
        _fill(answer, ask)
    return answer


def _fill(answer: Future[T], ask: Callable[[], T]) -> None:
    try:
        answer.set_result(ask())
    except BaseException as problem:  # noqa: BLE001 - raised where the answer is asked for
        answer.set_exception(problem)


def _with_states(steps: Sequence[Step], goal: str, mind: Mind) -> Iterator[Step]:
    """Yield the steps with a state; a missing state is derived from the step before."""
    before: Step | None = None
    for step in steps:
        known = step
        if step.state is None:
            held, done = (before.state, before.action) if before else (None, None)
            known = replace(step, state=mind.state(goal, step.observation, before=held, action=done))
        yield known
        before = known


def _check_all(ended: Sequence[Future[Any]]) -> None:
    """Raise the first error, and log how many results are lost."""
    failed = [error for error in (one.exception() for one in ended) if error is not None]
    if failed:
        done = len(ended) - len(failed)
        if done:
            log.warning("%d of %d tasks failed; the results of the others are lost", len(failed), len(ended))
        raise failed[0]


def _judged(phases: _Phases, phase: str, ask: Callable[[], T]) -> T:
    try:
        with phases.timed(phase):
            return ask()
    except PieriaError:
        raise
    # The caller's mind may raise anything; keep it as the cause.
    except Exception as problem:
        raise PipelineError("task_crashed", hint=f"The mind raised {type(problem).__name__}.") from problem


def _vectors(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    """Return the vectors by text. Failed and truncated texts have none; a bank embeds those later."""
    try:
        made = embedder.passages(texts)
    except PieriaError as problem:
        log.warning("%d texts could not be embedded, and are kept without vectors: %s", len(texts), problem)
        return {}
    rows = enumerate(zip(texts, made.vectors, strict=True))
    return {text: [*map(float, row)] for place, (text, row) in rows if place not in made.truncated}


def _counts(changeset: Changeset) -> dict[str, int]:
    return {"nodes_created": len(changeset.additions), "links_created": len(changeset.links)}


class _Phases:
    """Microseconds of each phase. Threads may share it, one phase each."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        self._begun = perf_counter()

    @property
    def total(self) -> int:
        return int((perf_counter() - self._begun) * 1_000_000)

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        begun = perf_counter()
        try:
            yield
        finally:
            self.taken[phase] = int((perf_counter() - begun) * 1_000_000)


def _traced(learnt: Learnt, changeset: Changeset, phases: _Phases, config: Config | None) -> StructuringTrace:
    verbosity = verbosity_of(config)
    is_detailed = verbosity == "detailed"
    facts = [node for node in changeset.additions if isinstance(node, Semantic)]
    lessons = [node for node in changeset.additions if isinstance(node, Procedural)]
    return StructuringTrace(
        verbosity=verbosity,
        trajectory_id=learnt.trajectory_id,
        semantic_count=len(facts),
        procedural_count=len(lessons),
        tag_count=sum(isinstance(node, Tag) for node in changeset.additions),
        intent_count=sum(isinstance(node, Intent) for node in changeset.additions),
        duration_us=phases.total,
        semantic_nodes=_facts_told(learnt, facts) if is_detailed else None,
        procedural_nodes=_lessons_told(learnt, lessons) if is_detailed else None,
        merged_intents=[] if is_detailed else None,
        phase_timings=dict(phases.taken) if is_detailed else None,
    )


def _facts_told(learnt: Learnt, nodes: Sequence[Semantic]) -> list[dict[str, Any]]:
    return [
        {"id": node.id, "proposition": node.proposition, "confidence": node.confidence}
        | {"concepts": list(fact.concepts), "steps": list(fact.steps)}
        for node, fact in zip(nodes, learnt.facts, strict=True)
    ]


def _lessons_told(learnt: Learnt, nodes: Sequence[Procedural]) -> list[dict[str, Any]]:
    return [
        {"id": node.id, "intent": lesson.intent, "condition": node.condition, "instruction": node.instruction}
        | {"expected_outcome": node.expected_outcome, "return_score": node.return_score, "steps": list(lesson.steps)}
        for node, lesson in zip(nodes, learnt.procedures, strict=True)
    ]
