"""The one filter: which memories a reader may see and wants to see. Stores compile it to queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pieria.record.memory import ENDINGS, VISIBLE_STATUSES, Memory, nothing

ANY_TIME = -(2**63)
"""As `valid_at`: ignore the valid time of memories."""

Shared = Literal["tags", "entities", "files", "place"]
"""Fields that several memories may share."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The reader. Scope `session` is visible to its own session, or to readers that name its channel."""

    session: str | None = None
    channel: str | None = None
    everything: bool = False
    """Set for the bank's own work (undo, export, upkeep): session scope hides nothing from it."""

    def sees(self, memory: Memory) -> bool:
        """Return whether the reader may see the memory. Must agree with the stores' session clause."""
        if self.everything or memory.scope != "session":
            return True
        return (memory.session is not None and memory.session == self.session) or (
            memory.channel is not None and memory.channel == self.channel
        )


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on memories. Instants are in microseconds; a list matches any of its values.

    `now` is the default of `valid_at`.
    """

    now: int
    viewer: Viewer = Viewer()
    ids: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    """A memory without a type matches by its kind."""
    not_types: tuple[str, ...] | None = None
    """Excludes memories of these types. A memory without a type is kept."""
    tags: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    files: tuple[str, ...] | None = None
    standing: tuple[str, ...] | None = None
    """Kinds of standing rules (`rule`, `preference`, `profile`) in the text."""
    author: str | None = None
    author_type: str | None = None
    via: tuple[str, ...] | None = None
    """Ways in which a text came in (`record.trust`)."""
    channel: str | None = None
    session: str | None = None
    without_turns_of: str | None = None
    """Excludes the turns of this session."""
    scopes: tuple[str, ...] | None = None
    source: str | None = None
    place: str | None = None
    """`wing`, `wing/room` or `*/room`."""
    meta: Mapping[str, Any] = field(default_factory=nothing)
    since: int | None = None
    until: int | None = None
    used_since: int | None = None
    """Used at this time or later; `record.decay` defines use."""
    valid_at: int | None = None
    known_at: int | None = None
    status: tuple[str, ...] | None = VISIBLE_STATUSES
    """None: every status."""
    tiers: tuple[str, ...] | None = None
    endings: tuple[str, ...] = ("",)
    pinned: bool | None = None
    lists: bool = False
    """Leave out memories that only state a fact: facts have their own lists."""
    tells_past: bool = False
    """Include statements of ended facts. The answer must say that they have ended."""
    quarantined: bool = False
    """Include memories in quarantine. A past known time does not show them otherwise."""

    def anything(self) -> Filter:
        """Return a filter for opening by id: same reader and known time, without status, validity and endings."""
        return Filter(
            now=self.now,
            viewer=self.viewer,
            ids=self.ids,
            known_at=self.known_at,
            valid_at=ANY_TIME,
            status=None,
            endings=ENDINGS,
            quarantined=self.quarantined,
        )

    def having(self, **changes: Any) -> Filter:
        return replace(self, **changes)

    def having_shared(self, by: Shared, value: str) -> Filter:
        """Return the filter narrowed to one tag, entity, file or place."""
        return self.having(**{by: value if by == "place" else (value,)})
