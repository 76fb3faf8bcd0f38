"""Parts of memories: what a reader returns of many memories at a fraction of the cost of whole ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple

from pieria.language.glance import Glance
from pieria.record.decay import Wear
from pieria.record.memory import STATEMENT
from pieria.record.usage import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMOVED = "The bank was removed. To create a new, empty one, open it again."
"""Hint for a caller whose open bank was removed."""


Run = tuple[str, ...]
"""Two or more consecutive terms."""


class Terms(NamedTuple):
    """Counts of the asked terms that a version contains."""

    length: int
    distinct: int
    counts: Mapping[str, int]


class Told(NamedTuple):
    """A session that was shown a memory: how often, and when first and last. Instants are microseconds."""

    id: str
    session: str
    times: int
    first: int
    last: int


class Tie(NamedTuple):
    """A link seen from one of its ends, with the visible version at the other end. A later link has a higher entry.
    Instants are microseconds.
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
    """A visible version and since when it is current. Instants are microseconds."""

    row: int
    id: str
    kind: str
    at: int
    known_from: int


class Written(NamedTuple):
    """When a version was written, in microseconds, and its tags in their form for comparison."""

    known_from: int
    version: int
    tags: tuple[str, ...]


class Outline(NamedTuple):
    """The columns of a visible version that ranking uses. Instants are microseconds."""

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
    """The author or, if none is known, the name that the text begins with."""


@dataclass(slots=True)
class Met:
    """The columns of visible versions that ranking uses, all in the same order. Instants are microseconds."""

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
    """The parts of long texts that contain asked terms: each one's line, its counts and its number of terms."""

    lines: NDArray[np.intp]
    counts: NDArray[np.float64]
    lengths: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Holdings:
    """Counts of the asked terms in rows. Arrays of counts have a line a term or run, and a column a row."""

    rows: list[int]
    counts: NDArray[np.float64]
    lengths: NDArray[np.float64]
    distinct: NDArray[np.float64]
    runs: NDArray[np.float64]
    parts: Parts
    glances: list[Glance]


class Placed(NamedTuple):
    """A memory's place, and what else lists of places show. Instants are microseconds."""

    id: str
    place: str
    type: str
    """The memory's type, or its kind if it has none."""
    at: int
    valid_from: int | None
    valid_until: int | None
    entities: tuple[str, ...]


class Aged(NamedTuple):
    """The values that a visible version's decay depends on. The wear has no tags: only half-lives by tag need them."""

    row: int
    id: str
    importance: float
    wear: Wear


class Tallied(NamedTuple):
    """The number of memories that agree in all the other columns."""

    ended: str
    kind: str
    status: str
    tier: str
    scope: str
    number: int


class SessionSpan(NamedTuple):
    """A session's visible memories: when they begin and end, and how many have not ended.

    The session None holds memories outside of any. Instants are microseconds.
    """

    session: str | None
    first: int
    last: int
    memories: int


def counts(tally: Iterable[Tallied], totals: Mapping[str, int]) -> dict[str, int]:
    """Return a bank's counts for `stats`: current and removed memories, and all totals.

    A memory that only states a fact is left out: it counts as that fact.
    """
    by_ending = Counter[str]()
    for each in tally:
        by_ending[each.ended] += each.number if each.kind != STATEMENT else 0
    memories, removed = by_ending[""], by_ending["removed"]
    return {"memories": memories, "versions": totals["versions"], "removed": removed, **totals}
