"""How a graph is searched: what is near a question, and what is reached from there by the nodes that lead on.

Every node is valued alike, however it was found: by its relevance and its metadata. Exists so that a backend with
shorter ways of its own can take these, and any other is searched by its callbacks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from pieria.graph.backend import GraphBackend
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.near import Directions
from pieria.graph.nodes import Node
from pieria.graph.value_function import Values, judge_of, params_of, rank_of
from pieria.record.analyser import STOP_WORDS, terms
from pieria.record.certainty import alone
from pieria.record.time import Clock, system_clock

ROUTING = ("tag", "intent")
"""What only leads to others, and answers nothing."""


class Question(NamedTuple):
    """What is looked for: in words, and as vectors, the question's own and those of the terms beside it.

    `terms` are what else may lead to an answer. A search that embeds by itself reads these, and no vectors.
    """

    text: str
    vectors: Sequence[Sequence[float]] = ()
    terms: Sequence[str] = ()


class Held(NamedTuple):
    """A node that may answer, before it is valued. The node itself is there where a value function wants to see it."""

    id: str
    node_type: str
    created_at: datetime
    relevance: float
    metadata: NodeMetadata | None
    node: Node | None = None
    sure: float = 0.0


class Valued(NamedTuple):
    """How near a node is to the question, 0 to 1, what it is worth to it, and how sure it makes an answer, 0 to 1."""

    id: str
    node_type: str
    relevance: float
    score: float
    sure: float = 0.0


class Problem(NamedTuple):
    """What went wrong in a step, and the code of the error."""

    told: str
    step: str
    error: str


class Reached(NamedTuple):
    """What a look comes to. `below` counts those that were not worth enough, or too many. `confidence` is how likely
    any of them answers, where the search measures that over all of them.
    """

    valued: list[Valued]
    below: int = 0
    problems: tuple[Problem, ...] = ()
    confidence: float | None = None


class Searching(Protocol):
    """One search of a graph. Each call is one look at it, however many nodes it is about."""

    embeds: bool
    """Whether it embeds a question by itself, and finds by words what cannot be embedded."""

    @property
    def is_floor(self) -> bool:
        """Whether words are all that a search that embeds by itself goes by."""

    def found(self, question: Question, node_types: Sequence[str], values: Values) -> Reached:
        """By type, in the order asked for, the best first."""

    def reached(
        self,
        question: Question,
        node_ids: Sequence[str],
        through: Sequence[str],
        known: Collection[str],
        values: Values,
    ) -> Reached:
        """Over nodes of the types `through`, of these or tied to these, what is tied to those and is not known."""

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        """Those of them that are there."""

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        """What these steps come from."""


def searching_of(backend: GraphBackend, clock: Clock = system_clock) -> Searching:
    """The backend's own way, or else by its callbacks."""
    own = getattr(backend, "_searching", None)
    searching: Searching = own() if callable(own) else ByCallbacks(backend, clock)
    return searching


def passed(
    held: Iterable[Held], node_types: Sequence[str], values: Values, clock: Clock, *, by_record: bool = True
) -> Reached:
    """The best of each type that are worth enough, whatever their age: that moves them back, and never out.

    All are judged at one moment. Not `by_record` the default value function leaves them in the order of relevance.
    """
    by_type: dict[str, list[Held]] = {kind: [] for kind in node_types}
    for each in held:
        by_type.setdefault(each.node_type, []).append(each)
    now = clock()
    valued: list[Valued] = []
    below = 0
    for kind, all_of in by_type.items():
        judge = judge_of(values, kind, lambda: now, by_record=by_record)
        most = int(params_of(values, kind)["top_k"])
        ranked = ((judge(each.relevance, each.node, each.metadata), each) for each in all_of)
        best = sorted(((rank, each) for rank, each in ranked if rank is not None), key=_in_order)[:most]
        valued += [Valued(each.id, kind, each.relevance, value, each.sure) for value, each in best]
        below += len(all_of) - len(best)
    return Reached(valued, below)


def _in_order(scored: tuple[float, Held]) -> tuple[float, datetime, str]:
    value, held = scored
    return -value, held.created_at, held.id


class ByCallbacks:
    """Any backend, by what each of them can do. It is made for one search: nodes that were met are kept."""

    embeds = False
    is_floor = False

    def __init__(self, backend: GraphBackend, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock
        self._directions = Directions()
        self._met: dict[str, Node] = {}

    def found(self, question: Question, node_types: Sequence[str], values: Values) -> Reached:
        nodes = self._candidates(question, node_types, values)
        return passed(self._held(question, nodes), node_types, values, self._clock)

    def reached(
        self,
        question: Question,
        node_ids: Sequence[str],
        through: Sequence[str],
        known: Collection[str],
        values: Values,
    ) -> Reached:
        starts = [self._met[id] for id in node_ids if id in self._met]
        neighbours = self._backend.get_linked_nodes(list(node_ids))
        tied = [node for node in (*starts, *neighbours) if node.node_type in through]
        leading = passed(self._held(question, tied), (), values, self._clock).valued
        beyond = [
            node
            for node in (self._backend.get_linked_nodes([each.id for each in leading]) if leading else ())
            if node.id not in known and node.node_type not in ROUTING
        ]
        return passed(self._held(question, beyond), (), values, self._clock)

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        return [self._met[id] for id in node_ids if id in self._met]

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        tied = self._backend.get_linked_nodes(list(node_ids), Edge.PROVENANCE)
        return [node for node in tied if node.node_type == "source"]

    def _candidates(self, question: Question, node_types: Sequence[str], values: Values) -> list[Node]:
        """The first by rank, whatever they are worth: that shows when all is known of them."""
        own, *others = question.vectors
        params = {kind: {**params_of(values, kind), "threshold": 0.0} for kind in node_types}
        ranking = {"module": rank_of(values, self._clock), "params": params}
        return [node for node, _ in self._backend.find_candidates(list(node_types), own, others, ranking, None)]

    def _held(self, question: Question, nodes: Sequence[Node]) -> list[Held]:
        met = {node.id: node for node in nodes}
        if not met:
            return []
        self._met |= met
        metadata = self._backend.get_metadata(list(met))
        relevances = self._directions.relevances(list(met.values()), question.vectors)
        alike = self._directions.relevances(list(met.values()), question.vectors[:1])
        asked = _telling(question.text)
        return [
            Held(
                id,
                node.node_type,
                node.created_at,
                relevance,
                metadata.get(id),
                node,
                alone(own, _held_of(asked, node)),
            )
            for (id, node), relevance, own in zip(met.items(), relevances, alike, strict=True)
        ]


def _telling(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if term not in STOP_WORDS)


def _held_of(asked: frozenset[str], node: Node) -> float:
    """The share of the question's words that the node says."""
    return len(asked.intersection(terms(node.text))) / len(asked) if asked else 0.0
