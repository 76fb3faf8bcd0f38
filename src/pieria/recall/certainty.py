"""How sure an answer may be of itself: whether what was asked for is in the bank at all.

Exists because a score compares candidates with each other: the best of what is beside the point is the best as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pieria.recall.evidence import Evidence
from pieria.recall.features import Columns
from pieria.recall.policies import CONTENT, WEIGHTS, sums
from pieria.record.certainty import alone as alone_of
from pieria.record.certainty import logistic

WORDS = ("lexical", "reply", "thin", "cover", "phrase")
BODY, TALK = 10, 50
"""Turns that make up the body of evidence, and so many that have one: of fewer each stands alone to some part."""
LEAD_WORTH, BODY_WORTH, DOUBT = 7.5, 4.5, 3.5


def confidence(columns: Columns, pool: Sequence[Evidence]) -> float:
    """0 to 1. What was said in conversations is borne out by the turns around it; anything else stands alone.

    By words alone, where that is all there is, it is how much of the question the best holds. A summary bears nothing
    out: it touches on everything, and what it was drawn from speaks for itself.
    """
    first_hand = [number for number, one in enumerate(pool) if not one.is_summary] or list(range(len(pool)))
    if all(one.dense is None for one in pool):
        return max((columns["cover"][number] for number in first_hand), default=0.0)
    turns = [number for number in first_hand if pool[number].is_turn]
    alone = [number for number in first_hand if not pool[number].is_turn]
    return max(_of_turns(columns, pool, turns), _of_others(columns, alone))


def _of_turns(columns: Columns, pool: Sequence[Evidence], turns: Sequence[int]) -> float:
    """How good the best are together and, where the question names somebody, whether by words alone that one's best is
    ahead of everybody else's."""
    if not turns:
        return 0.0
    together = _together(columns, pool, turns)
    if len(turns) >= TALK:
        return together
    alone = _of_others(columns, turns)
    return alone + (together - alone) * len(turns) / TALK


def _together(columns: Columns, pool: Sequence[Evidence], turns: Sequence[int]) -> float:
    content, words = sums(columns, WEIGHTS, CONTENT), sums(columns, WEIGHTS, WORDS)
    body = sorted((content[number] for number in turns), reverse=True)[:BODY]
    theirs = [words[number] for number in turns if pool[number].by_named]
    others = [words[number] for number in turns if not pool[number].by_named]
    lead = max(theirs) - max(others) if theirs and others else 0.0
    return logistic(LEAD_WORTH * lead + BODY_WORTH * math.fsum(body) / len(body) - DOUBT)


def _of_others(columns: Columns, alone: Sequence[int]) -> float:
    """How much of the question the one that answers it best means and holds."""
    return max((alone_of(columns["dense"][number], columns["cover"][number]) for number in alone), default=0.0)
