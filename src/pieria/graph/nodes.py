"""The seven types of nodes: experience, the knowledge drawn from it, and the routing nodes.

A node is an immutable value. Storage and links between nodes belong to graphs and backends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Self

from pieria.errors import InputError
from pieria.graph.edge import Edge
from pieria.record.memory import Frozen
from pieria.record.time import instant, system_clock

EDGES = tuple(Edge)
ARROW = " → "
"""Separates the observation from the action in a text."""
SHOWN = 60
"""Characters of a text that a node prints."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Node:
    """The fields of all types. `links` are ids by edge type; every type is always present."""

    node_type: ClassVar[str] = ""
    id: str
    created_at: datetime = field(default_factory=system_clock)
    embedding: Sequence[float] | None = None
    links: Mapping[Edge, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", _every_type(self.links))
        object.__setattr__(self, "created_at", instant(self.created_at, "created_at"))

    def __repr__(self) -> str:
        """Return the type, the id and the beginning of the text: a vector would fill the screen."""
        more = "…" if len(self.text) > SHOWN else ""
        return f"<{type(self).__name__} {self.id}: {self.text[:SHOWN]!r}{more}>"

    @property
    def text(self) -> str:
        """Return the node's content as one text."""
        raise NotImplementedError

    def linked(self, more: Mapping[Edge, Iterable[str]]) -> Self:
        """Return the node with further links."""
        return replace(self, links={edge: self.links[edge].union(more.get(edge, ())) for edge in Edge})

    def unlinked(self, ids: Iterable[str]) -> Self:
        """Return the node without links to these ids."""
        gone = frozenset(ids)
        return replace(self, links={edge: tied - gone for edge, tied in self.links.items()})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Episodic(Node):
    """One step: the observation, the action, and how well it served the subgoal."""

    node_type: ClassVar[str] = "episodic"
    observation: str
    action: str
    state: str = ""
    subgoal: str = ""
    reward: float | None = None
    trajectory_id: str = ""

    @property
    def text(self) -> str:
        return f"{self.observation}{ARROW}{self.action}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Semantic(Node):
    """A fact with its confidence: from 0, inferred, to 1, stated explicitly."""

    node_type: ClassVar[str] = "semantic"
    proposition: str
    confidence: float = 1.0

    @property
    def text(self) -> str:
        return self.proposition


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Procedural(Node):
    """What to do under a condition, the expected outcome, and how well it went: `return_score` from 0 to 1."""

    node_type: ClassVar[str] = "procedural"
    instruction: str
    condition: str = ""
    expected_outcome: str = ""
    return_score: float | None = None

    @property
    def text(self) -> str:
        return self.instruction


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Subgoal(Node):
    """The aim of a trajectory, on the way to the goal of its episode."""

    node_type: ClassVar[str] = "subgoal"
    description: str
    parent_goal: str | None = None

    @property
    def text(self) -> str:
        return self.description


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Source(Node):
    """The origin of a step: its episode, its number there, and the original text."""

    node_type: ClassVar[str] = "source"
    episode_id: str
    step_index: int
    plain_text: str | None = None

    @property
    def text(self) -> str:
        return self.plain_text or f"step {self.step_index} of {self.episode_id}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tag(Node):
    """A concept that facts are found by."""

    node_type: ClassVar[str] = "tag"
    label: str

    @property
    def text(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Intent(Node):
    """A purpose that procedures are found by."""

    node_type: ClassVar[str] = "intent"
    description: str

    @property
    def text(self) -> str:
        return self.description


NODES: Mapping[str, type[Node]] = {
    kind.node_type: kind for kind in (Episodic, Semantic, Procedural, Subgoal, Source, Tag, Intent)
}
"""Every node type by name."""
NODE_TYPES = tuple(NODES)


def all_linked_ids(node: Node) -> set[str]:
    """Return all ids that the node is linked to, over all edge types."""
    return set().union(*node.links.values())


class Ties(Frozen):
    """Links of a node for every edge type. This class marks them as checked."""

    __slots__ = ()


def _every_type(links: object) -> Mapping[Any, frozenset[str]]:
    if type(links) is Ties:
        return links
    if not isinstance(links, Mapping):
        raise InputError("links", "a mapping of edge types to ids", links)
    for edge, ids in links.items():
        if edge not in EDGES:
            raise InputError("links", "one of " + ", ".join(EDGES), edge)
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise InputError(f"links.{edge}", "a set of ids", ids)
    return Ties({edge: frozenset(links.get(edge, ())) for edge in EDGES})
