"""From what was lived to what is known: facts and procedures out of a trajectory, as a changeset of the graph.

What is judged, and in what order, is told here; it is not written. What nodes come of it is told in `knowledge`.
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
from pieria.learning.steps import Step, Trajectory
from pieria.learning.traces import StructuringTrace, verbosity_of
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
"""Trajectories that are structured at a time."""


class Structured(NamedTuple):
    """What is to be written, and how it came about."""

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
    """What a closed episode teaches, of all its trajectories. `workers` are structured at a time.

    Where one fails, its error is raised once all have ended, and nothing comes of the others: whoever wants to keep
    what they cost asks trajectory by trajectory.
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
    """What a trajectory teaches, as `structured` has it."""
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
    """What a trajectory teaches: facts and procedures at the same time, and then how far those were borne out.

    `llm` is a language model or a mind; without one, rules judge. `embedding` is an embedding, an embedder or a
    function of a list of texts; without one, nodes have no vectors, and a bank embeds them. `episode_id` is where the
    sources come from, the trajectory itself where none is given; `clock` dates the nodes; `repo_id` and `session_id` go
    with what telemetry tells. Raises what a model's adapter or the reading of its reply does, and `PipelineError` with
    the reason `task_crashed` where a mind of the caller's breaks off.
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
    """None where the grades cannot be read: what was learnt is worth more than they are."""
    try:
        return list(mind.returns(goal, seen, procedures))
    except (PromptError, ReplyError) as problem:
        log.warning("%d procedures could not be graded, and count as much as their steps: %s", len(procedures), problem)
        return []


def _beside(ask: Callable[[], T]) -> Future[T]:
    """Asked in a thread that keeps no process from ending, as one of an executor would: a model may hang. Where no
    thread is to be had, it is asked here and now.
    """
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
    """Each with a state; one that has none yet gets it from what came before."""
    before: Step | None = None
    for step in steps:
        known = step
        if step.state is None:
            held, done = (before.state, before.action) if before else (None, None)
            known = replace(step, state=mind.state(goal, step.observation, before=held, action=done))
        yield known
        before = known


def _check_all(ended: Sequence[Future[Any]]) -> None:
    """Raises the first error among them, and says what is lost with it."""
    failed = [error for error in (one.exception() for one in ended) if error is not None]
    if failed:
        done = len(ended) - len(failed)
        if done:
            log.warning("%d of %d tasks failed, and nothing comes of the rest", len(failed), len(ended))
        raise failed[0]


def _judged(phases: _Phases, phase: str, ask: Callable[[], T]) -> T:
    try:
        with phases.timed(phase):
            return ask()
    except PieriaError:
        raise
    # What a mind of the caller's raises is not known here; as the cause it is kept.
    except Exception as problem:
        raise PipelineError("task_crashed", hint=f"The mind raised {type(problem).__name__}.") from problem


def _vectors(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    """By text. What could not be embedded, or was read in part only, has none: whatever is without, a bank embeds."""
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
    """What each phase took, in microseconds. Threads may share it: each has a phase of its own."""

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
