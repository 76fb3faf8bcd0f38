"""Walk from memories and places along their links. Many starts need no more store queries than one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pieria.bank.results.general import Neighbor
from pieria.record.filter import Filter
from pieria.record.link import SYMMETRIC, End, Link
from pieria.record.memory import Memory
from pieria.store.protocol import Reader

DIRECTIONS = ("both", "out", "in")


class Way(NamedTuple):
    """How to walk: the relation (None for any), the direction, and the number of hops."""

    relation: str | None
    direction: str
    hops: int


def walked(reader: Reader, filter: Filter, starts: Sequence[End], way: Way, most: int) -> list[list[Neighbor]]:
    """Return for each start the visible ends of its links, nearest first, then oldest link first.

    Each start gets at most `most` neighbors, and no more of a hub is read than needed to find them.
    """
    walks = [_Walk(start, most) for start in starts]
    met: dict[str, Memory | None] = {}
    for hop in range(1, way.hops + 1):
        going = [walk for walk in walks if walk.edge and not walk.is_done]
        edge = list(dict.fromkeys(end for walk in going for end in walk.edge))
        steps = _steps(reader.links(edge, way.relation), way.direction) if edge else {}
        for walk in going:
            walk.look_ahead(steps)
        number = most
        while going := [walk for walk in going if walk.ahead and not walk.is_done]:
            _meet(reader, filter, (end for walk in going for end, _ in walk.ahead[:number]), met)
            for walk in going:
                walk.go_on(hop, number, met)
            number *= 2
    return [walk.found for walk in walks]


class _Step(NamedTuple):
    """A step over a link to its other end. `place` is the link's position among all links."""

    place: int
    to: End
    link: Link


class _Walk:
    """A walk from one end. `edge` is what the last hop reached, and `ahead` what the next may reach."""

    def __init__(self, start: End, most: int) -> None:
        self.found: list[Neighbor] = []
        self.edge = [start]
        self.ahead: list[tuple[End, Link]] = []
        self._seen = {start}
        self._most = most

    @property
    def is_done(self) -> bool:
        return len(self.found) == self._most

    def look_ahead(self, steps: Mapping[End, Sequence[_Step]]) -> None:
        reached: dict[End, Link] = {}
        for step in sorted((step for end in self.edge for step in steps.get(end, ())), key=lambda step: step.place):
            if step.to not in self._seen:
                reached.setdefault(step.to, step.link)
        self.edge, self.ahead = [], list(reached.items())

    def go_on(self, hop: int, number: int, met: Mapping[str, Memory | None]) -> None:
        """Step to the next `number` ends, if they are visible."""
        near, self.ahead = self.ahead[:number], self.ahead[number:]
        for end, link in near:
            is_place = end.what == "place"
            memory = None if is_place else met[end.name]
            if not self.is_done and (is_place or memory is not None):
                self.found.append(Neighbor(link, hop, memory, end.name if is_place else None))
                self.edge.append(end)
                self._seen.add(end)


def _steps(links: Iterable[Link], direction: str) -> dict[End, list[_Step]]:
    """Return the steps over the links, by their start."""
    steps: dict[End, list[_Step]] = {}
    for place, link in enumerate(links):
        both = direction == "both" or link.relation in SYMMETRIC
        if both or direction == "out":
            steps.setdefault(link.source, []).append(_Step(place, link.target, link))
        if both or direction == "in":
            steps.setdefault(link.target, []).append(_Step(place, link.source, link))
    return steps


def _meet(reader: Reader, filter: Filter, ends: Iterable[End], met: dict[str, Memory | None]) -> None:
    """Read the memories not met yet. None marks one that is not visible."""
    new = dict.fromkeys(end.name for end in ends if end.what == "memory" and end.name not in met)
    if new:
        met.update(new)
        met.update((memory.id, memory) for memory in reader.select(filter.having(ids=tuple(new)), limit=len(new)))
