"""Results of verbs as JSON values. A result whose keys are not its fields writes them itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from pieria.record.time import iso


class Reply:
    """A dataclass that a verb returns."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return told(self)


def told(reply: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON values."""
    return {field.name: _plain(getattr(reply, field.name)) for field in fields(reply)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, Collection) else value
