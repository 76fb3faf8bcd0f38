"""Judge the steps of a growing episode so that no failure of a model loses one.

Rules judge each step at once. A mind that can judge several steps together replaces their judgement in batches. Where a
mind fails, the judgement of the rules stays. Which batch is due is decided here; who stores steps is not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import TimeoutError as TooLate
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

from pieria.errors import AdapterError, BudgetError, PieriaError, PromptError
from pieria.graph.similarity import cosine_similarity
from pieria.learning.episode import BOUNDARY, OVER, Episode, name_of, trace_of
from pieria.learning.models import embedder_of
from pieria.learning.steps import EpisodeTrace, Step
from pieria.models.mind import BatchMind, Judgement, Mind, StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.record.ids import new_id
from pieria.runtime.beside import run_beside

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.models.embedder import Embedder

log = logging.getLogger(__name__)
T = TypeVar("T")

BATCH, BATCH_TEXT = 10, 20_000
"""Steps judged in one request, and the characters after which fewer are enough."""
LIMIT = 60.0
"""Seconds that a mind has for the judgement of one appended step."""
FAILURES = (AdapterError, PromptError, BudgetError)
"""Errors of a model. Any other error of an append is the caller's, or a bug."""
RULES = "rules"


class Judged(NamedTuple):
    """A judged step with its trace. With `is_turn` it begins a trajectory."""

    step: Step
    trace: EpisodeTrace

    @property
    def is_turn(self) -> bool:
        return self.trace.boundary_detected


def judges_together(mind: object) -> TypeGuard[BatchMind]:
    """Return whether the mind judges several steps in one call."""
    return bool(getattr(mind, "judges_together", False))


def append_step(
    episode: Episode, observation: str, action: str, mind: Mind, embedder: Embedder, **about: Any
) -> tuple[Episode, EpisodeTrace]:
    """Return the episode with one more step.

    Rules judge the step if the mind judges in batches, fails, or takes longer than `LIMIT` seconds. `about` is passed
    to `Episode.append`.
    """

    def append(judge: Mind, embedding: Embedder) -> tuple[Episode, EpisodeTrace]:
        return episode.append(observation, action, llm=judge, embedding=embedding, **about)

    if judges_together(mind):
        # A remote embedder costs a call, and the batch embeds all its subgoals in one.
        near = embedder if embedder.is_at_hand else embedder_of()
        grown, trace = _try(lambda: append(RuleMind(), near)) or append(RuleMind(), embedder_of())
        return replace(grown, steps=(*grown.steps[:-1], replace(grown.steps[-1], provisional=True))), trace
    told = _try(lambda: _in_time(mind, lambda: append(mind, embedder))) or _try(lambda: append(RuleMind(), embedder))
    if told is not None:
        return told
    # The embedder fails, too: a vector of another one could not be compared, so the step has none yet.
    bare, trace = append(RuleMind(), embedder_of())
    step = replace(bare.steps[-1], embedding=None)
    return replace(bare, steps=(*bare.steps[:-1], step), current_subgoal_embedding=None), trace


def next_batch(steps: Sequence[Step], *, rest: bool = False) -> list[Step]:
    """Return the next steps to judge together: a full batch whose outcome is known or, for the `rest`, any."""
    waiting = [step for step in steps if step.provisional]
    batch: list[Step] = []
    room = BATCH_TEXT
    for step in waiting:
        batch.append(step)
        room -= len(step.observation) + len(step.action)
        if len(batch) == BATCH or room <= 0:
            break
    is_full = (len(batch) == BATCH or room <= 0) and len(waiting) > len(batch)
    return batch if is_full or rest else []


def judge_batch(
    episode: Episode,
    batch: Sequence[Step],
    mind: BatchMind,
    embedder: Embedder,
    config: Config | None = None,
    *,
    is_over: bool = False,
    clock: Callable[[], float] = perf_counter,
) -> list[Judged]:
    """Return the steps of a batch with their final judgement: the model's, or the rules' where it failed.

    With `is_over` no step follows the last one of the episode.
    """
    begun = clock()
    name = name_of(mind)
    first, last = batch[0].index, batch[-1].index
    before = next((step for step in reversed(episode.steps) if step.index < first), None)
    after = next((step.observation for step in episode.steps if step.index > last), OVER if is_over else None)
    told = _ask(episode.goal, batch, before, after, mind)
    steps = [_final(step, each, name) for step, each in zip(batch, told, strict=True)]
    if after is not None and steps[-1].reward is None:
        steps[-1] = replace(steps[-1], reward=_by_rules(steps[-1], after))
    return list(_cut(episode, before, _with_vectors(steps, embedder), lambda: int((clock() - begun) * 1e6), config))


