"""Graph: memories, tags, intents, entities and rooms with what ties them, from one of them outwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pieria.doors.http.schemas import several, text, whole
from pieria.doors.web.page import Answer, Asked, Page, Sent, Shown, View
from pieria.errors import InputError, NotFoundError
from pieria.record.link import End
from pieria.record.memory import KINDS
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria import Memory

SEEDS, FOUND, EACH = 40, 12, 60
"""So many of the latest changes are shown where nothing is asked for; so many that a search finds; and so many that any
one of them is tied to.
"""
MOST = 2_000
NAMED = 12
"""Of what one memory names, so much is shown."""
LABEL = 80
MEMORY, PLACE, ENTITY, TAG = "memory", "place", "entity", "tag"
SHARED = (PLACE, ENTITY, TAG)
"""Of interest where they tie several together."""
EVERY_KIND = (*KINDS, PLACE, ENTITY)
TAKES = {
    "node": text("From where to look: memory:ID, place:WING/ROOM, entity:NAME or tag:NAME."),
    "q": text("What to look for; what is found is where to look from."),
    "kinds": several("Only these.", *EVERY_KIND),
    "since": text("Said on that day or later."),
    "until": text("Said on that day or earlier."),
    "hops": whole("How far to go from there.", 1, 3),
}


@dataclass(frozen=True, slots=True)
class Node:
    """`key` says what it is, and which; `to` is where it is opened."""

    key: str
    kind: str
    label: str
    to: str
    at: datetime | None = None
    is_focus: bool = False

    def as_dict(self) -> dict[str, Any]:
        at = None if self.at is None else iso(self.at)
        return {"id": self.key, "kind": self.kind, "label": self.label, "to": self.to, "at": at, "focus": self.is_focus}


@dataclass(frozen=True, slots=True)
class Tie:
    source: str
    relation: str
    target: str


@dataclass(slots=True)
class Drawn:
    """What is shown: nodes by their keys, and ties between them."""

    asked: Asked
    nodes: dict[str, Node] = field(default_factory=dict)
    ties: dict[Tie, None] = field(default_factory=dict)
    looked: set[str] = field(default_factory=set)

    # --- what there is

    def memory(self, memory: Memory, *, is_focus: bool = False) -> str:
        label = " ".join((memory.title or memory.text)[: 4 * LABEL].split())[:LABEL]
        to = self.asked.path("memory", id=memory.id)
        return self._put(Node(f"{MEMORY}:{memory.id}", memory.kind, label, to, memory.at, is_focus))

    def place(self, name: str, *, is_focus: bool = False) -> str:
        return self._put(Node(f"{PLACE}:{name}", PLACE, name, self.asked.path("memories", place=name), None, is_focus))

    def entity(self, name: str, *, is_focus: bool = False) -> str:
        to = self.asked.path("time/facts", entity=name)
        return self._put(Node(f"{ENTITY}:{name}", ENTITY, name, to, None, is_focus))

    def tag(self, name: str, *, is_focus: bool = False) -> str:
        return self._put(Node(f"{TAG}:{name}", TAG, name, self.asked.path("memories", tags=name), None, is_focus))

    def _put(self, node: Node) -> str:
        if node.key not in self.nodes and len(self.nodes) < MOST:
            self.nodes[node.key] = node
        return node.key

    def tie(self, source: str, relation: str, target: str) -> None:
        if source in self.nodes and target in self.nodes:
            self.ties.setdefault(Tie(source, relation, target))

    # --- from one outwards

    def look_around(self, key: str) -> None:
        if key not in self.looked:
            self.looked.add(key)
            what, _, name = key.partition(":")
            _AROUND[what](self, key, name)

    def _around_memory(self, key: str, id: str) -> None:
        found = self.asked.bank.get(id)
        if found is None:
            return
        self._linked(found.id)
        for name in found.entities[:NAMED]:
            self.tie(key, "names", self.entity(name))
        for name in found.tags[:NAMED]:
            self.tie(key, "is tagged", self.tag(name))
        if found.place != f"{self.asked.bank.name}/{found.kind}":
            # Where nobody put it, it lies with all of its kind, and that ties nothing.
            self.tie(key, "in", self.place(found.place))

    def _linked(self, end: str | End) -> None:
        for neighbor in self.asked.bank.neighbors(end, limit=EACH):
            if neighbor.memory is not None:
                self.memory(neighbor.memory)
            elif neighbor.place is not None:
                self.place(neighbor.place)
            link = neighbor.link
            self.tie(_key(link.source), link.relation, _key(link.target))

    def _around_place(self, key: str, name: str) -> None:
        self._linked(End(PLACE, name))
        for memory in self.asked.bank.list(place=name, limit=EACH):
            self.tie(self.memory(memory), "in", key)

    def _around_entity(self, key: str, name: str) -> None:
        for memory in self.asked.bank.list(entities=[name], limit=EACH):
            self.tie(self.memory(memory), "names", key)
        for fact in self.asked.bank.facts.query(entity=name, limit=EACH):
            self.tie(self.entity(fact.subject), fact.predicate, self.entity(fact.object))

    def _around_tag(self, key: str, name: str) -> None:
        for memory in self.asked.bank.list(tags=[name], limit=EACH):
            self.tie(self.memory(memory), "is tagged", key)

    # --- what is left of it

    def without_strays(self) -> None:
        """Takes away what only one thing names, or lies in."""
        tied = Counter(end for tie in self.ties for end in (tie.source, tie.target))
        strays = {
            key
            for key, node in self.nodes.items()
            if key.partition(":")[0] in SHARED and tied[key] < 2 and not node.is_focus
        }
        self._keep(lambda node: node.key not in strays)

    def of_kinds(self, kinds: Iterable[str]) -> None:
        wanted = set(kinds)
        self._keep(lambda node: node.kind in wanted or node.is_focus)

    def _keep(self, keeps: Callable[[Node], bool]) -> None:
        self.nodes = {key: node for key, node in self.nodes.items() if keeps(node)}
        self.ties = {tie: None for tie in self.ties if tie.source in self.nodes and tie.target in self.nodes}


_AROUND: Mapping[str, Callable[[Drawn, str, str], None]] = {
    MEMORY: Drawn._around_memory,
    PLACE: Drawn._around_place,
    ENTITY: Drawn._around_entity,
    TAG: Drawn._around_tag,
}


def _key(end: End) -> str:
    return f"{end.what}:{end.name}"


def drawn(asked: Asked) -> Drawn:
    """What is asked for, with what is around it, as far as it was asked to go."""
    given, found = asked.given, Drawn(asked)
    edge = _begun(found)
    for _ in range(given.get("hops", 1)):
        for key in edge:
            found.look_around(key)
        edge = [key for key in found.nodes if key not in found.looked]
    if "node" not in given:
        found.without_strays()
    if given.get("kinds"):
        found.of_kinds(given["kinds"])
    return found


def _begun(found: Drawn) -> list[str]:
    """Where it begins: at one node, at what a search finds, or at what has changed last."""
    asked, given = found.asked, found.asked.given
    times = {name: given[name] for name in ("since", "until") if name in given}
    if "node" in given:
        return [_focused(found, given["node"])]
    if "q" in given:
        hits = asked.bank.recall(given["q"], k=FOUND, counted=False, **times)
        return [found.memory(hit.memory, is_focus=True) for hit in hits]
    of_memories = [kind for kind in given.get("kinds", ()) if kind in KINDS]
    seeds = asked.bank.list(order="changed", limit=SEEDS, kinds=of_memories or None, **times)
    return [found.memory(memory) for memory in seeds]


def _focused(found: Drawn, key: str) -> str:
    what, _, name = key.partition(":")
    if what == MEMORY and name:
        memory = found.asked.bank.get(name)
        if memory is None:
            raise NotFoundError("memory", name, hint="A list or a recall leads to the memories there are.")
        return found.memory(memory, is_focus=True)
    if what == PLACE and name:
        return found.place(name, is_focus=True)
    if what == ENTITY and name:
        return found.entity(name, is_focus=True)
    if what == TAG and name:
        return found.tag(name, is_focus=True)
    raise InputError("node", "memory:ID, place:WING/ROOM, entity:NAME or tag:NAME", key)


def _page(asked: Asked) -> Answer:
    found = drawn(asked)
    values = {
        "given": asked.given,
        "nodes": found.nodes,
        "ties": list(found.ties),
        "lone": [
            node for key, node in found.nodes.items() if not any(key in (tie.source, tie.target) for tie in found.ties)
        ],
        "source": asked.path("graph/data", **asked.given),
        "data": asked.path("graph/data"),
        "kinds": EVERY_KIND,
        "is_full": len(found.nodes) >= MOST,
    }
    return Shown("graph/graph.html", values, part="ties")


def _data(asked: Asked) -> Answer:
    found = drawn(asked)
    told = {
        "nodes": [node.as_dict() for node in found.nodes.values()],
        "links": [{"source": tie.source, "relation": tie.relation, "target": tie.target} for tie in found.ties],
    }
    return Sent(json.dumps(told).encode(), "application/json")


PAGE = Page(
    name="graph",
    title="Graph",
    key="a",
    about="what is tied to what, from one thing outwards",
    views=(View("GET graph", _page, TAKES), View("GET graph/data", _data, TAKES)),
    css=("graph/graph.css",),
    scripts=("vendor/force-graph.js", "graph/graph.js"),
)
