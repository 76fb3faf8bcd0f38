"""The one filter: which memories a reader may see and wants to see. Stores compile it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pieria.record.memory import ENDINGS, VISIBLE_STATUSES, Memory, nothing

ANY_TIME = -(2**63)
"""As `valid_at`: do not look at the time a memory holds."""

Shared = Literal["tags", "entities", "files", "place"]
"""The fields that ask for what memories may have in common."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who is reading. What a session said to itself is seen by that session, or by those that name its channel."""

    session: str | None = None
    channel: str | None = None
    everything: bool = False
    """The bank itself at work (undo, export, upkeep): no session hides anything from it."""

    def sees(self, memory: Memory) -> bool:
        """The predicate's clause about sessions, for a memory at hand."""
        if self.everything or memory.scope != "session":
            return True
        return (memory.session is not None and memory.session == self.session) or (
            memory.channel is not None and memory.channel == self.channel
        )


@dataclass(frozen=True, slots=True)
class Filter:
    """Instants are microseconds; `now` is the moment that a plain `valid_at` means. Lists mean any of theirs."""

    now: int
    viewer: Viewer = Viewer()
    ids: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    """What bears no type goes by its kind."""
    not_types: tuple[str, ...] | None = None
    """What bears one of these types is left out; what bears none is not."""
    tags: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    files: tuple[str, ...] | None = None
    standing: tuple[str, ...] | None = None
    """Kinds of standing rules (`rule`, `preference`, `profile`) that are laid down in it."""
    author: str | None = None
    author_type: str | None = None
    via: tuple[str, ...] | None = None
    """Ways in which a text came in (`record.trust`)."""
    channel: str | None = None
    session: str | None = None
    scopes: tuple[str, ...] | None = None
    source: str | None = None
    place: str | None = None
    """`wing`, `wing/room` or `*/room`."""
    meta: Mapping[str, Any] = field(default_factory=nothing)
    since: int | None = None
    until: int | None = None
    used_since: int | None = None
    """Used then or later; what that is, `record.fading` says."""
    valid_at: int | None = None
    known_at: int | None = None
    status: tuple[str, ...] | None = VISIBLE_STATUSES
    """None: every status."""
    tiers: tuple[str, ...] | None = None
    endings: tuple[str, ...] = ("",)
    pinned: bool | None = None
    lists: bool = False
    """Leave out the memories that only state a fact: facts have lists of their own."""
    tells_past: bool = False
    """See the statements of facts that have ended, too, for an answer that says so."""
    quarantined: bool = False
    """See what is in quarantine, too. No known time shows it otherwise."""

    def anything(self) -> Filter:
        """The same reader and known time, opening by id: status, validity and endings hide nothing."""
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
        """What bears this one tag, entity or file, or lies in this place."""
        return self.having(**{by: value if by == "place" else (value,)})
