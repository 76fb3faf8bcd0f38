"""The seven types of node: what was lived, what was learnt from it, and what leads there.

A node is a value: to change one is to make another. Where nodes are kept, and what they are tied to besides, is the
business of a graph or a backend.
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
"""Between what was observed and what was done about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all types have. `links` are the ids it is tied to, by the type of the tie; each type is always there."""

    node_type: ClassVar[str] = ""
    id: str
    created_at: datetime = field(default_factory=system_clock)
    embedding: Sequence[float] | None = None
    links: Mapping[Edge, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", _every_type(self.links))
        object.__setattr__(self, "created_at", instant(self.created_at, "created_at"))

    @property
    def text(self) -> str:
        """What the node says, in one text."""
        raise NotImplementedError

    def linked(self, more: Mapping[Edge, Iterable[str]]) -> Self:
        """The node tied to these as well."""
        return replace(self, links={edge: self.links[edge].union(more.get(edge, ())) for edge in Edge})

    def unlinked(self, ids: Iterable[str]) -> Self:
        """The node tied to none of these."""
        gone = frozenset(ids)
        return replace(self, links={edge: tied - gone for edge, tied in self.links.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodic(Node):
    """One step: what was observed, what was done, and how well that served the subgoal."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Semantic(Node):
    """A fact, and how sure it is: from 0, inferred, to 1, said outright."""

    node_type: ClassVar[str] = "semantic"
    proposition: str
    confidence: float = 1.0

    @property
    def text(self) -> str:
        return self.proposition


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedural(Node):
    """What to do when, what to expect of it, and how well that went: `return_score` from 0 to 1."""

    node_type: ClassVar[str] = "procedural"
    instruction: str
    condition: str = ""
    expected_outcome: str = ""
    return_score: float | None = None

    @property
    def text(self) -> str:
        return self.instruction


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgoal(Node):
    """What a trajectory was after, on the way to the goal of its episode."""

    node_type: ClassVar[str] = "subgoal"
    description: str
    parent_goal: str | None = None

    @property
    def text(self) -> str:
        return self.description


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Node):
    """Where a step comes from: its episode, its number there, and the text as it came."""

    node_type: ClassVar[str] = "source"
    episode_id: str
    step_index: int
    plain_text: str | None = None

    @property
    def text(self) -> str:
        return self.plain_text or f"step {self.step_index} of {self.episode_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag(Node):
    """A concept by which facts are found."""

    node_type: ClassVar[str] = "tag"
    label: str

    @property
    def text(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Node):
    """A purpose by which procedures are found."""

    node_type: ClassVar[str] = "intent"
    description: str

    @property
    def text(self) -> str:
        return self.description


NODES: Mapping[str, type[Node]] = {
    kind.node_type: kind for kind in (Episodic, Semantic, Procedural, Subgoal, Source, Tag, Intent)
}
"""Every type by its name."""
NODE_TYPES = tuple(NODES)


def all_linked_ids(node: Node) -> set[str]:
    """Everything the node is tied to, whatever the type."""
    return set().union(*node.links.values())


class Ties(Frozen):
    """The ids a node is tied to, under every type of edge: what says so by its type is not looked through again."""

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
