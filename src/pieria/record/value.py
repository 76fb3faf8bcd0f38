"""What a node is worth to a question: how near it is, how fresh, how often used, and how well it served. Arithmetic.

Exists so that whatever ranks or prunes nodes judges them alike. Which parameters hold is for whoever asks.
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
"""What holds for a type of node that is not listed."""
BY_TYPE: Mapping[str, Mapping[str, float]] = {
    "semantic": {"threshold": 0.0, "top_k": 20},
    "procedural": {"threshold": 0.0, "top_k": 10},
    "episodic": {"threshold": 0.0, "top_k": 30},
    "subgoal": {"threshold": 0.225, "top_k": 10},
    "tag": {"threshold": 0.135, "top_k": 10},
    "source": {"threshold": 0.0, "top_k": 50},
    "intent": {"threshold": 0.105, "top_k": 10},
}
"""The thresholds hold against the whole product, and are within its reach for what is new."""
SERVED_WELL, SERVED_ILL, IN_USE = 0.2, 0.03, 0.02
"""How much of its record moves a node among those that are about as near: the powers of a good reward and of a bad one,
and the share of what is used often and lately. Chosen on days of work: decision 20 says how.
"""
_SECONDS = 3_600
_STEEPEST = 700.0
"""Beyond it an exponential is no number any more."""


class Used(Protocol):
    """What is known of a node's use."""

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

    `metadata` is None where nothing is known of the node's use.
    """

    def score(self, relevance: float, node: Any, metadata: Any, params: Mapping[str, Any]) -> float: ...


class DefaultValueFunction:
    """Relevance × recency × frequency × reward; without metadata the relevance alone. The node itself has no say."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock

    def score(self, relevance: float, node: Any, metadata: Used | None, params: Mapping[str, Any]) -> float:
        if metadata is None:
            return relevance
        in_use, reward = self._record(metadata, params)
        return relevance * in_use * reward

    def rank(self, relevance: float, node: Any, metadata: Used | None, params: Mapping[str, Any]) -> float:
        """What a recall orders by: the relevance, moved by the same factors as far as they tell near-equals apart.

        Multiplied whole, what nobody asked for lately would lie behind whatever was used, however well it fits.
        """
        if metadata is None:
            return relevance
        in_use, reward = self._record(metadata, params)
        return relevance * _standing(reward) * (1 + IN_USE * in_use)

    def judge(
        self, params: Mapping[str, Any], *, by_record: bool = True
    ) -> Callable[[float, Used | None], float | None]:
        """For many of a type the rank of each; None where it would not be worth the threshold had it been used this
        very moment. Not `by_record` the rank is the relevance, for a search whose relevance counts the record already.

        What the use of one comes to is computed once for all that have the same metadata.
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
        """Recency × frequency, and the reward."""
        recency = _recency(metadata, self._clock(), params)
        return recency * _frequency(metadata.access_count, params), _reward(metadata, params)


def _standing(reward: float) -> float:
    standing: float = reward ** (SERVED_WELL if reward > 1 else SERVED_ILL)
    return standing


def _of(params: Mapping[str, Any], name: str) -> float:
    value: float = params[name] if name in params else PARAMETERS[name]
    return value


def _recency(metadata: Used, now: datetime, params: Mapping[str, Any]) -> float:
    """Half after ln 2 / λ hours. What is to come is as fresh as what is of this moment."""
    last = metadata.last_accessed_at or metadata.created_at
    return math.exp(-_of(params, "lambda") * max(0.0, (now - last).total_seconds()) / _SECONDS)


def _frequency(accesses: int, params: Mapping[str, Any]) -> float:
    floor = _of(params, "base_floor")
    return max(floor, accesses / (accesses + _of(params, "k"))) if accesses else floor


def _reward(metadata: Used, params: Mapping[str, Any]) -> float:
    """1 where nothing was judged or it came out even, up to 2 for what served well, towards 0 for what did harm."""
    if not metadata.reward_count:
        return 1.0
    average = 2 * metadata.cumulative_reward / metadata.reward_count - 1
    return 2 / (1 + math.exp(min(_STEEPEST, -_of(params, "beta") * average)))
