"""The configuration of learning and recall as one value: models, steps, thresholds and a profile.

A configuration is plain data, always checked when created; a check collects all problems before raising. The code that
reads a value defines its effect. Settings, such as where banks are stored, belong to `settings`.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Self, TypeVar

from pieria.errors import ConfigError, InputError, PieriaError
from pieria.models.minds.llm.prompt import GROUPS, STEPS
from pieria.models.minds.llm.request import DOMAIN, OVERLAY
from pieria.record import check
from pieria.record.value import BY_TYPE, PARAMETERS, DefaultValueFunction

__all__ = ["Config", "ExtractionProfile"]

VARIABLE = "PIERIA_CONFIG"
_EXAMPLE = 'Write: llm = { model = "ollama:qwen3" }'
T = TypeVar("T")
TYPES = tuple(BY_TYPE)
FLOOR = "base_floor"
_PARAMETER_CHECKS: Mapping[str, Callable[..., float]] = {
    "threshold": partial(check.number, high=2.0),
    "top_k": partial(check.whole, low=1, high=1_000_000),
    "lambda": partial(check.number, high=1_000.0),
    "k": partial(check.whole, high=1_000_000),
    FLOOR: check.number,
    "beta": partial(check.number, high=100.0),
}
_SCORES = "a function of relevance, node, metadata and params, or a class or an object with such a method score"
BUILT_IN = ("coding", "research", "customer_support")
_MODEL = ("model", "opts")
_STEPS = (*GROUPS, *STEPS)
_GROUP_OF = {step: group for group, steps in GROUPS.items() for step in steps}
VALIDATION = {"validation_threshold": 0.3, "orphan_penalty": 0.3, "weak_grounding_penalty": 0.1}
USUAL_SESSION: dict[str, Any] = {"auto_commit": True, "flush_timeout_ms": 120_000, "session_timeout_ms": 600_000}
_LONGEST = 10**12
_BACKEND = "a class, an object, or a text such as package.module:Name"


def named_by(environ: Mapping[str, str] | None) -> dict[str, Any]:
    named = (os.environ if environ is None else environ).get(VARIABLE)
    if not named:
        raise ConfigError("no_config", hint=f"Name a TOML file in {VARIABLE}.")
    file = Path(named).expanduser()
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as problem:
        hint = f"{VARIABLE} names it; make the file, or make it readable."
        raise ConfigError(f"{file}: cannot be read ({problem.strerror})", hint=hint) from problem
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file}: not valid TOML: {problem}", hint=_EXAMPLE) from problem


class Findings:
    """Collects problems; `settle` raises the first, with the others in `errors`."""

    def __init__(self) -> None:
        self._found: list[ConfigError] = []

    def add(self, parameter: str, expected: str, received: object, hint: str | None = None) -> None:
        self.take(InputError(parameter, expected, received, hint=hint))

    def take(self, problem: InputError) -> None:
        self._found.append(ConfigError(problem.message, hint=problem.hint))

    def within(self, parameter: str, problem: PieriaError) -> None:
        """Add the problems of a section that was checked separately."""
        for one in problem.all_errors():
            reason = getattr(one, "reason", one.message)
            self._found.append(ConfigError(f"{parameter}.{reason}", hint=one.hint))

    def checked(self, checker: Callable[..., T], value: object, *rest: Any) -> T:
        """Return the checked value. An invalid one is returned unchanged, since `settle` will raise."""
        try:
            return checker(value, *rest)
        except InputError as problem:
            self.take(problem)
            return value  # type: ignore[return-value]

    def mapping(self, value: object, parameter: str, known: tuple[str, ...]) -> dict[str, Any]:
        """Return the members with known names, and add the others as problems."""
        if not isinstance(value, Mapping):
            self.add(parameter, f"a mapping of {', '.join(known)}", value, f"Write {{{known[0]!r}: …}}.")
            return {}
        for name in value:
            if name not in known:
                near = get_close_matches(str(name), known, 1)
                hint = f"Did you mean {near[0]}?" if near else None
                self.add(parameter, f"no names but {', '.join(known)}", name, hint)
        return {name: value[name] for name in known if name in value}

    def options(self, value: object, parameter: str) -> dict[str, Any]:
        """Return a copy of the options for a model or backend. Their values are not checked."""
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            self.add(parameter, "a mapping of options by name", value)
            return {}
        return {name: copied(item) for name, item in value.items()}

    def named(self, value: object, parameter: str, expected: str) -> Any:
        """Return the object, imported if it is a text such as `package.module:Name`."""
        if not isinstance(value, str):
            return value
        try:
            return resolve_name(value)
        except (ImportError, AttributeError, ValueError) as problem:
            hint = f"It could not be imported: {type(problem).__name__}. Write package.module:Name."
            self.add(parameter, expected, value, hint)
            return None

    def settle(self) -> None:
        if self._found:
            first, *others = self._found
            first.errors = tuple(others)
            raise first


def copied(value: Any) -> Any:
    """Copy mappings and lists recursively; other values are shared."""
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merged copy; `over` takes precedence, mapping by mapping."""
    both: dict[str, Any] = copied(base)
    for name, value in over.items():
        held = both.get(name)
        both[name] = merged(held, value) if isinstance(held, dict) and isinstance(value, Mapping) else copied(value)
    return both


