"""Refine a search: if the results so far are not good enough, ask a mind for more terms, within a budget."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.errors import PieriaError
from pieria.learning.models import embedder_of, judging
from pieria.learning.recalled import TaggedCandidate, in_order
from pieria.models.meter import Tally
from pieria.models.mind import Found

if TYPE_CHECKING:
    from pieria.config import Config

log = logging.getLogger(__name__)

SHOWN = 20
"""Candidates shown to a mind, earliest hop and best score first."""


@dataclass(frozen=True, slots=True)
class State:
    """The remaining budget and the previous best score. `refinements` records the terms that were added."""

    budget_remaining: int
    plateau_delta: float
    previous_best_score: float
    refinement_count: int = 0
    refinements: list[dict[str, Any]] = field(default_factory=list)


class Refined(NamedTuple):
    """Extra terms to search for, their vectors, and the next state."""

    tags: list[str]
    vectors: list[list[float]]
    state: State


class Skipped(NamedTuple):
    """No refinement at this hop; `problem` says what failed, if anything, and `error` is its code."""

    state: State
    problem: str | None = None
    error: str = ""


def init(config: Config | None, max_hops: int) -> State:
    """Return the first state: at most one refinement per hop. Without a configuration, use the defaults."""
    from pieria.config import Config as Configuration

    usual = config or Configuration(llm={"model": "none"}, embedding={"model": "auto"})
    return State(
        budget_remaining=min(usual.refinement_budget, max(0, max_hops)),
        plateau_delta=usual.plateau_delta,
        previous_best_score=usual.refinement_threshold,
    )


def maybe_refine(
    state: State, query: str, candidates: Sequence[TaggedCandidate], hop: int, ctx: Mapping[str, Any]
) -> Refined | Skipped:
    """Ask for terms if the best score is below the threshold or has not grown enough.

    `ctx` has `llm`, `embedding` (False: terms get no vectors), `config` and `llm_opts`. `best` in `ctx` may hold
    another measure of the best candidate. A failed request costs no budget.
    """
    best = ctx.get("best", max((each.score for each in candidates), default=0.0))
    after = replace(state, previous_best_score=best)
    with telemetry.during("retrieval.hop_refinement", hop=hop, budget_remaining=state.budget_remaining) as measured:
        measured |= {"triggered": False, "plateau_delta": state.plateau_delta}
        if not fires(state, best, ctx.get("config")):
            return Skipped(after)
        measured["triggered"] = True
        begun = perf_counter()
        try:
            mind = judging(ctx.get("llm"), ctx.get("config"), ctx.get("llm_opts") or (), ctx.get("tally") or Tally())
            tags = list(dict.fromkeys(mind.refine(query, shown(candidates))))
            vectors = _vectors(tags, ctx) if tags and ctx.get("embedding") is not False else []
        except PieriaError as problem:
            log.info("hop %d could not be refined: %s", hop, problem)
            return Skipped(after, f"the question was not asked more closely at hop {hop}: {problem}", problem.code)
    if not tags:
        return Skipped(after)
    told = {
        "hop": hop,
        "tags": tags,
        "previous_best_score": state.previous_best_score,
        "new_best_score": best,
        "duration_us": int(1e6 * (perf_counter() - begun)),
    }
    spent = replace(
        after,
        budget_remaining=state.budget_remaining - 1,
        refinement_count=state.refinement_count + 1,
        refinements=[*state.refinements, told],
    )
    return Refined(tags, vectors, spent)


def fires(state: State, best: float, config: Config | None) -> bool:
    """Return whether to refine. Before the first hop, compare with the threshold."""
    if state.budget_remaining <= 0:
        return False
    threshold = state.previous_best_score if config is None else config.refinement_threshold
    return best < threshold or best - state.previous_best_score < state.plateau_delta


def shown(candidates: Sequence[TaggedCandidate]) -> list[Found]:
    """Return the candidates as a mind sees them."""
    ordered = sorted(in_order(candidates), key=lambda each: each.hop or 0)
    return [Found(each.node.node_type, each.node.text, hop=each.hop or 0) for each in ordered[:SHOWN]]


def _vectors(tags: Sequence[str], ctx: Mapping[str, Any]) -> list[list[float]]:
    embedding: Any = ctx.get("embedding")
    embedder = embedding if hasattr(embedding, "passages") else embedder_of(embedding, ctx.get("config"))
    made: list[list[float]] = embedder.passages(list(tags)).vectors.tolist()
    return made
