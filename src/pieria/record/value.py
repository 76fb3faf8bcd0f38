"""The value of a node for a query: relevance, recency, frequency and reward. Pure arithmetic.

All code that ranks or prunes nodes uses it. The caller chooses the parameters. `alone` is the confidence that a single
text answers a question; every search uses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from pieria.record.time import Clock, system_clock

PARAMETERS: Mapping[str, float] = {
    "threshold": 0.0, "top_k": 20, "lambda": 0.01, "k": 5, "base_floor": 0.3, "beta": 1.0,
}  # fmt: skip
"""Defaults for node types that `BY_TYPE` does not list."""
BY_TYPE: Mapping[str, Mapping[str, float]] = {
    "semantic": {"threshold": 0.0, "top_k": 20},
    "procedural": {"threshold": 0.0, "top_k": 10},
    "episodic": {"threshold": 0.0, "top_k": 30},
    "subgoal": {"threshold": 0.225, "top_k": 10},
    "tag": {"threshold": 0.135, "top_k": 10},
    "source": {"threshold": 0.0, "top_k": 50},
    "intent": {"threshold": 0.105, "top_k": 10},
}
"""A threshold applies to the whole product. A new node can reach it."""
SERVED_WELL, SERVED_ILL, IN_USE = 0.2, 0.03, 0.02
"""How far usage moves a node among nodes of similar relevance: exponents of a good and of a bad reward, and the
weight of recent and frequent use. Decision 20 says how the values were chosen.
"""
_SECONDS = 3_600
ALIKE_WORTH, HOLDS_WORTH, DOUBT = 8.0, 3.0, 3.5
MAX_EXPONENT = 700.0
"""`math.exp` overflows beyond this."""


class Used(Protocol):
    """The known usage of a node."""

    @property
    def created_at(self) -> datetime: ...
    @property
    def access_count(self) -> int: ...
    @property
    def last_accessed_at(self) -> datetime | None: ...
    @property
    def cumulative_reward(self) -> float: ...
    @property
    def reward_count(self) -> int: ...


@runtime_checkable
class ValueFunction(Protocol):
    """Any object with this method. `relevance` is a cosine, `params` are those of the node's type.

    `metadata` is None if nothing is known about the node's use.
    """

    def score(self, relevance: float, node: Any, metadata: Any, params: Mapping[str, Any]) -> float: ...


class DefaultValueFunction:
    """Relevance × recency × frequency × reward. Without metadata only the relevance counts; the node is ignored."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock

    def score(self, relevance: float, node: Any, metadata: Used | None, params: Mapping[str, Any]) -> float:
        if metadata is None:
            return relevance
        in_use, reward = self._record(metadata, params)
        return relevance * in_use * reward

    def rank(self, relevance: float, node: Any, metadata: Used | None, params: Mapping[str, Any]) -> float:
        """Return the score that orders a recall: the relevance, adjusted slightly by the same factors.

        With the full product, a node without recent use would rank below every used node, however relevant.
        """
        if metadata is None:
            return relevance
        in_use, reward = self._record(metadata, params)
        return relevance * _standing(reward) * (1 + IN_USE * in_use)

    def judge(
        self, params: Mapping[str, Any], *, by_record: bool = True
    ) -> Callable[[float, Used | None], float | None]:
        """Return a function that ranks many nodes of one type.

        It returns None below the threshold, which is checked as if the node had been used just now. Without
        `by_record` the rank is the relevance itself, for searches whose relevance already includes usage. Nodes with
        the same metadata object share one computation.
        """
        threshold = _of(params, "threshold")
        held: dict[int, tuple[Used, float, float, float, float]] = {}

        def judged(relevance: float, metadata: Used | None) -> float | None:
            if metadata is None:
                return relevance if relevance >= threshold else None
            if id(metadata) not in held:
                in_use, reward = self._record(metadata, params)
                frequency = _frequency(metadata.access_count, params)
                moved = (_standing(reward), 1 + IN_USE * in_use) if by_record else (1.0, 1.0)
                held[id(metadata)] = metadata, frequency, reward, *moved
            _, frequency, reward, standing, use = held[id(metadata)]
            return relevance * standing * use if relevance * frequency * reward >= threshold else None

        return judged

    def _record(self, metadata: Used, params: Mapping[str, Any]) -> tuple[float, float]:
        """Return recency × frequency, and the reward."""
        recency = _recency(metadata, self._clock(), params)
        return recency * _frequency(metadata.access_count, params), _reward(metadata, params)


def _standing(reward: float) -> float:
    standing: float = reward ** (SERVED_WELL if reward > 1 else SERVED_ILL)
    return standing


def _of(params: Mapping[str, Any], name: str) -> float:
    value: float = params[name] if name in params else PARAMETERS[name]
    return value


def _recency(metadata: Used, now: datetime, params: Mapping[str, Any]) -> float:
    """Return the recency, which halves every ln 2 / λ hours. A future time counts as now."""
    last = metadata.last_accessed_at or metadata.created_at
    return math.exp(-_of(params, "lambda") * max(0.0, (now - last).total_seconds()) / _SECONDS)


def _frequency(accesses: int, params: Mapping[str, Any]) -> float:
    floor = _of(params, "base_floor")
    return max(floor, accesses / (accesses + _of(params, "k"))) if accesses else floor


def _reward(metadata: Used, params: Mapping[str, Any]) -> float:
    """Return 1 without judgements or for even ones, up to 2 for good ones, towards 0 for bad ones."""
    if not metadata.reward_count:
        return 1.0
    average = 2 * metadata.cumulative_reward / metadata.reward_count - 1
    return 2 * logistic(_of(params, "beta") * average)


def alone(alike: float | None, holds: float) -> float:
    """Return a confidence from 0 to 1.

    It uses the cosine to the question and the share of the question's terms in the text. Without a cosine it is that
    share.
    """
    return holds if alike is None else logistic(ALIKE_WORTH * alike + HOLDS_WORTH * holds - DOUBT)


def logistic(value: float) -> float:
    # A damaged vector may give any cosine.
    return 1 / (1 + math.exp(min(MAX_EXPONENT, -value)))
