"""What a field of work counts as knowledge: text that steers single steps, and which nodes come first when found.

The profiles that come with Pieria are data in `profiles/`. How text reaches a prompt belongs to the mind.
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
    """`domain_context` says to every step what the data is about; an overlay ends the prompt of its own step alone.

    `value_function_overrides` are parameters by type of node: `base_floor` is the share by which the floor is lifted,
    0.15 for fifteen per cent, and every other parameter takes the place of the configuration's.
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
        """For software: what code does and why it fails, how it was mended, built and released."""
        return built_in("coding")

    @staticmethod
    def research() -> ExtractionProfile:
        """For study: claims with their evidence, how sources bear on each other, methods rather than steps."""
        return built_in("research")

    @staticmethod
    def customer_support() -> ExtractionProfile:
        """For helping customers: how a product behaves, known issues, rules, ways to a solution."""
        return built_in("customer_support")


def built_in(name: str) -> ExtractionProfile:
    """One of `BUILT_IN`."""
    read = tomllib.loads((files(__package__) / "profiles" / f"{name}.toml").read_text("utf-8"))
    overlays = {step: text.strip() for step, text in read["overlays"].items()}
    return ExtractionProfile(name, read["domain_context"].strip(), overlays, read["value_function_overrides"])


def profile_of(found: Findings, value: object) -> ExtractionProfile | None:
    """A profile itself, the name of one of ours, or a mapping of its fields."""
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
