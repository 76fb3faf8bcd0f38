"""What a quarantine is in the record: what it is about, and the ids that it holds.

Two collections of records keep it, so that a write looks at the small one alone. The store's table of what is hidden
follows them within the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from pieria.record.changeset import State

QUARANTINES = "quarantine"
"""What each quarantine is about, by the number of the change that began it."""
HELD = "quarantine.held"
"""The ids that it holds: under the same number, and under NUMBER/CHANGE those that a later change brought in."""
MATCHED = ("source", "session", "author", "channel", "via")
"""The selectors that what comes in later may match."""


@dataclass(frozen=True, slots=True)
class Selectors:
    """What a quarantine is about. Every one that is given must match; `ids` stand beside the others."""

    source: str | None = None
    session: str | None = None
    author: str | None = None
    channel: str | None = None
    via: str | None = None
    since: int | None = None
    until: int | None = None
    ids: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, Any]:
        """Those that are given, but for the ids."""
        held = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "ids"}
        return {name: value for name, value in held.items() if value is not None}

    @property
    def is_source_alone(self) -> bool:
        return self.names.keys() == {"source"}

    def match(self, state: State) -> bool:
        """Whether a memory that is written belongs to it. Ids and a period by itself match nothing new."""
        wanted = [(getattr(state, name), value) for name in MATCHED if (value := getattr(self, name)) is not None]
        if not wanted or any(held != value for held, value in wanted):
            return False
        return (self.since is None or state.at >= self.since) and (self.until is None or state.at < self.until)

    def as_record(self) -> dict[str, Any]:
        return {**self.names, **({"ids": list(self.ids)} if self.ids else {})}

    @classmethod
    def of_record(cls, value: Mapping[str, Any]) -> Selectors:
        return cls(**{**value, "ids": tuple(value.get("ids", ()))})


def quarantine_number(key: str) -> int:
    """The number of the quarantine that a record belongs to."""
    return int(key.partition("/")[0])
