"""Less than a whole memory: what a reader gives of many, for a fraction of the cost."""

from __future__ import annotations

from typing import NamedTuple


class Excerpt(NamedTuple):
    """How a text of so many characters begins and ends."""

    begin: str
    end: str
    length: int


class Tie(NamedTuple):
    """A link between memories from where one of its ends stands. That which was written later has a higher entry."""

    id: str
    other: str
    relation: str
    entry: int


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
