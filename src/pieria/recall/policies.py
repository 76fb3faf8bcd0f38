"""What each feature is worth: the weights of a policy, a candidate's score, and how sure an answer may be of itself.

The weights were fitted on conversations and judged on conversations that were left out; `docs/benchmarks.md` says what
each is worth. A score is a weighted sum over a constant, so it can be computed again from what a hit tells, and two
answers can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pieria.recall.features import Columns

SCALE = 10.0
"""What a score is divided by: a very good candidate comes near it."""
WEIGHTS: Mapping[str, float] = {
    "lexical": 2.5,
    "dense": 4.0,
    "window": 4.0,
    "session": 2.0,
    "author": 2.0,
    "date": 5.0,
    "reply": 1.5,
    "thin": -5.0,
    "agent": -2.0,
    "cover": 1.5,
    "phrase": 1.0,
    "when": 1.5,
    "rule": 3.0,
    "rule_fit": 3.5,
    "wish_fit": 2.5,
    "opener": 2.0,
}
CONTENT = ("lexical", "dense", "window", "session", "reply", "thin", "agent", "cover", "phrase")
"""What speaks for a candidate whoever said it, and whenever."""
WORDS = ("lexical", "reply", "thin", "cover", "phrase")
BODY = 10
"""Candidates that make up the body of evidence."""
LEAD_WORTH, BODY_WORTH, DOUBT = 0.75, 0.45, 3.5


def score_of(why: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The score that features and weights make, from 0 to 1."""
    return min(1.0, max(0.0, summed(why, weights) / SCALE))


def summed(why: Mapping[str, float], weights: Mapping[str, float], names: Sequence[str] | None = None) -> float:
    return math.fsum(weights[name] * why[name] for name in (why if names is None else names) if name in weights)


def lines(columns: Columns, weights: Mapping[str, float]) -> list[dict[str, float]]:
    """The features of each candidate by name, those that count."""
    named = [(name, column) for name, column in columns.items() if weights.get(name)]
    count = len(next(iter(columns.values()), []))
    return [{name: column[number] for name, column in named} for number in range(count)]


def confidence(found: Sequence[Mapping[str, float]], named: Sequence[bool], weights: Mapping[str, float]) -> float:
    """How sure it is that the answer is among what was found, 0 to 1.

    It rests on how good the best are together, and, where the question names somebody, on whether by words alone that
    one's best is ahead of everybody else's.
    """
    if not found:
        return 0.0
    body = sorted((_part(why, weights, CONTENT) for why in found), reverse=True)[:BODY]
    theirs = [_part(why, weights, WORDS) for why, is_theirs in zip(found, named, strict=True) if is_theirs]
    others = [_part(why, weights, WORDS) for why, is_theirs in zip(found, named, strict=True) if not is_theirs]
    lead = max(theirs) - max(others) if theirs and others else 0.0
    certainty = LEAD_WORTH * lead + BODY_WORTH * math.fsum(body) / len(body) - DOUBT
    return 1 / (1 + math.exp(-certainty))


def _part(why: Mapping[str, float], weights: Mapping[str, float], names: Sequence[str]) -> float:
    return summed(why, weights, [name for name in names if name in why])
