"""Graph: memories, tags, intents, entities and rooms with their links, from one node outwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from pieria.doors.http.schemas import several, text, whole
from pieria.doors.web.page import Answer, Asked, Page, Sent, Shown, View, day
from pieria.doors.web.zones import END, Zone
from pieria.errors import InputError, NotFoundError
from pieria.language.index_terms import compared
from pieria.record.fact import is_blank
from pieria.record.link import End
from pieria.record.memory import KINDS
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria import Fact, Memory
    from pieria.bank.results.general import Neighborhood
    from pieria.bank.results.general import Page as Listed

SEEDS, FOUND = 40, 12
"""Latest changes shown without a query, and results of a search."""
MOST = 2_000
AT_ONCE = 100
"""Nodes whose links are loaded together. Links that find no room on the page are loaded in vain."""
LABEL = 80
TIES, LONE, CUT = 400, 200, 5
"""Most rows of the table: links, unlinked nodes, and names of nodes with more links than are shown."""
MEMORY, PLACE, ENTITY, TAG = "memory", "place", "entity", "tag"
SHARED: Mapping[str, str] = {PLACE: "place", ENTITY: "entities", TAG: "tags"}
"""Nodes that matter only if they connect several memories, with the list's filter for each."""
LISTED: Mapping[str, tuple[str, str]] = {
    PLACE: ("memories", "place"), ENTITY: ("time/facts", "entity"), TAG: ("memories", "tags"),
}  # fmt: skip
"""The page that lists all items of a node, and the field that names the node."""
EVERY_KIND = (*KINDS, PLACE, ENTITY)
TAKES = {
    "node": text("The node to start from: memory:ID, place:WING/ROOM, entity:NAME or tag:NAME."),
    "q": text("A query; the graph starts from its results."),
    "kinds": several("Only these.", *EVERY_KIND),
    "since": day("Said on that day or later."),
    "until": day("Said on that day or earlier.", END),
    "hops": whole("The number of hops.", 1, 3),
    "around": several("The nodes to show with all their neighbours."),
}


@dataclass(frozen=True, slots=True)
class Reach:
    """Most links shown of a node, and most names of each kind shown of a memory."""

    each: int
    named: int


NEAR, WIDE = Reach(60, 12), Reach(400, 400)
"""Limits for each node that is drawn, and for the node that was asked for."""


@dataclass(frozen=True, slots=True)
class Node:
    """`key` holds the node's kind and id; `to` is the address that opens it."""

    key: str
    kind: str
    label: str
    to: str
    at: datetime | None = None
    is_focus: bool = False

    def as_dict(self, zone: Zone) -> dict[str, Any]:
        told = {"id": self.key, "kind": self.kind, "label": self.label, "to": self.to, "focus": self.is_focus}
        if self.at is None:
            return told
        return {**told, "at": iso(self.at), "day": zone.day(self.at).isoformat(), "time": zone.written(self.at)}


@dataclass(frozen=True, slots=True)
class Tie:
    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class Sieve:
    """The memories to show: by kind, and by when they were said."""

    kinds: tuple[str, ...]
    since: datetime | None
    until: datetime | None

    @staticmethod
    def of(asked: Asked) -> Sieve:
        kinds = tuple(kind for kind in asked.given.get("kinds", ()) if kind in KINDS)
        return Sieve(kinds, asked.moments.get("since"), asked.moments.get("until"))

    def covers(self, at: datetime) -> bool:
        return (self.since is None or self.since <= at) and (self.until is None or at < self.until)

    @property
    def asked(self) -> Mapping[str, Any]:
        """Return the filters of a list of memories."""
        return {"kinds": self.kinds or None, "since": self.since, "until": self.until}


