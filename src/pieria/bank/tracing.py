"""Follows links between memories: revisions, and what was drawn from what."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from pieria.record.link import REVISES as REVISES  # noqa: PLC0414 - links between revisions are looked for here
from pieria.record.link import End, Link
from pieria.store.protocol import Reader

OUTGROWN = "outgrown"
"""How a tie to a source ends that is no source any more, while earlier versions still hold its words."""
RESERVED = (REVISES,)
"""Relations that the engine alone ties and unties, since what it does later rests on them."""


def reached(reader: Reader, ids: Iterable[str], follows: Callable[[Link, str], bool]) -> list[str]:
    """The ids, and every memory that links lead to which `follows` takes, given the link and the id it starts from."""
    found = dict.fromkeys(ids)
    waiting = deque(found)
    while waiting:
        id = waiting.popleft()
        for link in reader.links([End("memory", id)], every_version=True):
            # A revision that was undone held the words all the same, and so did what has outgrown its source;
            # whatever else was untied is tied no more.
            standing = link.known_until is None and link.ended in ("", OUTGROWN)
            if not standing and link.relation != REVISES:
                continue
            if link.source.what != "memory" or link.target.what != "memory" or not follows(link, id):
                continue
            other = link.source.name if link.target.name == id else link.target.name
            if other not in found:
                found[other] = None
                waiting.append(other)
    return list(found)
