"""Which value function scores the nodes of a search, and with which parameters. What it computes is in the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pieria.errors import InputError
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.record import check
from pieria.record.time import Clock
from pieria.record.value import BY_TYPE, PARAMETERS, DefaultValueFunction

Score = Callable[[float, Node, NodeMetadata | None, Mapping[str, Any]], float]


def params_of(config: Mapping[str, Any] | None, node_type: str) -> dict[str, Any]:
    """The parameters of a type, with what the configuration says otherwise."""
    given = (config or {}).get("params") or {}
    if not isinstance(given, Mapping) or not isinstance(given.get(node_type, {}), Mapping):
        raise InputError("value_fn_config.params", "a mapping of node types to mappings", given)
    return {**PARAMETERS, **BY_TYPE[node_type], **given.get(node_type, {})}


def score_of(config: Mapping[str, Any] | None, clock: Clock) -> Score:
    """What scores: the object, or the class, under `module`, and where there is none the default."""
    if config is not None and not isinstance(config, Mapping):
        raise InputError("value_fn_config", "a mapping with module, params or both", config)
    module = (config or {}).get("module") or DefaultValueFunction
    if module is DefaultValueFunction:
        return DefaultValueFunction(clock).score
    function = module() if isinstance(module, type) else module
    if not callable(getattr(function, "score", None)):
        raise InputError("value_fn_config.module", "an object with a method score", module)
    score: Score = function.score
    return score


def checked_types(node_types: object, parameter: str = "node_types") -> tuple[str, ...]:
    """One type of node or several, each once."""
    return check.choices(node_types, parameter, NODE_TYPES)