@dataclass(slots=True)
class Drawn:
    """The drawing: nodes by key, and the links between them. `cut` are nodes with more links than shown; `is_full`
    says that nodes were left out for lack of room.
    """

    asked: Asked
    sieve: Sieve
    nodes: dict[str, Node] = field(default_factory=dict)
    ties: dict[Tie, None] = field(default_factory=dict)
    looked: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    is_full: bool = False
    memories: dict[str, Memory] = field(default_factory=dict)
    led: dict[str | End, Neighborhood] = field(default_factory=dict)
    """Neighbours by end, for the nodes to expand next."""
    held: dict[str, Mapping[str | End, Listed]] = field(default_factory=dict)
    """Memories in a place, with an entity or with a tag, by that place, entity or tag."""
    stated: dict[str, list[Fact]] = field(default_factory=dict)
    """Facts by the entity that they are about. An entity without visible facts has an empty list."""
    spelt: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names compare without case; the first spelling met is shown."""

    # --- what there is

    def memory(self, memory: Memory, *, is_focus: bool = False) -> str:
        key = f"{MEMORY}:{memory.id}"
        if (is_focus or self.sieve.covers(memory.at)) and self._has_room(key):
            words = " ".join((memory.title or memory.text)[: 4 * LABEL].split())
            label = words if len(words) <= LABEL else f"{words[: LABEL - 1]}…"
            to = self.asked.path("memory", id=memory.id)
            self.nodes[key] = Node(key, memory.kind, label, to, memory.at, is_focus)
            self.memories[key] = memory
        return key

    def place(self, name: str, *, is_focus: bool = False) -> str:
        return self._named(PLACE, name, is_focus)

    def entity(self, name: str, *, is_focus: bool = False) -> str:
        return self._named(ENTITY, name, is_focus)

    def tag(self, name: str, *, is_focus: bool = False) -> str:
        return self._named(TAG, name, is_focus)

    def _named(self, what: str, name: str, is_focus: bool) -> str:
        key = self.spelt.setdefault((what, name if what == PLACE else compared(name)), f"{what}:{name}")
        if self._has_room(key):
            path, field = LISTED[what]
            asked = {field: [name] if what == TAG else name}
            self.nodes[key] = Node(key, what, name, self.asked.path(path, **asked), None, is_focus)
        return key

    def _has_room(self, key: str) -> bool:
        """Return whether there is room for a new node."""
        if key in self.nodes:
            return False
        self.is_full = self.is_full or len(self.nodes) >= MOST
        return not self.is_full

    def tie(self, source: str, relation: str, target: str) -> None:
        if source in self.nodes and target in self.nodes:
            self.ties.setdefault(Tie(source, relation, target))

    # --- from one outwards

    def go_outwards(self, keys: Sequence[str], reach: Reach) -> None:
        """Expand nodes while there is room: more could not be shown, and loading takes seconds."""
        for start in range(0, len(keys), AT_ONCE):
            if self.is_full:
                return
            near = keys[start : start + AT_ONCE]
            self._ask(near, reach)
            for key in near:
                if self.is_full:
                    return
                self._look_around(key, reach)

    def look_around(self, key: str, reach: Reach) -> None:
        self._ask([key], reach)
        self._look_around(key, reach)

    def _ask(self, keys: Collection[str], reach: Reach) -> None:
        """Load all links of these nodes, with one query for each kind."""
        bank = self.asked.bank
        ends = [end for key in keys if (end := self._end(key)) is not None]
        self.led = bank.neighbors_each(ends, limit=reach.each) if ends else {}
        named: dict[str, list[str]] = {what: [] for what in SHARED}
        for key in keys:
            what, _, name = key.partition(":")
            if what in named:
                named[what].append(name)
        self.held = {
            what: bank.list_each(SHARED[what], names, limit=reach.each, **self.sieve.asked)
            for what, names in named.items()
            if names
        }
        entities = [name for name in named[ENTITY] if not is_blank(name)]
        self.stated = bank.facts.query_each(entities, limit=reach.each + 1) if entities else {}

    def _look_around(self, key: str, reach: Reach) -> None:
        self.looked.add(key)
        what, _, name = key.partition(":")
        _AROUND[what](self, key, name, reach)

    def _end(self, key: str) -> End | None:
        """Return the end that links may lead from. Revised memories have none: their links moved to the successor."""
        what, _, name = key.partition(":")
        if what == PLACE or (what == MEMORY and self.memories[key].superseded_by is None):
            return End(what, name)
        return None

    def _around_memory(self, key: str, id: str, reach: Reach) -> None:
        found = self.memories[key]
        if found.superseded_by is None:
            self._linked(key, End(MEMORY, id))
        else:
            newest = self.asked.bank.get(found.superseded_by)
            if newest is not None:
                self.tie(key, "was revised as", self.memory(newest))
        for name in self._first(key, found.entities, reach):
            self.tie(key, "names", self.entity(name))
        for name in self._first(key, found.tags, reach):
            self.tie(key, "is tagged", self.tag(name))
        if found.place != f"{self.asked.bank.name}/{found.kind}":
            # The default place holds every memory of a kind, so it connects nothing.
            self.tie(key, "in", self.place(found.place))

    def _first(self, key: str, names: Sequence[str], reach: Reach) -> Sequence[str]:
        if len(names) > reach.named:
            self.cut.add(key)
        return names[: reach.named]

    def _linked(self, key: str, end: End) -> None:
        found = self.led[end]
        if found.truncated:
            self.cut.add(key)
        for neighbor in found:
            if neighbor.memory is not None:
                self.memory(neighbor.memory)
            elif neighbor.place is not None:
                self.place(neighbor.place)
            link = neighbor.link
            self.tie(_key(link.source), link.relation, _key(link.target))

    def _holding(self, key: str, relation: str) -> None:
        """Link the memories that share this place, entity or tag."""
        what, _, name = key.partition(":")
        found = self.held[what][name]
        if found.cursor is not None:
            self.cut.add(key)
        for memory in found:
            self.tie(self.memory(memory), relation, key)

    def _around_place(self, key: str, name: str, reach: Reach) -> None:
        self._linked(key, End(PLACE, name))
        self._holding(key, "in")

    def _around_entity(self, key: str, name: str, reach: Reach) -> None:
        self._holding(key, "names")
        facts = self.stated.get(name, [])
        if len(facts) > reach.each:
            self.cut.add(key)
        for fact in facts[-reach.each :]:
            self.tie(self.entity(fact.subject), fact.predicate, self.entity(fact.object))

    def _around_tag(self, key: str, name: str, reach: Reach) -> None:
        self._holding(key, "is tagged")

    # --- what is left of it

    def without_strays(self, least: int) -> None:
        """Remove shared nodes with fewer links than `least`, except those linked to the name that was searched."""
        tied: Counter[str] = Counter()
        for tie in self.ties:
            for end, other in ((tie.source, tie.target), (tie.target, tie.source)):
                tied[end] += least if self.nodes[other].is_focus and _is_shared(other) else 1
        strays = {
            key for key, node in self.nodes.items() if _is_shared(key) and tied[key] < least and not node.is_focus
        }
        self._keep(lambda node: node.key not in strays)

    def of_kinds(self, kinds: Iterable[str]) -> None:
        wanted = set(kinds)
        self._keep(lambda node: node.kind in wanted or node.is_focus)

    def _keep(self, keeps: Callable[[Node], bool]) -> None:
        self.nodes = {key: node for key, node in self.nodes.items() if keeps(node)}
        self.ties = {tie: None for tie in self.ties if tie.source in self.nodes and tie.target in self.nodes}


_AROUND: Mapping[str, Callable[[Drawn, str, str, Reach], None]] = {
    MEMORY: Drawn._around_memory,
    PLACE: Drawn._around_place,
    ENTITY: Drawn._around_entity,
    TAG: Drawn._around_tag,
}


def _is_shared(key: str) -> bool:
    return key.partition(":")[0] in SHARED


def _key(end: End) -> str:
    return f"{end.what}:{end.name}"


def drawn(asked: Asked) -> Drawn:
    """Return the graph around the requested nodes, up to the given number of hops."""
    given, found = asked.given, Drawn(asked, Sieve.of(asked))
    is_of_one = "node" in given
    edge, reach = [key for key in _begun(found) if key in found.nodes], WIDE if is_of_one else NEAR
    for _ in range(given.get("hops", 1)):
        found.go_outwards(edge, reach)
        edge, reach = [key for key in found.nodes if key not in found.looked], NEAR
    found.without_strays(1 if is_of_one else 2)
    for key in given.get("around", ()):
        if key in found.nodes:
            found.look_around(key, WIDE)
    if given.get("kinds"):
        found.of_kinds(given["kinds"])
    return found


def _begun(found: Drawn) -> list[str]:
    """Return the start: one node, the results of a search, or the latest changes."""
    asked, given, sieve = found.asked, found.asked.given, found.sieve
    if "node" in given and "q" in given:
        raise InputError("q", "no value together with node", given["q"])
    if "node" in given:
        return [_focused(found, given["node"])]
    if "q" in given:
        hits = asked.bank.recall(given["q"], k=FOUND, counted=False, since=sieve.since, until=sieve.until)
        memories = [found.memory(hit.memory, is_focus=True) for hit in hits]
        return [*_called(found, given["q"]), *memories]
    seeds = asked.bank.list(order="changed", limit=SEEDS, **sieve.asked)
    return [found.memory(memory) for memory in seeds]


def _called(found: Drawn, name: str) -> list[str]:
    """Return the keys of entities and tags with this name. Longer text is a question, not an entity."""
    wanted, memories = compared(name), [*found.memories.values()]
    entities = [each for memory in memories for each in memory.entities if compared(each) == wanted]
    if len(name) <= LABEL and name.isprintable():
        facts = found.asked.bank.facts.query(entity=name, history=True, limit=1)
        entities += [end for fact in facts for end in (fact.subject, fact.object, name) if compared(end) == wanted]
    tags = [each for memory in memories for each in memory.tags if compared(each) == wanted]
    keys = [found.entity(each, is_focus=True) for each in entities] + [found.tag(each, is_focus=True) for each in tags]
    return list(dict.fromkeys(keys))


def _focused(found: Drawn, key: str) -> str:
    what, _, name = key.partition(":")
    if what == MEMORY and name:
        memory = found.asked.bank.get(name)
        if memory is None:
            raise NotFoundError("memory", name, hint="List or recall memories to find their ids.")
        return found.memory(memory, is_focus=True)
    if what == PLACE and name:
        return found.place(name, is_focus=True)
    if what == ENTITY and name:
        return found.entity(name, is_focus=True)
    if what == TAG and name:
        return found.tag(name, is_focus=True)
    raise InputError("node", "memory:ID, place:WING/ROOM, entity:NAME or tag:NAME", key)


def _page(asked: Asked) -> Answer:
    found, given = drawn(asked), asked.again
    around = given.get("around", [])
    tied = {end for tie in found.ties for end in (tie.source, tie.target)}
    values = {
        "given": given,
        "around": around,
        "found": found,
        "focus": next((node for node in found.nodes.values() if node.is_focus), None) if "node" in given else None,
        "counts": Counter(node.kind for node in found.nodes.values()).most_common(),
        "rows": _rows(found),
        "lone": [(node, key not in found.looked) for key, node in found.nodes.items() if key not in tied],
        "shown": {"ties": TIES, "lone": LONE, "cut": CUT},
        "cut": [node for key, node in found.nodes.items() if key in found.cut],
        "further": lambda key: asked.path("graph", **{**given, "around": [*around, key]}),
        "here": asked.path("graph", **given),
        "source": asked.path("graph/data", **given),
        "kinds": EVERY_KIND,
    }
    return Shown("graph/graph.html", values, part="ties")


def _rows(found: Drawn) -> list[tuple[tuple[Node, bool], str, tuple[Node, bool]]]:
    """Return the first links, each end with whether more may be around it. Each node says so once."""
    told = found.looked - found.cut

    def end(key: str) -> tuple[Node, bool]:
        is_news = key not in told
        told.add(key)
        return found.nodes[key], is_news

    return [(end(tie.source), tie.relation, end(tie.target)) for tie in islice(found.ties, TIES)]


def _data(asked: Asked) -> Answer:
    found = drawn(asked)
    told = {
        "nodes": [
            {**node.as_dict(asked.zone), "more": key in found.cut, "open": key in found.looked}
            for key, node in found.nodes.items()
        ],
        "links": [{"source": tie.source, "relation": tie.relation, "target": tie.target} for tie in found.ties],
    }
    return Sent(json.dumps(told).encode(), "application/json")


PAGE = Page(
    name="graph",
    title="Graph",
    key="a",
    about="memories and their links, as a graph",
    views=(View("GET graph", _page, TAKES), View("GET graph/data", _data, TAKES)),
    css=("graph/graph.css",),
    scripts=("vendor/force-graph.js", "graph/graph.js"),
)
