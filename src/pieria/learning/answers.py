"""Ask a mind about trajectories, and keep each answer: a retry asks only for the missing ones.

A mind that judges in batches gets short neighbouring trajectories in one request. Each keeps its own knowledge.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any, TypeVar

from pieria.errors import PromptError, ReplyError
from pieria.learning.judgement import BATCH_TEXT, judges_together
from pieria.learning.knowledge import Learnt
from pieria.learning.phases import Phases
from pieria.learning.steps import Step, Trajectory
from pieria.models.mind import Mind, Procedure, Proposition, StepSeen
from pieria.runtime.beside import fill, run_beside

log = logging.getLogger(__name__)
T = TypeVar("T")
Item = TypeVar("Item", Proposition, Procedure)

LEAST = 8
"""Steps from which a request to a mind that judges in batches takes no further trajectory."""
FACTS, PROCEDURES, RETURNS = "facts", "procedures", "returns"


def key_of(steps: Sequence[Step]) -> str:
    """Return the key of the answers about these steps. A flush may draw from a part of a trajectory."""
    return f"{steps[0].trajectory_id} {','.join(str(step.index) for step in steps)}"


class Answers:
    """The answers about trajectories, by the key of their steps. Threads may share it, each for its own question."""

    def __init__(self, kept: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """`kept` are answers that `as_dict` returned."""
        self._kept: dict[str, dict[str, Any]] = {key: dict(value) for key, value in (kept or {}).items()}

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return the answers as JSON values."""
        return {key: dict(value) for key, value in self._kept.items() if value}

    def lacking(self, begun: Sequence[Learnt], name: str) -> list[Learnt]:
        return [each for each in begun if name not in self._kept.get(key_of(each.steps), {})]

    def put(self, each: Learnt, name: str, items: Sequence[Any]) -> None:
        listed = [item if isinstance(item, int | float) else asdict(item) for item in items]
        self._kept.setdefault(key_of(each.steps), {})[name] = listed

    def of(self, each: Learnt) -> Learnt:
        """Return the trajectory with its answers."""
        held = self._kept.get(key_of(each.steps), {})
        return replace(
            each,
            facts=[Proposition(**_tuples(item)) for item in held.get(FACTS, ())],
            procedures=[Procedure(**_tuples(item)) for item in held.get(PROCEDURES, ())],
            returns=list(held.get(RETURNS, ())),
        )


def group_trajectories(trajectories: Iterable[Trajectory], mind: object) -> Iterator[tuple[Trajectory, ...]]:
    """Yield the trajectories of each request. The last group may be short of `LEAST` steps."""
    group: list[Trajectory] = []
    for trajectory in trajectories:
        group.append(trajectory)
        if not judges_together(mind) or is_enough(group):
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)


def is_enough(group: Sequence[Trajectory]) -> bool:
    steps = [step for trajectory in group for step in trajectory.steps]
    return len(steps) >= LEAST or sum(len(step.observation) + len(step.action) for step in steps) >= BATCH_TEXT


def learn(begun: Sequence[Learnt], mind: Mind, phases: Phases, answers: Answers) -> list[Learnt]:
    """Return the knowledge of trajectories: facts and procedures at the same time, then the procedures' grades.

    Raises the first error after both questions have ended. `answers` then holds the other's answer.
    """
    stated = phases.run("states", lambda: [replace(each, steps=_with_states(each, mind)) for each in begun])

    def facts() -> None:
        _share(stated, FACTS, answers, mind.propositions)

    def procedures() -> None:
        _share(stated, PROCEDURES, answers, mind.procedures)

    beside = run_beside(lambda: phases.run("procedural", procedures), "pieria-structuring")
    here: Future[None] = Future()
    fill(here, lambda: phases.run("semantic", facts))
    failed = [problem for problem in (here.exception(), beside.exception()) if problem is not None]
    if failed:
        raise failed[0]
    ungraded = [each for each in map(answers.of, answers.lacking(stated, RETURNS)) if each.procedures]
    if ungraded:
        phases.run("return", lambda: _grade(ungraded, mind, answers))
    return [answers.of(each) for each in stated]


def _share(
    begun: Sequence[Learnt], name: str, answers: Answers, ask: Callable[[str, Sequence[StepSeen]], Iterable[Item]]
) -> None:
    """Ask about the trajectories without an answer, and give each item to the trajectory of its first step."""
    lacking = answers.lacking(begun, name)
    if not lacking:
        return
    places = [(owner, place) for owner, each in enumerate(lacking) for place in range(len(each.steps))]
    shares: list[list[Item]] = [[] for _ in lacking]
    for item in ask(lacking[0].goal, _seen(lacking)):
        named = [places[place] for place in item.steps if 0 <= place < len(places)]
        owner = named[0][0] if named else 0
        shares[owner].append(replace(item, steps=tuple(place for each, place in named if each == owner)))
    for each, share in zip(lacking, shares, strict=True):
        answers.put(each, name, share)


def _grade(begun: Sequence[Learnt], mind: Mind, answers: Answers) -> None:
    """Grade the procedures, if the grades can be read; procedures are kept without them."""
    procedures: list[Procedure] = []
    first = 0
    for each in begun:
        # Each names its steps by their places among all.
        procedures += [replace(one, steps=tuple(first + place for place in one.steps)) for one in each.procedures]
        first += len(each.steps)
    try:
        grades = list(mind.returns(begun[0].goal, _seen(begun), procedures))
    except (PromptError, ReplyError) as problem:
        log.warning("%d procedures could not be graded, and count as much as their steps: %s", len(procedures), problem)
        return
    for each in begun:
        answers.put(each, RETURNS, grades[: len(each.procedures)])
        grades = grades[len(each.procedures) :]


def _seen(begun: Sequence[Learnt]) -> list[StepSeen]:
    return [
        StepSeen(step.observation, step.action, step.state, step.subgoal, step.reward)
        for each in begun
        for step in each.steps
    ]


def _tuples(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in item.items()}


def _with_states(learnt: Learnt, mind: Mind) -> list[Step]:
    """Return the steps with a state; a missing state is derived from the step before."""
    stated: list[Step] = []
    for step in learnt.steps:
        known = step
        if step.state is None:
            held, done = (stated[-1].state, stated[-1].action) if stated else (None, None)
            known = replace(step, state=mind.state(learnt.goal, step.observation, before=held, action=done))
        stated.append(known)
    return stated
