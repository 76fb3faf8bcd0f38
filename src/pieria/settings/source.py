"""One place that settings come from, and how to speak of what is wrong there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.errors import ConfigError, InputError, Invalid

if TYPE_CHECKING:
    from pieria.settings.originals import Remark
    from pieria.settings.trust import Standing

PREFIX = "PIERIA_"
ARGUMENT = "argument"
PROJECT = "project .pieria.toml"


@dataclass(frozen=True, slots=True)
class Source:
    """Values, and how to speak of where they came from. `{}` in the origin stands for the setting's name."""

    origin: str
    values: Mapping[str, Any]
    folder: Path
    file: Path | None = None
    unknown: tuple[Invalid, ...] = ()
    """What is wrong with the names beside the values."""
    personal: bool = True
    """Whether it is the user who says it, and not whoever made the project."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of settings that are given by variables of another name than ours: which."""
    standing: Standing = "trusted"
    """Whether a person trusts the folder that says it."""
    project: Path | None = None
    """The folder to trust, where it is not."""
    remarks: tuple[Remark, ...] = ()
    """What to tell of values that are ignored."""

    def origin_of(self, setting: str) -> str:
        variable = self.variables.get(setting)
        return self.origin.format(setting.upper()) if variable is None else f"{self.origin} {variable}"

    def problem(self, setting: str, expected: str, received: object, hint: str | None = None) -> Invalid:
        told = InputError(setting, expected, received, hint=hint)
        if self.origin == ARGUMENT:
            return told
        variable = self.variables.get(setting, f"{PREFIX}{setting.upper()}")
        place = variable if self.file is None else f"{self.file}: {setting}"
        return ConfigError(f"{place}: expected {told.expected}, got {told.received}", hint=hint)
