"""One source of settings, and how to describe its problems."""

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
    """Values and their origin. `{}` in the origin is replaced by the setting's name."""

    origin: str
    values: Mapping[str, Any]
    folder: Path
    file: Path | None = None
    unknown: tuple[Invalid, ...] = ()
    """Problems with the names of settings."""
    personal: bool = True
    """Whether the user set the values, rather than the project's author."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables with other names than ours, by setting."""
    standing: Standing = "trusted"
    """Whether a person trusts the source's folder."""
    project: Path | None = None
    """The folder to trust, if it is not trusted."""
    remarks: tuple[Remark, ...] = ()
    """Remarks on ignored values."""

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