def judge_whole(episode: Episode, mind: Mind, embedder: Embedder, config: Config | None = None) -> Episode:
    """Return an episode that no step follows, with every step finally judged and graded."""
    grown = episode
    while judges_together(mind) and (batch := next_batch(grown.steps, rest=True)):
        judged = {
            each.step.index: each.step for each in judge_batch(grown, batch, mind, embedder, config, is_over=True)
        }
        grown = replace(grown, steps=tuple(judged.get(step.index, step) for step in grown.steps))
    return grown.score_pending_reward(llm=mind, config=config)


def _try(ask: Callable[[], T]) -> T | None:
    """Return the answer, or None and a warning if a model failed."""
    try:
        return ask()
    except FAILURES as problem:
        log.warning("rules judge, because the judge of a session failed: %s", problem)
        return None


def _in_time(mind: Mind, ask: Callable[[], T]) -> T:
    """Return the answer of a mind, or raise `AdapterError` after `LIMIT` seconds. Rules need no limit."""
    if isinstance(mind, RuleMind):
        return ask()
    try:
        return run_beside(ask, "pieria-judging").result(LIMIT)
    except TooLate as problem:
        reason = f"no judgement within {LIMIT:g} seconds"
        raise AdapterError(name_of(mind), "append", reason, retryable=True) from problem


def _ask(
    goal: str, batch: Sequence[Step], before: Step | None, after: str | None, mind: BatchMind
) -> Sequence[Judgement]:
    """Return the model's judgements, empty ones if it failed."""
    shown = [StepSeen(step.observation, step.action) for step in batch]
    seen = None if before is None else StepSeen(before.observation, before.action, before.state, before.subgoal)
    told = _try(lambda: mind.judge_steps(goal, shown, before=seen, after=after))
    return [Judgement()] * len(batch) if told is None else told


def _final(step: Step, told: Judgement, name: str) -> Step:
    """Return the step with the model's judgement. Without a state and a subgoal, that of the rules stays.

    Its provisional vector may be of another embedder.
    """
    final = replace(step, provisional=False, embedding=None)
    if told.state is None or told.subgoal is None:
        return replace(final, judged_by=RULES)
    reward = step.reward if told.reward is None else told.reward
    return replace(final, state=told.state, subgoal=told.subgoal, reward=reward, judged_by=name)


def _by_rules(step: Step, outcome: str) -> float:
    return RuleMind().reward(step.subgoal, step.observation, step.action, outcome)


def _with_vectors(steps: Sequence[Step], embedder: Embedder) -> list[Step]:
    """Embed the new subgoals, all in one call. A step without a vector begins no trajectory; a bank embeds it later."""
    bare = list(dict.fromkeys(step.subgoal for step in steps if step.embedding is None and step.subgoal))
    if not bare:
        return list(steps)
    try:
        made = embedder.passages(bare).vectors
    except PieriaError as problem:
        log.warning("%d subgoals could not be embedded, and are kept without vectors: %s", len(bare), problem)
        return list(steps)
    vectors = {subgoal: tuple(map(float, row)) for subgoal, row in zip(bare, made, strict=True)}
    return [replace(step, embedding=step.embedding or vectors.get(step.subgoal)) for step in steps]


def _cut(
    episode: Episode, before: Step | None, steps: Sequence[Step], taken: Callable[[], int], config: Config | None
) -> Iterator[Judged]:
    """Yield the steps in their trajectories. A trajectory keeps the id of its first step, if it is still free."""
    used = {step.trajectory_id for step in episode.steps if step.index < steps[0].index}
    for step in steps:
        score = None if before is None else _likeness(before, step)
        is_turn = score is not None and score < BOUNDARY
        id = step.trajectory_id if before is None else before.trajectory_id
        if is_turn:
            id = step.trajectory_id if step.trajectory_id not in used else f"traj_{new_id()}"
        used.add(id)
        reward = None if before is None else before.reward
        before = replace(step, trajectory_id=id)
        yield Judged(before, trace_of(before, score, is_turn, reward, taken(), config))


def _likeness(before: Step, step: Step) -> float | None:
    """Return the cosine of two subgoals, or None if it would say nothing: rules and a model word them differently."""
    one, other = before.embedding, step.embedding
    if one is None or other is None or len(one) != len(other) or before.judged_by != step.judged_by:
        return None
    return cosine_similarity(one, other)
