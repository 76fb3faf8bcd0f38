"""Asking more closely: when what was found so far is not good enough, terms for what is missing, within a budget."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.errors import PieriaError
from pieria.learning.models import embedder_of
from pieria.learning.recall_mind import judging
from pieria.learning.recalled import TaggedCandidate, in_order
from pieria.models.meter import Tally
from pieria.models.mind import Found

if TYPE_CHECKING:
    from pieria.config import Config

log = logging.getLogger(__name__)

SHOWN = 20
"""Candidates that a mind is shown, the best of the earliest hops first."""


@dataclass(frozen=True, slots=True)
class State:
    """What is left to ask, and how good the best candidate was before. `refinements` tell what was asked for."""

    budget_remaining: int
    plateau_delta: float
    previous_best_score: float
    refinement_count: int = 0
    refinements: list[dict[str, Any]] = field(default_factory=list)


class Refined(NamedTuple):
    """What to look for besides: terms, their vectors, and the state from here on."""

    tags: list[str]
    vectors: list[list[float]]
    state: State


class Skipped(NamedTuple):
    """Nothing more is to be looked for at this hop; `problem` says what went wrong, if anything did, and `error` is the
    code of that.
    """

    state: State
    problem: str | None = None
    error: str = ""


def init(config: Config | None, max_hops: int) -> State:
    """No more often than there are hops; without a configuration as by default."""
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
    """Asks for terms where the best score lies below the threshold, or has not grown by as much as it has to.

    `ctx` has `llm`, `embedding` (False: terms get no vectors), `config` and `llm_opts`; in `best` it may have how good
    the best candidate is by another measure than its score. What cannot be had costs nothing of the budget.
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
    """Before the first hop there is nothing to have grown from but the threshold itself."""
    if state.budget_remaining <= 0:
        return False
    threshold = state.previous_best_score if config is None else config.refinement_threshold
    return best < threshold or best - state.previous_best_score < state.plateau_delta


def shown(candidates: Sequence[TaggedCandidate]) -> list[Found]:
    """As a mind sees them."""
    ordered = sorted(in_order(candidates), key=lambda each: each.hop or 0)
    return [Found(each.node.node_type, each.node.text, hop=each.hop or 0) for each in ordered[:SHOWN]]


def _vectors(tags: Sequence[str], ctx: Mapping[str, Any]) -> list[list[float]]:
    embedding: Any = ctx.get("embedding")
    embedder = embedding if hasattr(embedding, "passages") else embedder_of(embedding, ctx.get("config"))
    made: list[list[float]] = embedder.passages(list(tags)).vectors.tolist()
    return made
