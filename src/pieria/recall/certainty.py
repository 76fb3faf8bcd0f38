"""How sure an answer may be of itself: whether what was asked for is in the bank at all.

Exists because a score compares candidates with each other: the best of what is beside the point is the best as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from pieria.recall.evidence import Asked
from pieria.recall.features import Columns
from pieria.recall.policies import CONTENT, WEIGHTS, sums
from pieria.recall.pool import Lines, Pool
from pieria.record.certainty import alone as alone_of
from pieria.record.certainty import logistic

WORDS = ("lexical", "reply", "thin", "cover", "phrase")
BODY, TALK = 10, 50
"""Turns that make up the body of evidence, and so many that have one: of fewer each stands alone to some part."""
BODY_WORTH, DOUBT = 4.5, 3.5
OF_NAMED = {"body": 1.8, "words": 5.8, "content": 2.5, "dense": -4.0, "cover": 1.0}
DOUBT_OF_NAMED = 1.82
"""What it is worth that the best turn of whoever is named is ahead by this of everybody else's; and how good the best
are together, and how much of the question one of them holds."""


ALONE = {"alike": 6.5, "lead": 4.0, "lacking": -3.0, "unnamed": -3.0}
DOUBT_ALONE = 2.8
"""What it is worth how much of the question without names the nearest means, and how far it is ahead of the next; that
what an answer has to hold is not there, and that what the question names is not named."""
NEAR_ENOUGH = 0.45
"""Nearer than that, a text says much the same as the question does, and answers it no better."""
Texts = Callable[[Sequence[int]], Sequence[str | None]]
"""Of candidates by their numbers; None for a long one."""
LOOKED_AT = 8
"""So many of the best are looked at for what an answer has to hold."""
FIELD, ELSEWHERE = 3, 0.15
"""So many come next; where there are fewer, so near is whatever might be there."""


def confidence(asked: Asked, columns: Columns, pool: Pool, texts: Texts) -> float:
    """0 to 1. What was said in conversations is borne out by the turns around it; anything else stands alone.

    By words alone, where that is all there is, it is how much of the question the best holds. A summary bears nothing
    out: it touches on everything, and what it was drawn from speaks for itself.
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
    """How good the best are together and, where the question names somebody, whether by words alone that one's best is
    ahead of everybody else's."""
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
    """Whether the nearest is near enough and ahead of others, and holds what is asked for of whom is named.

    A name alone is no answer, and whatever is about the named is near to a question about them: so they are compared
    without it.
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
    """How much less than the best the first is worth that holds what is asked for, as a share; 0 for the best itself.

    Of a long text it is not known what it holds.
    """
    if asked.expects is None or not content or content[0] <= 0:
        return 0.0
    for text, worth in zip(texts(order), content, strict=False):
        if text is None or asked.expects.is_in(text):
            return 1 - max(0.0, worth) / content[0]
    return 1.0
