"""The order of the first candidates after a reranker scored them. A reranker that fails changes nothing.

How a reranker is reached, and how long recall waits for it, does not belong here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

from pieria.errors import PieriaError
from pieria.recall.answer import Hit
from pieria.recall.candidates import LATE
from pieria.recall.page import Page, Scored
from pieria.recall.query import Key
from pieria.recall.snippet import snippet
from pieria.recall.walk import Reranked, Walk
from pieria.record.memory import Memory

FIRST = 30
"""The most candidates to rerank."""
BY_MODEL = 2 / 3
"""Weight of the model's score; the rest is the candidate's own."""
LONGEST, OPENING, TITLE, QUERY = 2_000, 600, 200, 2_000
"""Characters of a document, of the opening and the title of a long one, and of the query."""
POLICIES = ("hybrid", "similarity")
NAME = "rerank"
BY_WORDS = "by_meaning is false"
FOREIGN = "the bank is foreign: none of its texts is sent"
OVERVIEW = "an overview is spread over sessions"


class Reranks(NamedTuple):
    """A reranker. `scores` maps a query and documents to scores, None for a missing one. It raises `PieriaError`."""

    model: str
    scores: Callable[[str, Sequence[str]], Sequence[float | None]]


def rerank(page: Page, reranks: Reranks, load: Callable[[Sequence[Scored]], Mapping[Key, Memory]]) -> dict[str, Any]:
    """Reorder the first candidates that the page lists. Return the plan's entry `reranked`.

    If a reason forbids it, or the reranker fails, the order stays and the plan's `left_out` has the reason.
    """
    assert page.gathered is not None
    moving = _moving(page)
    if len(moving) < 2:
        return {}
    reason = _reason_against(page)
    if reason is None:
        begun = perf_counter()
        shown = [page.scored[page.walk.listed[place]] for place in moving]
        memories = load(shown)
        documents = [_document(memories[one.evidence.key], one, page) for one in shown]
        try:
            scores = reranks.scores(page.question.text[:QUERY], documents)
        except PieriaError as problem:
            reason = problem.message
        else:
            _move(page, moving, [one.worth for one in shown], scores)
            missing = sum(score is None for score in scores)
            ms = round(1000 * (perf_counter() - begun), 3)
            return {"reranked": {"model": reranks.model, "candidates": len(shown), "missing": missing, "ms": ms}}
    page.gathered.left_out[NAME] = reason
    return {}


def placed(scored: Scored, walk: Walk) -> Scored:
    """Return the candidate with the worth of its place after reranking."""
    place = _place_of(scored, walk)
    return scored if place is None else replace(scored, worth=place.worth)


def with_score(hit: Hit, scored: Scored, walk: Walk) -> Hit:
    """Return the hit with the reranker's score among its reasons."""
    place = _place_of(scored, walk)
    return hit if place is None or place.score is None else replace(hit, why={**hit.why, NAME: place.score})


def combined(worths: Sequence[float], scores: Sequence[float | None]) -> list[int]:
    """Return the new order, as indices. Items without a score come last, in their old order.

    Worth and score are each scaled to 0 to 1 over the candidates with a score, then weighed.
    """
    rated = [(index, score) for index, score in enumerate(scores) if score is not None]
    own = _spanned([worths[index] for index, _ in rated])
    judged = _spanned([score for _, score in rated])
    means = [BY_MODEL * new + (1 - BY_MODEL) * old for new, old in zip(judged, own, strict=True)]
    order = [rated[number][0] for number in sorted(range(len(rated)), key=lambda number: -means[number])]
    return order + [index for index, score in enumerate(scores) if score is None]


def _place_of(scored: Scored, walk: Walk) -> Reranked | None:
    if not walk.reranked:
        return None
    code = walk.code(*scored.evidence.key)
    return next((place for place in walk.reranked if place.code == code), None)


def _moving(page: Page) -> list[int]:
    """Return the places to reorder. Standing rules that bind the asker keep theirs, and so do repeated questions, which
    a model takes for answers."""
    assert page.gathered is not None
    binding = page.gathered.asked.heeds_rules
    first = enumerate(page.walk.listed[:FIRST])
    each = [(place, page.scored[code].evidence) for place, code in first]
    return [place for place, one in each if not (one.is_echo or (binding and one.is_rule))]


def _reason_against(page: Page) -> str | None:
    if page.policy.judge is not None or page.policy.name not in POLICIES:
        return f"the policy {page.policy.name} does not rank by relevance"
    if not page.question.by_meaning:
        return BY_WORDS
    if any(source.is_foreign for source in page.sources):
        return FOREIGN
    if page.question.reading.is_overview and page.policy.counts("spread"):
        return OVERVIEW
    return LATE if page.is_late else None


def _move(page: Page, moving: Sequence[int], worths: Sequence[float], scores: Sequence[float | None]) -> None:
    """Give each candidate its new place and that place's worth, so that scores keep falling."""
    listed = list(page.walk.listed)
    codes = [listed[place] for place in moving]
    reranked = []
    for place, index, worth in zip(moving, combined(worths, scores), worths, strict=True):
        listed[place] = codes[index]
        reranked.append(Reranked(codes[index], worth, scores[index]))
    page.walk = replace(page.walk, listed=tuple(listed), reranked=tuple(reranked))


def _document(memory: Memory, scored: Scored, page: Page) -> str:
    """Return title and text; of a long text the opening and the best passage."""
    title = f"{memory.title}\n" if memory.title else ""
    if len(title) + len(memory.text) <= LONGEST:
        return title + memory.text
    title = title if len(title) <= TITLE else title[: TITLE - 1] + "\n"
    room = LONGEST - len(title)
    if len(memory.text) <= room:
        return title + memory.text
    passage = snippet(memory.text, page.telling, scored.evidence.near, room - OPENING)
    if not passage.startswith("… "):
        return title + snippet(memory.text, (), None, room - 2)
    return f"{title}{snippet(memory.text, (), None, OPENING - 3)}\n{passage}"[:LONGEST]


def _spanned(values: Sequence[float]) -> list[float]:
    """Return the values scaled from their range to 0 to 1; 0 if all are equal."""
    low, high = min(values), max(values)
    span = high / 2 - low / 2
    return [(value / 2 - low / 2) / span if span else 0.0 for value in values]
