"""The confidence of an answer: whether the bank holds what was asked for at all.

Scores cannot tell: they compare candidates with each other, and something always comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from pieria.recall.evidence import Asked
from pieria.recall.features import Columns
from pieria.recall.pool import Lines, Pool
from pieria.recall.scores import CONTENT, WEIGHTS, sums
from pieria.record.certainty import alone as alone_of
from pieria.record.certainty import logistic

WORDS = ("lexical", "reply", "thin", "cover", "phrase")
BODY, TALK = 10, 50
"""Turns that count together as evidence. With fewer than `TALK` turns, the best single turn counts in part."""
BODY_WORTH, DOUBT = 4.5, 3.5
OF_NAMED = {"body": 1.8, "words": 5.8, "content": 2.5, "dense": -4.0, "cover": 1.0}
DOUBT_OF_NAMED = 1.82
"""Weights, for a query that names an author. By how much that author's best turn leads all others; how good the best
turns are together; how much of the query one of them covers."""


ALONE = {"alike": 6.5, "lead": 4.0, "lacking": -3.0, "unnamed": -3.0}
DOUBT_ALONE = 2.8
"""Weights, for a single memory. How near the nearest is to the query without names, and its lead over the next; the
penalty if the expected answer is missing, and if what the query names is missing."""
NEAR_ENOUGH = 0.45
"""A text nearer than this restates the query, and answers it no better."""
Texts = Callable[[Sequence[int]], Sequence[str | None]]
"""The texts of candidates, by number; None for a long text."""
LOOKED_AT = 8
"""Best candidates that are searched for the expected answer."""
FIELD, ELSEWHERE = 3, 0.15
"""Runners-up that the lead is measured against; the similarity assumed for each that is missing."""


def confidence(asked: Asked, columns: Columns, pool: Pool, texts: Texts) -> float:
    """Return 0 to 1. Neighbouring turns support a turn; any other memory is judged alone.

    Without vectors it is how much of the query the best candidate covers. A summary is no evidence: it touches on
    everything, and its sources are candidates themselves.
    """
    if not len(pool):
        return 0.0
    first_hand = ~pool.is_summary if not pool.is_summary.all() else pool.is_summary
    if not pool.is_compared.any():
        return float(columns["cover"][first_hand].max())
    turns = np.flatnonzero(first_hand & pool.is_turn)
    alone = np.flatnonzero(first_hand & ~pool.is_turn)
    return max(_of_turns(columns, pool, turns), _of_others(asked, columns, pool, alone, texts))


def _of_turns(columns: Columns, pool: Pool, turns: Lines) -> float:
    """Return how good the best turns are together. If the query names an author, compare that author's best turn with
    the best of all others."""
    if not len(turns):
        return 0.0
    together = _together(columns, pool, turns)
    if len(turns) >= TALK:
        return together
    told = zip(columns["dense"][turns].tolist(), columns["cover"][turns].tolist(), strict=True)
    alone = max(alone_of(dense, cover) for dense, cover in told)
    return alone + (together - alone) * len(turns) / TALK


def _together(columns: Columns, pool: Pool, turns: Lines) -> float:
    content = sums(columns, WEIGHTS, CONTENT)[turns]
    best = np.sort(content)[::-1][:BODY].tolist()
    body, named = math.fsum(best) / len(best), pool.by_named[turns]
    if not named.any() or named.all():
        return logistic(BODY_WORTH * body - DOUBT)
    ahead = {"words": sums(columns, WEIGHTS, WORDS)[turns], "content": content, "dense": columns["dense"][turns]}
    told = {name: float(column[named].max() - column[~named].max()) for name, column in ahead.items()}
    told |= {"body": body, "cover": float(columns["cover"][turns].max())}
    return logistic(math.fsum(worth * told[name] for name, worth in OF_NAMED.items()) - DOUBT_OF_NAMED)


def _of_others(asked: Asked, columns: Columns, pool: Pool, alone: Lines, texts: Texts) -> float:
    """Return whether the nearest is near enough, leads the others, and holds the expected answer.

    Names are left out of the comparison: every text about a name is near to a question about it.
    """
    if not len(alone):
        return 0.0
    near = np.where(np.isnan(pool.bare), columns["dense"], pool.bare)[alone]
    first, *others = np.sort(np.append(near, [ELSEWHERE] * FIELD) if len(near) <= FIELD else near)[::-1].tolist()
    lead = first - math.fsum(others[:FIELD]) / FIELD
    content = sums(columns, WEIGHTS, CONTENT)[alone]
    places = np.argsort(-content, kind="stable")
    order = alone[places].tolist()
    unnamed = 1 - float(columns["entity"][order[0]]) if asked.entities else 0.0
    lacking = _lacking(asked, order[:LOOKED_AT], content[places].tolist(), texts)
    told = {"alike": min(NEAR_ENOUGH, first), "lead": lead, "lacking": lacking, "unnamed": unnamed}
    return logistic(math.fsum(worth * told[name] for name, worth in ALONE.items()) - DOUBT_ALONE)


def _lacking(asked: Asked, order: Sequence[int], content: Sequence[float], texts: Texts) -> float:
    """Return how much lower the first candidate with the expected answer scores than the best, as a share; 0 if it is
    the best.

    A long text is taken to hold the answer.
    """
    if asked.expects is None or not content or content[0] <= 0:
        return 0.0
    for text, worth in zip(texts(order), content, strict=False):
        if text is None or asked.expects.is_in(text):
            return 1 - max(0.0, worth) / content[0]
    return 1.0
