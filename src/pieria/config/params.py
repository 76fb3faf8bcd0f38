"""Parameters of value functions: their bounds, and the values for a node type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pieria.config.findings import Findings
from pieria.record import check
from pieria.record.value import BY_TYPE, PARAMETERS, DefaultValueFunction

TYPES = tuple(BY_TYPE)
FLOOR = "base_floor"
_CHECKS: Mapping[str, Callable[..., float]] = {
    "threshold": partial(check.number, high=2.0),
    "top_k": partial(check.whole, low=1, high=1_000_000),
    "lambda": partial(check.number, high=1_000.0),
    "k": partial(check.whole, high=1_000_000),
    FLOOR: check.number,
    "beta": partial(check.number, high=100.0),
}
_SCORES = "a function of relevance, node, metadata and params, or a class or an object with such a method score"


def params_of(found: Findings, value: object, parameter: str) -> dict[str, dict[str, Any]]:
    """Return the given parameters by node type."""
    given = found.mapping(value, parameter, TYPES)
    return {
        kind: {
            name: found.checked(_CHECKS[name], told, f"{parameter}.{kind}.{name}")
            for name, told in found.mapping(given[kind], f"{parameter}.{kind}", tuple(PARAMETERS)).items()
        }
        for kind in given
    }


def value_function_of(found: Findings, value: object) -> dict[str, Any]:
    """Return the value function, with defaults for missing parameters of each type."""
    parameter = "value_function"
    given = found.mapping(value, parameter, ("module", "params"))
    module = given.get("module", DefaultValueFunction)
    if module == DefaultValueFunction.__name__:
        module = DefaultValueFunction
    module = found.named(module, f"{parameter}.module", _SCORES)
    scores = module if callable(module) and not isinstance(module, type) else getattr(module, "score", None)
    if module is not None and not callable(scores):
        found.add(f"{parameter}.module", _SCORES, module)
    params = params_of(found, given.get("params", {}), f"{parameter}.params")
    return {"module": module, "params": {kind: {**usual(kind), **params.get(kind, {})} for kind in TYPES}}


def usual(kind: str) -> dict[str, Any]:
    return {**PARAMETERS, **BY_TYPE.get(kind, {})}


def raised(params: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with a profile's on top. A profile's `base_floor` raises the floor by that share."""
    lifted = {} if FLOOR not in over else {FLOOR: min(1.0, params[FLOOR] * (1 + over[FLOOR]))}
    return {**params, **over, **lifted}
