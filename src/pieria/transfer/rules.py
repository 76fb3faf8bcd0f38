"""The rules that a bank passes to an import: how it screens text, builds fact keys, and protects its own records.

Plain values, so that an import reads no settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pieria.record.changeset import Content, Record, State
from pieria.record.fact import FactRow
from pieria.record.link import LinkRow
from pieria.store.protocol import Reader


@dataclass(frozen=True, slots=True)
class Rules:
    """The first five each return a row in its stored form, or raise `InputError` or `PrivacyError`."""

    content: Callable[[Content], Content]
    state: Callable[[State], State]
    link: Callable[[LinkRow], LinkRow]
    fact: Callable[[FactRow], FactRow]
    """It also fills in the keys of the fact."""
    record: Callable[[Record], Record]
    joined: Mapping[str, Callable[[Reader, Any], list[Record]]] = field(default_factory=dict)
    """By collection: returns the records to write when a value joins a bank's own records. `ConflictError` leaves it
    out.

    For records that are valid only together.
    """
    narrowed: Mapping[str, Callable[[Record, Callable[[str], bool]], Record | None]] = field(default_factory=dict)
    """By collection: returns the part of a record that an untrusted file may set, given which ids it adds. `None`
    leaves the record out.
    """
