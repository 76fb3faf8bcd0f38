"""The choice of a value function for a search, and of its parameters. The formula itself is in `record`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.record import check
from pieria.record.time import Clock
from pieria.record.value import BY_TYPE, PARAMETERS, DefaultValueFunction

if TYPE_CHECKING:
    from pieria.config import Config

Score = Callable[[float, Node | None, NodeMetadata | None, Mapping[str, Any]], float]
Judge = Callable[[float, Node | None, NodeMetadata | None], float | None]
Values = Mapping[str, Any]
"""A value function under `module`, and its parameters by node type under `params`."""
SCORES = "a function, or a class or an object with a method score, of relevance, node, metadata and params"


def values_of(value_function: object, config: Config | None) -> dict[str, Any]:
    """Return the function and the parameters of every type: defaults, then configuration, then arguments, then the
    profile.

    The profile comes last, because it raises the values it finds.
    """
    from pieria.config import raised

    given = value_function if isinstance(value_function, Mapping) else {"module": value_function}
    unknown = given.keys() - {"module", "params"}
    if unknown:
        raise InputError("value_function", "a mapping with module, params or both", sorted(map(str, unknown)))
    profile = None if config is None else config.extraction_profile
    over = {} if profile is None else profile.value_function_overrides
    configured: Mapping[str, Any] = {} if config is None else config.value_function
    params = {}
    for kind in NODE_TYPES:
        held = {**params_of(configured, kind), **own_params(given, kind)}
        params[kind] = raised(held, over.get(kind, {}))
    module = given.get("module") or configured.get("module") or DefaultValueFunction
    return {"module": module, "params": params}


def params_of(config: Values | None, node_type: str) -> dict[str, Any]:
    """Return the parameters of a type: the defaults with the configured values."""
    return {**PARAMETERS, **BY_TYPE.get(node_type, {}), **own_params(config or {}, node_type)}


def own_params(config: Values, node_type: str) -> Mapping[str, Any]:
    """Return the configured values of one type."""
    given = config.get("params") or {}
    if not isinstance(given, Mapping) or not isinstance(given.get(node_type, {}), Mapping):
        raise InputError("value_fn_config.params", "a mapping of node types to mappings", given)
    own: Mapping[str, Any] = given.get(node_type, {})
    return own


def score_of(config: Values | None, clock: Clock) -> Score:
    """Return the scoring function: that of the function, object or class under `module`, else the default."""
    if config is not None and not isinstance(config, Mapping):
        raise InputError("value_fn_config", "a mapping with module, params or both", config)
    module = (config or {}).get("module") or DefaultValueFunction
    if module is DefaultValueFunction:
        return DefaultValueFunction(clock).score
    function = module() if isinstance(module, type) else module
    score = getattr(function, "score", function)
    if not callable(score):
        raise InputError("value_fn_config.module", SCORES, module)

    def checked(relevance: float, node: Node | None, metadata: NodeMetadata | None, params: Mapping[str, Any]) -> float:
        value = score(relevance, node, metadata, params)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError("value_function", "a value function that gives a finite number", value)
        return float(value)

    return checked


def rank_of(config: Values, clock: Clock) -> Score:
    """Return the function that orders candidates: the value function, or the ranking of the default one."""
    return DefaultValueFunction(clock).rank if _is_default(config) else score_of(config, clock)


def _is_default(config: Values) -> bool:
    return (config.get("module") or DefaultValueFunction) is DefaultValueFunction


def judge_of(config: Values, node_type: str, clock: Clock, *, by_record: bool = True) -> Judge:
    """Return a judge of nodes of this type. It returns the rank, or None below the threshold. The threshold is checked
    as if the node had just been used, so it measures fit and not age. Without `by_record`, the default function ranks
    by relevance.
    """
    params = params_of(config, node_type)
    if _is_default(config):
        own = DefaultValueFunction(clock).judge(params, by_record=by_record)
        return lambda relevance, _, metadata: own(relevance, metadata)
    score = score_of(config, clock)

    def judged(relevance: float, node: Node | None, metadata: NodeMetadata | None) -> float | None:
        now = None if metadata is None else replace(metadata, last_accessed_at=clock())
        is_enough = score(relevance, node, now, params) >= params["threshold"]
        return score(relevance, node, metadata, params) if is_enough else None

    return judged


def checked_types(node_types: object, parameter: str = "node_types") -> tuple[str, ...]:
    """Return the node types, one or several, each once."""
    return check.choices(node_types, parameter, NODE_TYPES)
