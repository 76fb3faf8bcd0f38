"""Follows links between memories: revisions, and what was drawn from what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pieria.record.link import REVISES as REVISES  # noqa: PLC0414 - links between revisions are looked for here
from pieria.record.link import End, Link
from pieria.store.protocol import Reader

OUTGROWN = "outgrown"
"""How a tie to a source ends that is no source any more, while earlier versions still hold its words."""
RESERVED = (REVISES,)
"""Relations that the engine alone ties and unties, since what it does later rests on them."""
AT_ONCE = 2_000


class Origin(NamedTuple):
    """How a memory was reached: by which relation, and from which memory."""

    how: str
    of: str


def followed(reader: Reader, ids: Iterable[str], follows: Callable[[Link, str], bool]) -> dict[str, Origin | None]:
    """Return the ids, and every memory that links lead to which `follows` takes, nearest first, each with its origin.

    `follows` is given a link and the id at which the link starts.
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
    """Return the ids of `followed` alone."""
    return list(followed(reader, ids, follows))


def _ways(link: Link) -> tuple[tuple[str, str], ...]:
    """The ends of a link between memories that counts, either way round."""
    # A revision that was undone held the words all the same, and so did what has outgrown its source;
    # all else that was untied counts no longer.
    standing = link.known_until is None and link.ended in ("", OUTGROWN)
    if not standing and link.relation != REVISES:
        return ()
    if link.source.what != "memory" or link.target.what != "memory":
        return ()
    return (link.source.name, link.target.name), (link.target.name, link.source.name)
