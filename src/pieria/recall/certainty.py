"""How sure an answer may be of itself: whether what was asked for is in the bank at all.

Exists because a score compares candidates with each other: the best of what is beside the point is the best as well.
"""

from __future__ import annotations

import math

import numpy as np

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


def confidence(columns: Columns, pool: Pool) -> float:
    """0 to 1. What was said in conversations is borne out by the turns around it; anything else stands alone.

    By words alone, where that is all there is, it is how much of the question the best holds. A summary bears nothing
    out: it touches on everything, and what it was drawn from speaks for itself.
    """
    if not len(pool):
        return 0.0
    first_hand = ~pool.is_summary if not pool.is_summary.all() else pool.is_summary
    if np.isnan(pool.dense).all():
        return float(columns["cover"][first_hand].max())
    turns = np.flatnonzero(first_hand & pool.is_turn)
    alone = np.flatnonzero(first_hand & ~pool.is_turn)
    return max(_of_turns(columns, pool, turns), _of_others(columns, alone))


def _of_turns(columns: Columns, pool: Pool, turns: Lines) -> float:
    """How good the best are together and, where the question names somebody, whether by words alone that one's best is
    ahead of everybody else's."""
    if not len(turns):
        return 0.0
    together = _together(columns, pool, turns)
    if len(turns) >= TALK:
        return together
    alone = _of_others(columns, turns)
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


def _of_others(columns: Columns, alone: Lines) -> float:
    """How much of the question the one that answers it best means and holds."""
    told = zip(columns["dense"][alone].tolist(), columns["cover"][alone].tolist(), strict=True)
    return max((alone_of(dense, cover) for dense, cover in told), default=0.0)
