"""Memories that are about to fade and fit the query: they come with the answer, on places of their own.

A memory is thus seen again before it is gone. It displaces no better answer, and nothing is shown twice.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple, TypeVar

from pieria.recall.page import Page, Scored
from pieria.recall.scores import relevance

Each = TypeVar("Each")

RELEVANT = 1 / 3
"""The least relevance, as a share of the most relevant candidate's."""
LOOKED_AT = 20
"""Due memories ranked besides the candidates, of those that share terms with the query."""
BETWEEN = 2
"""Answers between two due memories."""


class Due(NamedTuple):
    scored: Scored
    urgency: float


def due(page: Page, shown: Set[int]) -> list[Due]:
    """Return what may be added to the hits with these codes, most urgent first."""
    if not shown:
        return []
    ranked = page.order
    urgent = [entry for entry, left in page.left_of(page.by_words()) if page.question.fading.urgency(left) > 0]
    words = [page.walk.code(entry.which, entry.candidate.row) for entry in urgent]
    beyond = [code for code in words if code not in page.walk.passed][:LOOKED_AT]
    if beyond:
        page.rank(len(beyond), [*page.walk.passed, *beyond])
    relevant = relevance(next(iter(page.scored.values())).columns).tolist()
    said = {page.scored[code].evidence.copy_of for code in shown if code in page.scored} - {None}
    found = []
    for code in (*ranked, *beyond):
        one = page.scored.get(code)
        if one is None or code in shown or not page.passes(one) or one.evidence.copy_of in said:
            continue
        urgency = page.question.fading.urgency(page.left(one.evidence))
        urgency = urgency if one.evidence.kind in page.question.fades else 0.0
        if urgency > 0 and relevant[one.number] >= RELEVANT * max(relevant):
            found.append(Due(one, urgency))
            said |= {one.evidence.copy_of} - {None}
    return sorted(found, key=lambda one: (-one.urgency, -one.scored.worth))


def blended(answers: Sequence[Each], reviewed: Sequence[Each]) -> list[Each]:
    """Return the answers with one reviewed item after every two; both keep their order."""
    left = list(reviewed)
    found: list[Each] = []
    for number, answer in enumerate(answers, 1):
        found.append(answer)
        if left and number % BETWEEN == 0:
            found.append(left.pop(0))
    return [*found, *left]
