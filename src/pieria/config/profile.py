"""Extraction profiles: text that steers single steps, and node parameters for a field of work.

The built-in profiles are data in `profiles/`. How text reaches a prompt belongs to the mind.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from pieria.config.findings import Findings
from pieria.config.params import params_of
from pieria.errors import ConfigError, InputError
from pieria.models.minds.llm.prompt import STEPS
from pieria.models.minds.llm.request import DOMAIN, OVERLAY
from pieria.record import check

BUILT_IN = ("coding", "research", "customer_support")


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
    read = tomllib.loads((files(__package__) / "profiles" / f"{name}.toml").read_text("utf-8"))
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
