"""What a bank hands down to an import: how it screens text, finds facts by name, and keeps its own records in order.

Plain values, so that an import decides none of this and knows no setting.
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
    """Each of the first five returns a row as it may be kept, or raises `InputError` or `PrivacyError`."""

    content: Callable[[Content], Content]
    state: Callable[[State], State]
    link: Callable[[LinkRow], LinkRow]
    fact: Callable[[FactRow], FactRow]
    """Also fills in the keys by which the fact is found."""
    record: Callable[[Record], Record]
    joined: Mapping[str, Callable[[Reader, Any], list[Record]]] = field(default_factory=dict)
    """By collection: what to write when a value joins a bank with records of its own. `ConflictError` leaves it out.

    For records that only hold together, where each by itself would be a broken one.
    """
    narrowed: Mapping[str, Callable[[Record, Callable[[str], bool]], Record | None]] = field(default_factory=dict)
    """By collection: what of a record an untrusted file may say, given which ids it brings as new. `None` leaves the
    record out.
    """
