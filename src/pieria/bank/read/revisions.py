"""Follow links between memories: revisions and derivations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pieria.record.link import REVISES as REVISES  # noqa: PLC0414 - links between revisions are looked for here
from pieria.record.link import End, Link
from pieria.store.protocol import Reader

OUTGROWN = "outgrown"
"""How a source link ends when the memory no longer rests on that source.

Earlier versions of the memory still contain the source's words.
"""
RESERVED = (REVISES,)
"""Relations that only the engine adds and removes, because its later work depends on them."""
AT_ONCE = 2_000


class Origin(NamedTuple):
    """How a memory was reached: the relation, and the memory it was reached from."""

    how: str
    of: str


def followed(reader: Reader, ids: Iterable[str], follows: Callable[[Link, str], bool]) -> dict[str, Origin | None]:
    """Return the ids, and every memory reached by links that `follows` accepts, nearest first, each with its origin.

    `follows` gets a link and the id at which the link starts.
    """
    found: dict[str, Origin | None] = dict.fromkeys(ids)
    fringe = list(found)
    while fringe:
        reached_now: list[str] = []
        for begin in range(0, len(fringe), AT_ONCE):
            part = fringe[begin : begin + AT_ONCE]
            started = set(part)
            for link in reader.links([End("memory", id) for id in part], every_version=True):
                for id, other in _ways(link):
                    if id in started and other not in found and follows(link, id):
                        found[other] = Origin(link.relation, id)
                        reached_now.append(other)
        fringe = reached_now
    return found


def reached(reader: Reader, ids: Iterable[str], follows: Callable[[Link, str], bool]) -> list[str]:
    """Return only the ids of `followed`."""
    return list(followed(reader, ids, follows))


def _ways(link: Link) -> tuple[tuple[str, str], ...]:
    """Return the ends of a link between memories in both directions, or nothing if the link does not count."""
    # An undone revision and an outgrown source still share words. Other ended links do not count.
    standing = link.known_until is None and link.ended in ("", OUTGROWN)
    if not standing and link.relation != REVISES:
        return ()
    if link.source.what != "memory" or link.target.what != "memory":
        return ()
    return (link.source.name, link.target.name), (link.target.name, link.source.name)
