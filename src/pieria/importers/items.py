"""The items that importers read from another system. Plain values: what a bank does with them is not decided here.

Facts, links and entries of scratchpads are the bank's `NewFact`, `NewLink` and `NewEntry`. Ids in them are those of the
other system: `run` derives the bank's. A fact or link comes after the memories that it names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pieria.errors import Invalid
from pieria.record.draft import NewEntry, NewFact, NewLink, NewMemory
from pieria.record.ids import derived_id
from pieria.record.usage import Usage

_UNIQUE = re.compile(
    r"(?=.*[0-9])(?=.*[a-z])\S*[0-9a-f]{12}\S*"
    r"|(?=(?:.*[0-9]){3})(?=.*[a-z])\S*[0-9a-z]{16}\S*"
    r"|(?=.*[0-9])[0-9a-hjkmnp-tv-z]{16}(?:[0-9a-hjkmnp-tv-z]{10})?",
    re.IGNORECASE,
)
"""Ids that no two systems give to different things, such as UUIDs and the ids of banks."""
_LONGEST = 200


@dataclass(slots=True)
class MemoryItem:
    """A memory of the other system. `origin` is its id there; `new.id` is left to the import.

    Text, title, body, tags, entities, files, context and meta follow the source in later runs; the rest is the bank's
    after the first.
    """

    origin: str
    new: NewMemory
    status: str = "active"
    tier: str = "working"
    usage: Usage | None = None


class Problem(Invalid):
    """A record that cannot be read. Reports list it, and the rest of the source is read."""

    code = "problem"
    fields = ("where", "reason", "excerpt")

    def __init__(self, where: str, reason: str, excerpt: str = "") -> None:
        """`reason` says what was expected and what came; `excerpt` is the record's beginning, without secrets."""
        self.where = where
        self.reason = reason
        self.excerpt = excerpt
        super().__init__(f"{where}: {reason}" + (f": {excerpt}" if excerpt else ""))


@dataclass(slots=True)
class Left:
    """Something that a bank cannot carry, or need not. Reports count it by its reason."""

    reason: str
    count: int = 1


Item = MemoryItem | NewFact | NewLink | NewEntry | Problem | Left


def memory_id(system: str, origin: str) -> str:
    """Return the id of an imported memory: the one it had if that is unique everywhere, else a derived one."""
    if len(origin) <= _LONGEST and _UNIQUE.fullmatch(origin):
        return origin
    return derived_id("", system, origin)


def tie_id(system: str, what: str, origin: str) -> str:
    """Return the id of an imported fact or link."""
    return derived_id("", system, what, origin)
