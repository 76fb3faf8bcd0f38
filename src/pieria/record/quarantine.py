"""A quarantine as stored: its selectors and the ids it holds.

It uses two collections of records, so that a write reads only the small one. The store's table of hidden memories is
updated in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from pieria.record.changeset import State

QUARANTINES = "quarantine"
"""The selectors of each quarantine, by the number of the change that began it."""
HELD = "quarantine.held"
"""The ids a quarantine holds: under its number, and under NUMBER/CHANGE those added by a later change."""
MATCHED = ("source", "session", "author", "channel", "via")
"""The selectors that can match later writes."""


@dataclass(frozen=True, slots=True)
class Selectors:
    """The selectors of a quarantine. Every given one must match; `ids` count in addition."""

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
        """Return the given selectors except the ids."""
        held = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "ids"}
        return {name: value for name, value in held.items() if value is not None}

    @property
    def is_source_alone(self) -> bool:
        return self.names.keys() == {"source"}

    def match(self, state: State) -> bool:
        """Return whether a memory that is written belongs to it. Ids or a period alone match nothing new."""
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
    """Return the number of the quarantine that a record belongs to."""
    return int(key.partition("/")[0])