def params_of(found: Findings, value: object, parameter: str) -> dict[str, dict[str, Any]]:
    """Return the given parameters by node type."""
    given = found.mapping(value, parameter, TYPES)
    return {
        kind: {
            name: found.checked(_PARAMETER_CHECKS[name], told, f"{parameter}.{kind}.{name}")
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


@dataclass(frozen=True, slots=True)
class ExtractionProfile:
    """`domain_context` tells every step what the data is about; an overlay is appended to the prompt of its step.

    `value_function_overrides` are parameters by node type. `base_floor` raises the floor by a share, 0.15 for 15
    percent; every other parameter replaces the configuration's.
    """

    name: str
    domain_context: str = ""
    overlays: Mapping[str, str] = field(default_factory=dict)
    value_function_overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = Findings()
        kept = {
            "name": found.checked(check.name, self.name, "name"),
            "domain_context": found.checked(_text, self.domain_context, "domain_context", DOMAIN),
            "overlays": {
                step: found.checked(_text, text, f"overlays.{step}", OVERLAY)
                for step, text in found.mapping(self.overlays, "overlays", STEPS).items()
            },
            "value_function_overrides": params_of(found, self.value_function_overrides, "value_function_overrides"),
        }
        found.settle()
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def coding() -> ExtractionProfile:
        """Return the profile for software: behaviour and failures of code, fixes, builds and releases."""
        return built_in("coding")

    @staticmethod
    def research() -> ExtractionProfile:
        """Return the profile for research: claims with evidence, relations of sources, methods rather than steps."""
        return built_in("research")

    @staticmethod
    def customer_support() -> ExtractionProfile:
        """Return the profile for customer support: product behaviour, known issues, rules, paths to a solution."""
        return built_in("customer_support")


def built_in(name: str) -> ExtractionProfile:
    """Return one of the `BUILT_IN` profiles."""
    read = tomllib.loads((files(__name__) / "profiles" / f"{name}.toml").read_text("utf-8"))
    overlays = {step: text.strip() for step, text in read["overlays"].items()}
    return ExtractionProfile(name, read["domain_context"].strip(), overlays, read["value_function_overrides"])


def profile_of(found: Findings, value: object) -> ExtractionProfile | None:
    """Return the profile: given itself, by built-in name, or as a mapping of its fields."""
    parameter = "extraction_profile"
    if value is None or isinstance(value, ExtractionProfile):
        return value
    if isinstance(value, str):
        return built_in(value) if found.checked(check.one_of, value, parameter, BUILT_IN) in BUILT_IN else None
    given = found.mapping(value, parameter, ("name", "domain_context", "overlays", "value_function_overrides"))
    if not given:
        return None
    try:
        return ExtractionProfile(**{"name": None, **given})
    except ConfigError as problem:
        found.within(parameter, problem)
        return None


def _text(value: object, parameter: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise InputError(parameter, f"a text of at most {most:,} characters", value)
    return value


def _value_function() -> dict[str, Any]:
    return {"module": DefaultValueFunction, "params": {kind: usual(kind) for kind in TYPES}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`llm` and `embedding` name the model and its options, as `{"model": …, "opts": {…}}`.

    Invalid values raise one `ConfigError` listing them all. Mappings are copied; missing keys get their defaults.
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
        """Return the configuration of a mapping with the field names, such as a JSON or TOML file."""
        found = Findings()
        known = tuple(each.name for each in fields(cls))
        given = found.mapping(values, "configuration", known)
        found.settle()
        return cls(**given)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the configuration of the TOML file in `PIERIA_CONFIG`. Without it, raise `ConfigError` `no_config`."""
        return cls.from_dict(named_by(environ))

    def resolve(self, step: str) -> dict[str, Any]:
        """Return the model and options of a step or group. A step's own values override those of its group."""
        check.one_of(step, "step", _STEPS)
        resolved = copied(self.llm)
        for name in dict.fromkeys((_GROUP_OF.get(step, step), step)):
            resolved = merged(resolved, self.overrides.get(name, {}))
        return resolved  # type: ignore[no-any-return]

    def resolve_embedding(self) -> dict[str, Any]:
        """Return the embedding model and its options. A whole graph uses one model, so no step has its own."""
        return copied(self.embedding)  # type: ignore[no-any-return]

    def resolve_overlay(self, step: str) -> str | None:
        check.one_of(step, "step", STEPS)
        return None if self.extraction_profile is None else self.extraction_profile.overlays.get(step)

    def resolve_value_function(self, node_type: str) -> dict[str, Any]:
        """Return the parameters of a node type: defaults, then the configuration, then the profile."""
        params = self.value_function["params"].get(node_type, usual(node_type))
        profile = self.extraction_profile
        return raised(params, {} if profile is None else profile.value_function_overrides.get(node_type, {}))

    def llm_opts(self, step: str, base_opts: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the options of a step's call. The configuration overrides the call's own options."""
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
    """Return milliseconds, or None for never. Infinity also means never, for files without a null value."""
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
