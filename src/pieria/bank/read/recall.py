"""The verb `recall`: checks the arguments. `read.answer`, loaded with the first query, finds the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Unpack

from pieria.bank.core import Core
from pieria.bank.filters import Filters, deadline_seconds, question_text
from pieria.record import check
from pieria.record.draft import Problems
from pieria.record.memory import KINDS, ROUTING_KINDS
from pieria.record.time import moment
from pieria.runtime import effort

if TYPE_CHECKING:
    from pieria.recall.answer import Recall

K_LIMIT = 10_000
ANSWERING_KINDS = tuple(kind for kind in KINDS if kind not in ROUTING_KINDS)
MOST_TOKENS = 10_000_000
CAUGHT_UP = 16
"""The most pending texts embedded before memories are compared; the background embeds more."""


def recall(
    core: Core,
    query: str,
    *,
    k: int,
    min_score: float | None,
    min_confidence: float | None,
    least_retention: float | None,
    review: bool | float,
    cursor: str | None,
    policy: str | Callable[..., float],
    weights: Mapping[str, float] | None,
    deadline_ms: int | None,
    budget_tokens: int | None,
    time_zone: str | None,
    by_meaning: bool,
    matching: bool,
    counted: bool,
    **filters: Unpack[Filters],
) -> Recall:
    from pieria.bank.read.answer import answer, mark, ranking_of
    from pieria.recall.page import Question
    from pieria.recall.query import reading
    from pieria.recall.scores import MOST
    from pieria.record.zones import checked_zone

    check.keywords(filters, Filters, "recall")
    problems = Problems()
    filter = problems.of(core.filter, filters)
    problems.of(check.whole, k, "k", 1, K_LIMIT)
    least = 0.0 if min_score is None else problems.of(check.number, min_score, "min_score")
    surest = 0.0 if min_confidence is None else problems.of(check.number, min_confidence, "min_confidence")
    left = 0.0 if least_retention is None else problems.of(check.number, least_retention, "least_retention", 0, MOST)
    share = problems.of(_share, review, core.fading.review_share)
    asked = problems.of(question_text, query)
    ranking = problems.of(ranking_of, policy, weights)
    seconds = math.inf if deadline_ms is None else problems.of(deadline_seconds, deadline_ms)
    tokens = None if budget_tokens is None else problems.of(_tokens, budget_tokens)
    zone = None if time_zone is None else problems.of(checked_zone, time_zone, "time_zone")
    problems.of(check.flag, by_meaning, "by_meaning")
    problems.of(check.flag, matching, "matching")
    problems.of(check.flag, counted, "counted")
    problems.settle()
    if filters.get("kinds") is None:
        filter = filter.having(kinds=ANSWERING_KINDS)
    due = perf_counter() + seconds
    question = Question(
        text=asked,
        reading=reading(asked, moment(filter.now), zone or core.zone),
        policy=ranking,
        min_score=least,
        budget=core.text_budget,
        mark=mark(core, asked, filter, least, ranking, left, share, by_meaning, matching, time_zone, surest),
        fading=core.fading,
        deadline=due,
        tokens=tokens,
        by_meaning=by_meaning,
        matching=matching,
        min_confidence=surest,
        least_left=left,
        review=share,
        fades=core.fades,
    )
    with effort.until(due):
        found = answer(core, question, filter, k, cursor)
    if core.count_uses and counted:
        _note(core, found)
    return found


def _note(core: Core, found: Recall) -> None:
    """Count a use of the memories found, in the bank of each."""
    told = [memory for hit in found for memory in (hit.memory, hit.reply) if memory is not None]
    theirs = [] if core.is_user_bank else [memory.id for memory in told if memory.scope == "user"]
    user = core.user_core(False) if theirs else None
    if user is not None:
        user.uses.note(theirs, core.viewer.session)
    ours = [memory.id for memory in told if user is None or memory.scope != "user"]
    core.uses.note(ours, core.viewer.session)


def _share(review: object, usual: float) -> float:
    if isinstance(review, bool):
        return usual if review else 0.0
    return check.number(review, "review")


def _tokens(budget_tokens: object) -> int:
    return check.whole(budget_tokens, "budget_tokens", 1, MOST_TOKENS)
