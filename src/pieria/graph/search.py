"""Searches a graph: nodes near a query, and nodes reached from there through routing nodes.

Every node is scored alike, by relevance and metadata, however it was found. A backend may bring its own search; others
are searched through their callbacks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from pieria.graph.backend import GraphBackend
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node
from pieria.graph.similarity import Directions
from pieria.graph.value_function import Values, judge_of, params_of, rank_of
from pieria.language.analyser import STOP_WORDS, terms
from pieria.record.time import Clock, system_clock
from pieria.record.value import alone

ROUTING = ("tag", "intent")
"""Types that only lead to other nodes, and answer nothing."""


class Question(NamedTuple):
    """A query as text and as vectors: first its own, then those of further terms.

    `terms` are further ways to an answer. A search that embeds on its own reads them and needs no vectors.
    """

    text: str
    vectors: Sequence[Sequence[float]] = ()
    terms: Sequence[str] = ()


class Held(NamedTuple):
    """A candidate before scoring. `node` is set if a value function needs it."""

    id: str
    node_type: str
    created_at: datetime
    relevance: float
    metadata: NodeMetadata | None
    node: Node | None = None
    sure: float = 0.0


class Valued(NamedTuple):
    """A candidate with its score. `relevance` to the query and `sure`, the confidence as an answer, are from 0 to 1."""

    id: str
    node_type: str
    relevance: float
    score: float
    sure: float = 0.0


class Problem(NamedTuple):
    """A failed step, with the code of its error."""

    told: str
    step: str
    error: str


class Reached(NamedTuple):
    """The result of one look-up. `below` counts candidates under the threshold or over the limit. `confidence` is the
    chance that any of them answers, for searches that measure it over all.
    """

    valued: list[Valued]
    below: int = 0
    problems: tuple[Problem, ...] = ()
    confidence: float | None = None


class Searching(Protocol):
    """One search of a graph. Each call is one look-up, for any number of nodes."""

    embeds: bool
    """Whether it embeds queries on its own, and searches by terms if it cannot embed."""

    @property
    def is_floor(self) -> bool:
        """Return whether a search that embeds on its own has only terms to go by."""

    def found(self, question: Question, node_types: Sequence[str], values: Values) -> Reached:
        """Return the candidates by type, in the order of `node_types`, best first."""

    def reached(
        self,
        question: Question,
        node_ids: Sequence[str],
        through: Sequence[str],
        known: Collection[str],
        values: Values,
    ) -> Reached:
        """Return unknown nodes linked to nodes of the types `through`, which are among `node_ids` or linked to them."""

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        """Return the nodes that exist."""

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        """Return the sources of these steps."""


def searching_of(backend: GraphBackend, clock: Clock = system_clock) -> Searching:
    """Return the backend's own search, or one by its callbacks."""
    own = getattr(backend, "_searching", None)
    searching: Searching = own() if callable(own) else ByCallbacks(backend, clock)
    return searching


def passed(
    held: Iterable[Held], node_types: Sequence[str], values: Values, clock: Clock, *, by_record: bool = True
) -> Reached:
    """Return the best of each type over the threshold. Age lowers the rank, but never excludes a node.

    All are scored at one moment. Without `by_record`, the default value function ranks by relevance.
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
    """Search any backend through its callbacks. Use one object per search: it caches the nodes it reads."""

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
        """Return the first candidates by rank, without a threshold, which applies once their metadata is known."""
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
    """Return the share of the query's terms that the node contains."""
    return len(asked.intersection(terms(node.text))) / len(asked) if asked else 0.0
