"""The weights of each policy, how they turn features into a score, and the order and confidence that follow.

The large weights of `hybrid` were fitted on some conversations and judged on others; the small ones were chosen. The
`why` of a hit and the weights in the plan give its score. Scores compare candidates with each other; only the
confidence says whether the bank holds the answer at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pieria.errors import InputError
from pieria.recall.features import Columns
from pieria.recall.pool import Floats, Lines, Pool
from pieria.recall.query import Asked
from pieria.record.value import alone as alone_of
from pieria.record.value import logistic

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
    "echo": -1.3,
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
    *("lexical", "dense", "window", "session", "reply", "thin", "agent", "digest", "echo", "overturned", "overturns"),
    *("cover", "phrase", "quoted"),
)
"""Features that speak for a candidate independent of its author and time."""
ECHO = -0.7
"""Weight of a repeated question where the other weights add up to 1."""
FADING = 0.125
"""Retention halves within days, while the best text is hardly ever twice as relevant as the next. At full weight every
new text would rank first. With this weight, half the retention costs a twelfth of the relevance."""
THOROUGH = 10
"""Usage hardly tells rows apart: read more, so that the relevant ones are among the candidates."""
MOST = 100.0
"""The largest weight that a caller may ask for."""
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
MOST_SPREAD = 10
KEPT_FROM, KEPT = 7, 3
"""The first place reserved for standing rules (from 0), and the number of places."""
OF_USE = ("frequency", "reward", "retention")
FEATURES = (*WEIGHTS, "relevance", *OF_USE)


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

    @property
    def needed(self) -> set[str] | None:
        """The features that matter, alone or as part of the relevance; None if all may."""
        if self.judge is not None:
            return None
        of_content = CONTENT if self.weights.get("relevance") else ()
        return {*of_content, *filter(self.weights.get, self.weights)}

    def needs(self, features: Iterable[str]) -> bool:
        """Return whether any of these features matters, alone or as part of the relevance."""
        needed = self.needed
        return bool(tuple(features)) if needed is None else not needed.isdisjoint(features)

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
        Policy("weighted", SUM, {"dense": 0.5, "lexical": 0.3, "importance": 0.2, "echo": ECHO}),
        Policy("similarity", SUM, {"dense": 1.0, "echo": ECHO}, without_vectors={"lexical": 1.0, "echo": ECHO}),
    )
}


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


def confidence(asked: Asked, columns: Columns, pool: Pool, texts: Texts) -> float:
    """Return 0 to 1. Neighbouring turns support a turn; any other memory is judged alone.

    Without vectors it is how much of the query the best candidate covers. A summary is no evidence: it touches on
    everything, and its sources are candidates themselves. A repeated question is none either.
    """
    if pool.echo.all():
        return 0.0
    is_summary = pool.is_summary | pool.echo
    first_hand = ~is_summary if not is_summary.all() else ~pool.echo
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


class Arranged(NamedTuple):
    """`order` are the numbers of candidates, best first. `forward` are rules moved ahead of their score. `copies` are
    the folded numbers of each shown one."""

    order: list[int]
    forward: list[int]
    copies: dict[int, list[int]]


def arranged(asked: Asked, pool: Pool, worth: Floats) -> Arranged:
    """Return the order. Among equal scores the newer row comes first."""
    order, copies = _folded(pool, by_worth(pool, worth))
    if not asked.heeds_rules:
        return Arranged(order, [], copies)
    return Arranged(*_with_rules(pool, order), copies)


def by_worth(pool: Pool, worth: Floats) -> list[int]:
    if not pool.keys:
        return []
    which, rows = np.array(pool.keys, dtype=np.int64).T
    order: list[int] = np.lexsort((-rows, which, -worth)).tolist()
    return order


def spread(pool: Pool, worth: Floats) -> Floats:
    """Return for each candidate of an overview how many better turns of people its session has before it."""
    seen: Counter[Hashable] = Counter()
    counted = np.zeros(len(pool))
    for number in by_worth(pool, worth):
        occasion = pool.occasions[number]
        if occasion is not None:
            counted[number] = min(MOST_SPREAD, seen[occasion])
            seen[occasion] += not pool.by_agent[number]
    return counted


def _folded(pool: Pool, order: list[int]) -> tuple[list[int], dict[int, list[int]]]:
    first: dict[Hashable, int] = {}
    copies: dict[int, list[int]] = {}
    kept: list[int] = []
    for number in order:
        alike = pool.copies[number]
        shown = number if alike is None else first.setdefault(alike, number)
        if shown == number:
            kept.append(number)
        else:
            copies.setdefault(shown, []).append(number)
    return kept, copies


def _with_rules(pool: Pool, order: list[int]) -> tuple[list[int], list[int]]:
    """Move the rules nearest to the query to the reserved places, unless they rank higher already."""
    first = set(order[:KEPT_FROM])
    rules = [number for number in order if not np.isnan(pool.rule[number])]
    nearest = sorted(rules, key=lambda number: -pool.rule[number])[:KEPT]
    kept = [number for number in nearest if number not in first]
    rest = [number for number in order if number not in kept]
    moved = [number for place, number in enumerate(kept, KEPT_FROM) if order.index(number) > place]
    return [*rest[:KEPT_FROM], *kept, *rest[KEPT_FROM:]], moved
