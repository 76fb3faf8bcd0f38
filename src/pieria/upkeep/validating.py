"""Whether what hangs together still does: links, provenance, and facts that rest on memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pieria.record.changeset import Changeset, Write
from pieria.record.fact import FactQuery
from pieria.record.filter import Filter, Viewer
from pieria.record.link import Link, row_of
from pieria.store.protocol import Reader

DRAWN_FROM = "provenance"
KINDS: Mapping[str, str] = {
    "dangling link": "it leads to a memory that is not there",
    "baseless": "all that it was drawn from was removed",
    "orphan fact": "the memory that it was drawn from is not there",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """`id` is of a link, a memory or a fact, as its kind says."""

    kind: str
    id: str
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "id": self.id, "detail": self.detail}


def problems(reader: Reader, now: int) -> list[Problem]:
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
        Problem("baseless", id, KINDS["baseless"])
        for id, sources in _sources(links).items()
        if id in standing and states[id].state.status != "archived" and not standing.intersection(sources)
    ]
    return found + _orphan_facts(reader, now)


def repairs(reader: Reader, found: Sequence[Problem]) -> Changeset:
    """Unties what leads nowhere, and puts away what has nothing left to stand on."""
    dangling = [problem.id for problem in found if problem.kind == "dangling link"]
    baseless = [problem.id for problem in found if problem.kind == "baseless"]
    changeset = Changeset("repair")
    if dangling:
        changeset.links = [row_of(link)._replace(ended="removed") for link in reader.links(ids=sorted(set(dangling)))]
    states = reader.states(baseless)
    changeset.writes = [
        Write(stored.state._replace(status="archived", reason=KINDS["baseless"])) for stored in states.values()
    ]
    return changeset


def _sources(links: Sequence[Link]) -> dict[str, list[str]]:
    drawn: dict[str, list[str]] = {}
    for link in links:
        if link.relation == DRAWN_FROM and link.source.what == link.target.what == "memory":
            drawn.setdefault(link.source.name, []).append(link.target.name)
    return drawn


def _orphan_facts(reader: Reader, now: int) -> list[Problem]:
    asked = Filter(now=now, viewer=Viewer(everything=True)).anything()
    held = reader.facts(FactQuery(), asked)
    ids = sorted({fact.memory for fact in held if fact.memory is not None})
    there = reader.states(ids)
    return [
        Problem("orphan fact", fact.id, f"{fact.memory} is not there")
        for fact in held
        if fact.memory is not None and fact.memory not in there
    ]
