"""The weights of each policy, and how they turn features into a score.

The large weights of `hybrid` were fitted on some conversations and judged on others; the small ones were chosen. The
`why` of a hit and the weights in the plan give its score.
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
"""How features become a score. A sum is clipped to 0 to 1; a negative factor counts as 0."""
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
"""Features that speak for a candidate independent of its author and time."""
FADING = 0.125
"""Retention halves within days, while the best text is hardly ever twice as relevant as the next. At full weight every
new text would rank first. With this weight, half the retention costs a twelfth of the relevance."""
THOROUGH = 10
"""Usage hardly tells rows apart: read more, so that the relevant ones are among the candidates."""
MOST = 100.0
"""The largest weight that a caller may ask for."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How features become a score from 0 to 1.

    Candidates are ordered by `worth`, which also separates those whose scores are cut off at 0 or 1.
    """

    name: str
    scoring: str
    weights: Mapping[str, float]
    without_vectors: Mapping[str, float] | None = None
    """Weights where there are no vectors; None if the usual weights work without them."""
    judge: Judge | None = None
    depth: int = 1
    """Factor on the rows of the text index to read."""

    def counts(self, feature: str) -> bool:
        return self.judge is not None or bool(self.weights.get(feature))

    def needs(self, features: Iterable[str]) -> bool:
        """Return whether any of these features matters, alone or as part of the relevance."""
        if self.judge is not None:
            return bool(tuple(features))
        of_content = CONTENT if self.weights.get("relevance") else ()
        return not {*of_content, *filter(self.weights.get, self.weights)}.isdisjoint(features)

    def worths(self, columns: Columns) -> Floats:
        """Return the worth of each candidate."""
        if self.scoring in (SATURATING, SUM):
            return sums(columns, self.weights, self.weights)
        names = [name for name in columns if self.counts(name)]
        return np.array([self.worth(why) for why in whole(columns, names)], dtype=float)

    def worth(self, why: Why) -> float:
        """Return the worth of one candidate from its features."""
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
        """Return the policy with some weights replaced by the caller's."""
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
    """Return a policy that judges by a callable over all features."""
    return Policy(getattr(judge, "__name__", type(judge).__name__), JUDGED, {}, judge=judge)


def summed(why: Why, weights: Mapping[str, float]) -> float:
    return math.fsum(weights[name] * value for name, value in why.items() if name in weights)


def relevance(columns: Columns) -> Floats:
    """Return the relevance of each candidate by its content alone, 0 to 1."""
    return -np.expm1(-np.maximum(0.0, sums(columns, WEIGHTS, CONTENT)))


def sums(columns: Columns, weights: Mapping[str, float], names: Iterable[str]) -> Floats:
    """Return the weighted sum of these features for each candidate, added in this order."""
    found = np.zeros(len(next(iter(columns.values()), ())))
    for name in names:
        if weights[name] and name in columns:
            found = found + weights[name] * columns[name]
    return found


def whole(columns: Columns, names: Iterable[str]) -> list[dict[str, float]]:
    """Return the features of each candidate by name."""
    named = [(name, columns[name].tolist()) for name in names if name in columns]
    count = len(next(iter(columns.values()), ()))
    return [{name: column[number] for name, column in named} for number in range(count)]


def _judged(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError("policy", "a callable that gives a number from 0 to 1", value)
    return float(value)
