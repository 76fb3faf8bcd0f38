"""Finds broken references: links to missing memories, and memories whose sources are all gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pieria.record.changeset import Changeset, Write
from pieria.record.link import DRAWN_FROM, Link, row_of
from pieria.record.reply import Reply
from pieria.store.protocol import Reader

BASELESS = "all that it was drawn from was removed"


@dataclass(frozen=True, slots=True)
class Problem(Reply):
    """`id` names a link if it is dangling, and a memory if it is baseless."""

    kind: str
    id: str
    detail: str


def problems(reader: Reader) -> list[Problem]:
    links = reader.links()
    memories = {end.name for link in links for end in (link.source, link.target) if end.what == "memory"}
    states = reader.states(sorted(memories))
    standing = {id for id, stored in states.items() if not stored.state.ended}
    found = [
        Problem("dangling link", link.id, f"{end.name} is not there")
        for link in links
        for end in (link.source, link.target)
        if end.what == "memory" and end.name not in states
    ]
    found += [
        Problem("baseless", id, BASELESS)
        for id, sources in _sources(links).items()
        if id in standing and states[id].state.status != "archived" and not standing.intersection(sources)
    ]
    return found


def repairs(reader: Reader, found: Sequence[Problem]) -> Changeset:
    """End dangling links, and archive memories without any source left."""
    dangling = [problem.id for problem in found if problem.kind == "dangling link"]
    baseless = [problem.id for problem in found if problem.kind == "baseless"]
    changeset = Changeset("repair")
    if dangling:
        changeset.links = [row_of(link)._replace(ended="removed") for link in reader.links(ids=sorted(set(dangling)))]
    states = reader.states(baseless)
    changeset.writes = [Write(stored.state._replace(status="archived", reason=BASELESS)) for stored in states.values()]
    return changeset


def _sources(links: Sequence[Link]) -> dict[str, list[str]]:
    drawn: dict[str, list[str]] = {}
    for link in links:
        if link.relation == DRAWN_FROM and link.source.what == link.target.what == "memory":
            drawn.setdefault(link.source.name, []).append(link.target.name)
    return drawn
