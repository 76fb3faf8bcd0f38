"""The configuration itself: what is in it, and what holds for one step, one type of node, one call.

It is checked however it is made. What its values do is told where they are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Self

from pieria.config import file as reading
from pieria.config.findings import Findings, copied, merged
from pieria.config.params import TYPES, raised, usual, value_function_of
from pieria.config.profile import ExtractionProfile, profile_of
from pieria.models.minds.llm.prompt import GROUPS, STEPS
from pieria.record import check
from pieria.record.value import DefaultValueFunction

_MODEL = ("model", "opts")
_STEPS = (*GROUPS, *STEPS)
_GROUP_OF = {step: group for group, steps in GROUPS.items() for step in steps}
VALIDATION = {"validation_threshold": 0.3, "orphan_penalty": 0.3, "weak_grounding_penalty": 0.1}
USUAL_SESSION: dict[str, Any] = {"auto_commit": True, "flush_timeout_ms": 120_000, "session_timeout_ms": 600_000}
_LONGEST = 10**12
_BACKEND = "a class, an object, or a text such as package.module:Name"


def _value_function() -> dict[str, Any]:
    return {"module": DefaultValueFunction, "params": {kind: usual(kind) for kind in TYPES}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`llm` and `embedding` say which model is meant and what it is told, as `{"model": …, "opts": {…}}`.

    Whatever is wrong with any of it is a `ConfigError`, and all of it at once. Mappings are copied, and what is not
    given within them is as by default.
    """

    llm: Mapping[str, Any] = None  # type: ignore[assignment]
    embedding: Mapping[str, Any] = None  # type: ignore[assignment]
    backend: Mapping[str, Any] | None = None
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    value_function: Mapping[str, Any] = field(default_factory=_value_function)
    episodic_validation: Mapping[str, float] | None = None
    intent_merge_threshold: float = 0.8
    intent_identity_threshold: float = 0.95
    refinement_threshold: float = 0.6
    answer_threshold: float | None = None
    refinement_budget: int = 1
    plateau_delta: float = 0.05
    trace_verbosity: str = "summary"
    extraction_profile: ExtractionProfile | None = None
    session: Mapping[str, Any] = field(default_factory=lambda: dict(USUAL_SESSION))

    def __post_init__(self) -> None:
        found = Findings()
        kept = {name: checker(found, getattr(self, name), name) for name, checker in _CHECKS.items()}
        found.settle()
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Of a mapping with the names of the fields, such as a file of JSON or TOML holds."""
        found = Findings()
        known = tuple(each.name for each in fields(cls))
        given = found.mapping(values, "configuration", known)
        found.settle()
        return cls(**given)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Of the TOML file that the variable `PIERIA_CONFIG` names. Without it, `ConfigError` says `no_config`."""
        return cls.from_dict(reading.named_by(environ))

    def resolve(self, step: str) -> dict[str, Any]:
        """The model and the options of a step, or of a group of steps: a step's own go over those of its group."""
        check.one_of(step, "step", _STEPS)
        resolved = copied(self.llm)
        for name in dict.fromkeys((_GROUP_OF.get(step, step), step)):
            resolved = merged(resolved, self.overrides.get(name, {}))
        return resolved  # type: ignore[no-any-return]

    def resolve_embedding(self) -> dict[str, Any]:
        """All of a graph is embedded by one model, so no step has another."""
        return copied(self.embedding)  # type: ignore[no-any-return]

    def resolve_overlay(self, step: str) -> str | None:
        check.one_of(step, "step", STEPS)
        return None if self.extraction_profile is None else self.extraction_profile.overlays.get(step)

    def resolve_value_function(self, node_type: str) -> dict[str, Any]:
        """The parameters of a type: as by default, then as configured, then as the profile has them."""
        params = self.value_function["params"].get(node_type, usual(node_type))
        profile = self.extraction_profile
        return raised(params, {} if profile is None else profile.value_function_overrides.get(node_type, {}))

    def llm_opts(self, step: str, base_opts: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What a call of a step is told: what is configured goes before what the call says by itself."""
        return _told({**(base_opts or {})}, self.resolve(step))

    def embedding_opts(self) -> dict[str, Any]:
        return _told({}, self.resolve_embedding())


def _told(base: dict[str, Any], resolved: Mapping[str, Any]) -> dict[str, Any]:
    return {**base, **resolved["opts"], "model": resolved["model"]}


def _model(found: Findings, value: object, parameter: str) -> dict[str, Any]:
    if value is None:
        found.add(parameter, "a model, as {'model': name, 'opts': {…}}", None)
        return {}
    given = _choice(found, value, parameter)
    if "model" not in given and isinstance(value, Mapping):
        found.add(f"{parameter}.model", "the name of a model", None)
    return {"model": given.get("model"), "opts": given.get("opts", {})}


def _choice(found: Findings, value: object, parameter: str) -> dict[str, Any]:
    given = found.mapping(value, parameter, _MODEL)
    if "model" in given:
        given["model"] = found.checked(check.name, given["model"], f"{parameter}.model")
    if "opts" in given:
        given["opts"] = found.options(given["opts"], f"{parameter}.opts")
    return given


def _overrides(found: Findings, value: object, parameter: str) -> dict[str, dict[str, Any]]:
    given = found.mapping(value, parameter, _STEPS)
    return {name: _choice(found, given[name], f"{parameter}.{name}") for name in given}


def _backend(found: Findings, value: object, parameter: str) -> dict[str, Any] | None:
    if value is None:
        return None
    given = found.mapping(value, parameter, ("module", "opts"))
    module = found.named(given.get("module"), f"{parameter}.module", _BACKEND)
    if "module" not in given:
        found.add(f"{parameter}.module", _BACKEND, None)
    return {"module": module, "opts": found.options(given.get("opts", {}), f"{parameter}.opts")}


def _validation(found: Findings, value: object, parameter: str) -> dict[str, float] | None:
    if value is None:
        return None
    given = found.mapping(value, parameter, tuple(VALIDATION))
    return {
        name: found.checked(check.number, given.get(name, usually), f"{parameter}.{name}")
        for name, usually in VALIDATION.items()
    }


def _session(found: Findings, value: object, parameter: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, told in {**USUAL_SESSION, **found.mapping(value, parameter, tuple(USUAL_SESSION))}.items():
        checker: Callable[..., Any] = check.flag if name == "auto_commit" else _timeout
        kept[name] = found.checked(checker, told, f"{parameter}.{name}")
    return kept


def _timeout(value: object, parameter: str) -> int | None:
    """In milliseconds; None for never or, where a file has no word for that, infinity."""
    if value is None or (isinstance(value, float) and value == math.inf):
        return None
    return check.whole(value, parameter, 1, _LONGEST)


def _plain(checker: Any, found: Findings, value: object, parameter: str) -> Any:
    return found.checked(checker, value, parameter)


_share = partial(_plain, check.number)
_CHECKS: Mapping[str, Any] = {
    "llm": _model,
    "embedding": _model,
    "backend": _backend,
    "overrides": _overrides,
    "value_function": lambda found, value, parameter: value_function_of(found, value),
    "episodic_validation": _validation,
    "intent_merge_threshold": _share,
    "intent_identity_threshold": _share,
    "refinement_threshold": _share,
    "answer_threshold": lambda found, value, parameter: None if value is None else _share(found, value, parameter),
    "refinement_budget": partial(_plain, partial(check.whole, high=1_000)),
    "plateau_delta": _share,
    "trace_verbosity": partial(_plain, partial(check.one_of, allowed=("summary", "detailed"))),
    "extraction_profile": lambda found, value, parameter: profile_of(found, value),
    "session": _session,
}
