"""Less than a whole memory: what a reader gives of many, for a fraction of the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple

from pieria.record.decay import Wear
from pieria.record.glance import Glance
from pieria.record.memory import STATEMENT
from pieria.record.usage import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMOVED = "It was removed. Open it again, and it is a new, empty one."
"""What to tell whoever has a bank open that is not there any more."""


Run = tuple[str, ...]
"""Two or more terms, one right behind the other."""


class Terms(NamedTuple):
    """What a version holds of the asked terms: those that it holds, each so often as it does."""

    length: int
    distinct: int
    counts: Mapping[str, int]


class Told(NamedTuple):
    """A session that was told a memory, how often, and when first and last. Instants are microseconds."""

    id: str
    session: str
    times: int
    first: int
    last: int


class Tie(NamedTuple):
    """A link between memories from where one of its ends stands, with the version at the other. That which was written
    later has a higher entry. Instants are microseconds.
    """

    id: str
    relation: str
    entry: int
    row: int
    other: str
    kind: str
    at: int
    known_from: int


class Spot(NamedTuple):
    """A visible version, and since when it stands as it does. Instants are microseconds."""

    row: int
    id: str
    kind: str
    at: int
    known_from: int


class Written(NamedTuple):
    """When a version was written, in microseconds, and its tags as they are compared."""

    known_from: int
    version: int
    tags: tuple[str, ...]


class Outline(NamedTuple):
    """What ranking looks at of a visible version. Instants are microseconds."""

    row: int
    id: str
    kind: str
    at: int
    author: str | None
    author_type: str | None
    session: str | None
    channel: str | None
    scope: str
    importance: float
    strength: float
    trust: float
    valid_from: int | None
    pinned: bool
    speaker: str | None
    """Its author or, where none is known, whom its text begins with."""


@dataclass(slots=True)
class Met:
    """Visible versions by what ranking looks at: a column each, all in one order. Instants are microseconds."""

    rows: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    authors: list[str | None] = field(default_factory=list)
    author_types: list[str | None] = field(default_factory=list)
    sessions: list[str | None] = field(default_factory=list)
    channels: list[str | None] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    importance: list[float] = field(default_factory=list)
    strength: list[float] = field(default_factory=list)
    valid_from: list[int | None] = field(default_factory=list)
    used: list[Usage] = field(default_factory=list)

    def extend(self, more: Met) -> None:
        for column in fields(self):
            getattr(self, column.name).extend(getattr(more, column.name))


@dataclass(frozen=True, slots=True)
class Parts:
    """Of long texts the parts that hold something of what is asked for: in which line each is, what it holds, and how
    many terms it has."""

    lines: NDArray[np.intp]
    counts: NDArray[np.float64]
    lengths: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Holdings:
    """What rows hold of the asked terms: of counts a line a term or run, and a column a row."""

    rows: list[int]
    counts: NDArray[np.float64]
    lengths: NDArray[np.float64]
    distinct: NDArray[np.float64]
    runs: NDArray[np.float64]
    parts: Parts
    glances: list[Glance]


class Placed(NamedTuple):
    """Where a memory is kept, and what else is known of it there. Instants are microseconds."""

    id: str
    place: str
    type: str
    """Its kind, where it bears none."""
    at: int
    valid_from: int | None
    valid_until: int | None
    entities: tuple[str, ...]


class Aged(NamedTuple):
    """What the fading of a visible version follows from. Of its tags, which nothing but a half-life of theirs asks for,
    the wear has none.
    """

    row: int
    id: str
    importance: float
    wear: Wear


class Tallied(NamedTuple):
    """How many memories are alike in all of this."""

    ended: str
    kind: str
    status: str
    tier: str
    scope: str
    number: int


class SessionSpan(NamedTuple):
    """A session by what may be seen of it: when that begins and ends, and how many memories stand.

    None is what was said outside of any. Instants are microseconds.
    """

    session: str | None
    first: int
    last: int
    memories: int


def counts(tally: Iterable[Tallied], totals: Mapping[str, int]) -> dict[str, int]:
    """What a bank is told to hold: the memories that stand and those that were removed, and all else.

    What only states a fact counts as that fact.
    """
    by_ending = Counter[str]()
    for each in tally:
        by_ending[each.ended] += each.number if each.kind != STATEMENT else 0
    memories, removed = by_ending[""], by_ending["removed"]
    return {"memories": memories, "versions": totals["versions"], "removed": removed, **totals}
