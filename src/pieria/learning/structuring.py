"""Extract knowledge from a trajectory: facts and procedures, as a changeset of the graph.

This module decides what is judged and in what order; `knowledge` builds the nodes. It does not write.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pieria import telemetry
from pieria.errors import EpisodeError, PieriaError
from pieria.graph.changeset import Changeset
from pieria.graph.nodes import Intent, Procedural, Semantic, Tag
from pieria.learning.answers import Answers, group_trajectories, learn
from pieria.learning.episode import Episode
from pieria.learning.knowledge import Layout, Learnt, Vector
from pieria.learning.models import embedder_of, mind_of
from pieria.learning.phases import Phases
from pieria.learning.steps import Step, StructuringTrace, Trajectory, verbosity_of
from pieria.models.embedder import Embedder
from pieria.models.mind import Mind
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
    answers: Answers | None = None,
) -> Changeset:
    """Return what a closed episode teaches. `workers` trajectories are structured at a time.

    If one trajectory fails, its error is raised after all have ended. `answers` then holds what a mind has answered:
    another call with it asks only for the rest.
    """
    known = Answers() if answers is None else answers
    if not episode.closed:
        raise EpisodeError("episode_not_closed", hint="Close it first: episode.close().")
    at_once = check.whole(workers, "workers", 1, 1_000)
    mind = mind_of(llm, config, prompts=prompts)
    embedder = None if embedding is None else embedder_of(embedding, config)

    groups = list(group_trajectories(episode.trajectories, mind))

    def ask(group: Sequence[Trajectory]) -> list[Structured]:
        return structure_together(
            group,
            episode.goal,
            mind=mind,
            embedder=embedder,
            config=config,
            episode_id=episode.id,
            session_id=session_id,
            repo_id=repo_id,
            clock=clock,
            answers=known,
        )

    with telemetry.during("structuring.extract", repo_id=repo_id, session_id=session_id) as measured:
        with ThreadPoolExecutor(max(1, min(at_once, len(groups))), "pieria-structuring") as pool:
            asked = [pool.submit(ask, group) for group in groups]
        _check_all(asked)
        whole = Changeset()
        for each in asked:
            for made in each.result():
                whole = whole.merge(made.changeset)
        measured.update(trajectory_count=len(episode.trajectories), **counts(whole))
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
    mind = mind_of(llm, config, prompts=prompts)
    embedder = None if embedding is None else embedder_of(embedding, config)
    [made] = structure_together(
        [trajectory],
        goal,
        mind=mind,
        embedder=embedder,
        config=config,
        episode_id=episode_id,
        session_id=session_id,
        repo_id=repo_id,
        clock=clock,
    )
    return made


def structure_together(
    trajectories: Sequence[Trajectory],
    goal: str,
    *,
    mind: Mind,
    embedder: Embedder | None,
    config: Config | None = None,
    episode_id: str | None = None,
    session_id: str | None = None,
    repo_id: str | None = None,
    clock: Clock = system_clock,
    answers: Answers | None = None,
) -> list[Structured]:
    """Return what each trajectory teaches, with all of them in one request of a kind.

    `answers` holds what an earlier try was answered, and gains what this one is.
    """
    phases = Phases()
    about = {"repo_id": repo_id, "session_id": session_id}
    with ExitStack() as spans:
        measured = [
            spans.enter_context(telemetry.during("structuring.extract_trajectory", **about)) for _ in trajectories
        ]
        begun = [
            Learnt(each.id, each.subgoal, goal, episode_id or each.id, _comparable(each.steps, embedder))
            for each in trajectories
        ]
        asked = [each for each in begun if each.steps]
        told = iter(learn(asked, mind, phases, answers or Answers()) if asked else ())
        learnt = [next(told) if each.steps else each for each in begun]
        with phases.timed("embedding"):
            texts = list(dict.fromkeys(text for each in learnt if each.steps for text in each.texts()))
            vectors = {} if embedder is None or not texts else _vectors(texts, embedder)
        made = [Layout(each, vectors, clock()).changeset() if each.steps else Changeset() for each in learnt]
        for span, changeset in zip(measured, made, strict=True):
            span.update(counts(changeset))
    pairs = zip(learnt, made, strict=True)
    return [Structured(changeset, _traced(each, changeset, phases, config)) for each, changeset in pairs]


def _comparable(steps: Sequence[Step], embedder: Embedder | None) -> Sequence[Step]:
    """Return the steps, without vectors if there is no embedder."""
    return steps if embedder is not None else tuple(replace(step, embedding=None) for step in steps)


def _check_all(ended: Sequence[Future[Any]]) -> None:
    """Raise the first error, and log how many there are."""
    failed = [error for error in (one.exception() for one in ended) if error is not None]
    if failed:
        log.warning("%d of %d tasks failed", len(failed), len(ended))
        raise failed[0]


def _vectors(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    """Return the vectors by text. Failed and truncated texts have none; a bank embeds those later."""
    try:
        made = embedder.passages(texts)
    except PieriaError as problem:
        log.warning("%d texts could not be embedded, and are kept without vectors: %s", len(texts), problem)
        return {}
    rows = enumerate(zip(texts, made.vectors, strict=True))
    return {text: [*map(float, row)] for place, (text, row) in rows if place not in made.truncated}


def counts(changeset: Changeset) -> dict[str, int]:
    """Return what telemetry says of a changeset."""
    return {"nodes_created": len(changeset.additions), "links_created": len(changeset.links)}


def _traced(learnt: Learnt, changeset: Changeset, phases: Phases, config: Config | None) -> StructuringTrace:
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
