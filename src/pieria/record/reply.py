"""Results of verbs as JSON values. A result whose keys are not its fields writes them itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pieria.record.time import iso

T = TypeVar("T")


class Reply:
    """A dataclass that a verb returns."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return told(self)


class Listed(Reply, Sequence[T]):
    """A reply that is the sequence in its first field."""

    __slots__ = ()

    @property
    def _items(self) -> Sequence[T]:
        items: Sequence[T] = getattr(self, fields(self)[0].name)  # type: ignore[arg-type]
        return items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)


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
