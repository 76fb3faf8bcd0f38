"""The memory: one remembered thing, as every reader sees it.

Plain data only. Input and its checks belong in `draft`, storage in the stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from pieria.record.trust import AGENT

KINDS = (
    "note",
    "observation",
    "drawer",
    "diary",
    "turn",
    "summary",
    "fact",
    "episodic",
    "semantic",
    "procedural",
    "subgoal",
    "source",
    "tag",
    "intent",
)
STATEMENT = "fact"
"""The kind of a memory that states a fact which comes from no other memory. Both share an id and are removed
together.
"""
GIVEN_KINDS = tuple(kind for kind in KINDS if kind != STATEMENT)
"""Kinds that a caller may give a memory."""
ROUTING_KINDS = ("tag", "intent", "subgoal", "source")
"""Kinds that lead to knowledge but answer nothing: only the sessions toolset recalls them."""
LISTED_KINDS = tuple(kind for kind in GIVEN_KINDS if kind not in ROUTING_KINDS)
"""Kinds that toolsets list and count as memories. Facts have their own lists."""
SCOPES = ("session", "bank", "user")
AUTHOR_TYPES = ("human", "agent", "system")
FADES = ("note", "summary", "semantic", "procedural", "episodic")
"""Kinds that upkeep may forget by default: notes and derived memories."""
GIVEN_STATUSES = ("active", "promoted", "archived")
"""Statuses that a caller may give a memory."""
PROPOSAL_STATUSES = ("proposed", "declined")
"""Statuses of proposals from sessions. Only verbs that decide on proposals set or clear them."""
STATUSES = (*GIVEN_STATUSES, *PROPOSAL_STATUSES)
VISIBLE_STATUSES = ("active", "promoted")
TIERS = ("working", "kept", "settled")
ENDINGS = ("", "removed", "revised")
"""Whether a memory is still offered: "" if it is, else removed, or replaced by a revision with another id."""


class Frozen(dict[str, Any]):
    """An immutable dict. Unlike a read-only view, it can be copied and pickled."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed; take a copy of it: dict(…)")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        return type(self), (dict(self),)


EMPTY: Mapping[str, Any] = Frozen()


def nothing() -> Mapping[str, Any]:
    return EMPTY


