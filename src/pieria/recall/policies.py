"""What each feature is worth: the weights of each policy, and the score of a candidate.

The large weights of `hybrid` were fitted on conversations and judged on conversations that were left out, the small
ones chosen. Every score follows from what a hit tells and the weights in the plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pieria.errors import InputError
from pieria.recall.features import Columns
from pieria.recall.pool import Floats

Why = Mapping[str, float]
Judge = Callable[[Why], float]
SATURATING, SUM, PRODUCT, JUDGED = (
    "1 - exp(-sum(weight * feature))",
    "sum(weight * feature)",
    "product(feature ** weight)",
    "callable",
)
"""How features become a score. A sum below 0 scores 0, and one above 1 scores 1; below 0 a factor counts as 0."""
WEIGHTS: Mapping[str, float] = {
    "lexical": 0.25,
    "dense": 0.4,
    "window": 0.4,
    "matter": 0.6,
    "session": 0.2,
    "author": 0.2,
    "date": 0.5,
    "then": 1.25,
    "reply": 0.15,
    "thin": -0.5,
    "agent": -0.2,
    "digest": -0.5,
    "overturned": -0.5,
    "overturns": 0.6,
    "cover": 0.15,
    "phrase": 0.1,
    "quoted": 0.4,
    "when": 0.15,
    "rule": 0.3,
    "rule_fit": 0.35,
    "wish_fit": 0.25,
    "opener": 0.2,
    "spread": -0.02,
    "entity": 0.02,
    "fact": 0.1,
    "link": 0.1,
    "importance": 0.05,
    "recency": 0.03,
    "usage": 0.05,
    "validity": 0.02,
}
CONTENT = (
    *("lexical", "dense", "window", "session", "reply", "thin", "agent", "digest", "overturned", "overturns", "cover"),
    *("phrase", "quoted"),
)
"""What speaks for a candidate whoever said it, and whenever."""
FADING = 0.125
"""What is retained halves within days, and of two texts the one that fits is hardly ever twice as relevant: as it is,
whatever is new would stand before it. So small a weight lets a half count as much as a twelfth of the relevance."""
THOROUGH = 10
"""By use alone much is alike: so that what fits is among the candidates, more are looked at."""
MOST = 100.0
"""The largest weight that may be asked for."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How features become a score from 0 to 1.

    The worth gives the order: it tells apart what scores alike for being worth less than nothing, or very much.
    """

    name: str
    scoring: str
    weights: Mapping[str, float]
    without_vectors: Mapping[str, float] | None = None
    """Weights where there are no vectors to compare; None where those of words do by themselves."""
    judge: Judge | None = None
    depth: int = 1
    """How many times as many rows of the text index are looked through as usual."""

    def counts(self, feature: str) -> bool:
        return self.judge is not None or bool(self.weights.get(feature))

    def needs(self, features: Iterable[str]) -> bool:
        """Whether any of these decides something, by itself or as part of the relevance."""
        return any(self.counts(name) or (name in CONTENT and self.counts("relevance")) for name in features)

    def worths(self, columns: Columns) -> Floats:
        """Of each candidate."""
        if self.scoring in (SATURATING, SUM):
            return sums(columns, self.weights, self.weights)
        names = [name for name in columns if self.counts(name)]
        return np.array([self.worth(why) for why in whole(columns, names)], dtype=float)

    def worth(self, why: Why) -> float:
        """From the features that count."""
        if self.judge is not None:
            return _judged(self.judge(why))
        if self.scoring == PRODUCT:
            factors = ((why.get(name, 0.0), weight) for name, weight in self.weights.items() if weight)
            return math.prod(math.pow(max(0.0, value), weight) for value, weight in factors)
        return summed(why, self.weights)

    def score(self, worth: float) -> float:
        kept = max(0.0, worth)
        return -math.expm1(-kept) if self.scoring == SATURATING else min(1.0, kept)

    def weighing(self, weights: Mapping[str, float]) -> Policy:
        """The same with some weights of the caller's."""
        return replace(self, weights={**self.weights, **weights}, without_vectors=None)

    def by_words(self) -> Policy:
        return self if self.without_vectors is None else replace(self, weights=self.without_vectors)


POLICIES: Mapping[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy("hybrid", SATURATING, WEIGHTS),
        Policy("value", PRODUCT, {"relevance": 1.0, "recency": 1.0, "frequency": 1.0, "reward": 1.0}),
        Policy("decay", PRODUCT, {"relevance": 1.0, "retention": FADING}, depth=THOROUGH),
        Policy("weighted", SUM, {"dense": 0.5, "lexical": 0.3, "importance": 0.2}),
        Policy("similarity", SUM, {"dense": 1.0}, without_vectors={"lexical": 1.0}),
    )
}
OF_USE = ("frequency", "reward", "retention")
FEATURES = (*WEIGHTS, "relevance", *OF_USE)


def custom(judge: Judge) -> Policy:
    """A policy by a callable over all features."""
    return Policy(getattr(judge, "__name__", type(judge).__name__), JUDGED, {}, judge=judge)


def summed(why: Why, weights: Mapping[str, float]) -> float:
    return math.fsum(weights[name] * value for name, value in why.items() if name in weights)


def relevance(columns: Columns) -> Floats:
    """How far the content alone speaks for each candidate, 0 to 1."""
    return -np.expm1(-np.maximum(0.0, sums(columns, WEIGHTS, CONTENT)))


def sums(columns: Columns, weights: Mapping[str, float], names: Iterable[str]) -> Floats:
    """The weighted sum of each candidate over these features, added up in this order."""
    found = np.zeros(len(next(iter(columns.values()), ())))
    for name in names:
        if weights[name] and name in columns:
            found = found + weights[name] * columns[name]
    return found


def whole(columns: Columns, names: Iterable[str]) -> list[dict[str, float]]:
    """The features of each candidate by name."""
    named = [(name, columns[name].tolist()) for name in names if name in columns]
    count = len(next(iter(columns.values()), ()))
    return [{name: column[number] for name, column in named} for number in range(count)]


def _judged(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError("policy", "a callable that gives a number from 0 to 1", value)
    return float(value)