@dataclass(frozen=True, slots=True)
class Judgement:
    importance: float = 0.5
    confidence: float | None = None
    strength: float = 1.0
    trust: float = 0.6
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Findings of the write path: `secret:<kind>`, `private:cut`."""


@dataclass(frozen=True, slots=True)
class Origin:
    source: str | None = None
    context: str | None = None
    author: str | None = None
    author_type: str | None = None
    channel: str | None = None
    session: str | None = None
    sequence: int | None = None
    via: str = AGENT
    """How the text came in: one of `record.trust.WAYS`."""


@dataclass(frozen=True, slots=True)
class Times:
    """When it was said or happened, when it is valid, and when the bank knew it. Intervals are half-open."""

    at: datetime
    known_from: datetime
    known_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    status: str = "active"
    tier: str = "working"
    ended: str = ""
    reason: str | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of a remembered thing over one interval of known time."""

    row: int
    id: str
    version: int
    kind: str
    title: str | None
    text: str
    place: str
    scope: str
    times: Times
    judgement: Judgement = Judgement()
    labels: Labels = Labels()
    origin: Origin = Origin()
    standing: Standing = Standing()
    body: Mapping[str, Any] = field(default_factory=nothing)
    meta: Mapping[str, Any] = field(default_factory=nothing)

    def __hash__(self) -> int:
        return hash((self.id, self.row, self.times.known_from))

    @property
    def importance(self) -> float:
        return self.judgement.importance

    @property
    def confidence(self) -> float | None:
        return self.judgement.confidence

    @property
    def strength(self) -> float:
        return self.judgement.strength

    @property
    def trust(self) -> float:
        return self.judgement.trust

    @property
    def pinned(self) -> bool:
        return self.judgement.pinned

    @property
    def tags(self) -> tuple[str, ...]:
        return self.labels.tags

    @property
    def entities(self) -> tuple[str, ...]:
        return self.labels.entities

    @property
    def files(self) -> tuple[str, ...]:
        return self.labels.files

    @property
    def changed_files(self) -> tuple[str, ...]:
        """The files without those only read, which the body of an observation names."""
        read, both = (self.body.get(key) for key in ("files_read", "files_modified"))
        only_read = set(read if isinstance(read, list) else ()) - set(both if isinstance(both, list) else ())
        return tuple(file for file in self.files if file not in only_read)

    @property
    def flags(self) -> tuple[str, ...]:
        return self.labels.flags

    @property
    def source(self) -> str | None:
        return self.origin.source

    @property
    def context(self) -> str | None:
        return self.origin.context

    @property
    def author(self) -> str | None:
        return self.origin.author

    @property
    def author_type(self) -> str | None:
        return self.origin.author_type

    @property
    def channel(self) -> str | None:
        return self.origin.channel

    @property
    def session(self) -> str | None:
        return self.origin.session

    @property
    def sequence(self) -> int | None:
        return self.origin.sequence

    @property
    def via(self) -> str:
        return self.origin.via

    @property
    def at(self) -> datetime:
        return self.times.at

    @property
    def valid_from(self) -> datetime | None:
        return self.times.valid_from

    @property
    def valid_until(self) -> datetime | None:
        return self.times.valid_until

    @property
    def known_from(self) -> datetime:
        return self.times.known_from

    @property
    def known_until(self) -> datetime | None:
        return self.times.known_until

    @property
    def status(self) -> str:
        return self.standing.status

    @property
    def tier(self) -> str:
        return self.standing.tier

    @property
    def removed(self) -> bool:
        return self.standing.ended == "removed"

    @property
    def ended(self) -> str:
        return self.standing.ended

    @property
    def reason(self) -> str | None:
        """The reason given for its latest change."""
        return self.standing.reason

    @property
    def superseded_by(self) -> str | None:
        return self.standing.superseded_by

    @property
    def reference(self) -> str:
        """The reference to exactly this version."""
        return f"{self.id}@{self.version}"

    @property
    def is_stored(self) -> bool:
        """Return False for a fact drawn from a memory: what states it is made for the reply."""
        return self.row > 0

    @property
    def drawn_from(self) -> str | None:
        """The memory that this fact was drawn from. None for a memory of its own."""
        return None if self.is_stored else self.body.get("memory")

    @property
    def wing(self) -> str:
        return self.place.partition("/")[0]

    @property
    def room(self) -> str:
        return self.place.partition("/")[2]

    def as_dict(self) -> dict[str, Any]:
        """Return all fields in one flat dict for JSON. Instants are ISO 8601 in UTC."""
        flat: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, Times | Judgement | Labels | Origin | Standing):
                flat.update({f.name: _plain(getattr(value, f.name)) for f in fields(value)})
            else:
                flat[part.name] = _plain(value)
        return flat

    @classmethod
    def from_dict(cls, flat: Mapping[str, Any]) -> Memory:
        """Return the memory that `as_dict` has written."""
        kinds = {"times": Times, "judgement": Judgement, "labels": Labels, "origin": Origin, "standing": Standing}
        parts = {name: kind(**_own(kind, flat)) for name, kind in kinds.items()}
        plain = {part.name: flat[part.name] for part in fields(cls) if part.name not in kinds}
        return cls(**plain | parts | {name: Frozen(flat[name]) for name in ("body", "meta")})


def unchanged_source(changed: Memory) -> list[str]:
    """Return what did not change together with a fact: the memory that it was drawn from."""
    source = changed.drawn_from
    return [] if source is None else [f"The memory {source}, from which it was drawn, is unchanged."]


def _own(kind: Any, flat: Mapping[str, Any]) -> dict[str, Any]:
    return {part.name: _read(flat[part.name], is_time=kind is Times) for part in fields(kind)}


def _read(value: Any, *, is_time: bool) -> Any:
    if is_time:
        return None if value is None else datetime.fromisoformat(value)
    return tuple(value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    from pieria.record.time import iso

    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value


class End(NamedTuple):
    """`what` is `memory` or `place`; `name` is a memory's id or a place's `wing/room`."""

    what: str
    name: str

    def __str__(self) -> str:
        return self.name
