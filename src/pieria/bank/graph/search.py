"""Search a bank's graph: the recall of the bank by node type, extended along the edges of its hits.

Candidates, order and confidence come from `bank.recall`. Modes select node types, hops add neighbours of hits, and the
value function reorders nodes of similar relevance. This module ranks nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.graph.cache import GraphReading, Met
from pieria.graph.edge import Edge
from pieria.graph.nodes import Node
from pieria.graph.search import Held, Problem, Question, Reached, passed
from pieria.graph.value_function import Values, params_of
from pieria.language.analyser import terms
from pieria.recall.arms import QUOTA
from pieria.record.value import BY_TYPE, DefaultValueFunction, alone

if TYPE_CHECKING:
    from pieria.bank.graph.verbs import BankGraph
    from pieria.graph.metadata import NodeMetadata
    from pieria.recall.answer import Hit, Recall
    from pieria.store.protocol import Reader

HUB = 60
"""The number of neighbours examined per node, the latest edges first."""
MOST_REACHED, ANCHORS = 100, 10
"""Nodes examined per hop, and the best hits scored together with them, so that the scores compare."""
BELOW = 1 - 1e-6
"""The factor between consecutive hits, at most, so that they keep their order."""
OF_TERMS = 0.8
"""The factor on scores of hits for the query's terms, because the terms are only a part of the query."""
OF_AIMS = 0.5
"""The factor on a subgoal's score, relative to the best step taken for it."""
ANSWERS = ("episodic", "semantic", "procedural")
LED_TO = (*ANSWERS, "subgoal")


class _Scored(NamedTuple):
    """The relevance of a node, and the confidence that it answers, both from 0 to 1."""

    relevance: float
    sure: float = 0.0


class GraphSearch:
    """One search, with a cache of everything that it has asked or read."""

    embeds = True

    def __init__(self, graph: BankGraph) -> None:
        self._graph = graph
        self._bank = graph._bank
        self._seen = GraphReading(graph)
        self._asked: dict[tuple[str, tuple[str, ...]], Recall] = {}
        self._vectors: dict[str, Any] = {}
        self._scored: dict[str, _Scored] = {}
        self._first: list[str] = []
        """The ids that the query itself found, in order."""
        self._by_words = False

    @property
    def is_floor(self) -> bool:
        """Whether the search relies on words alone: no model, or a hashing embedder."""
        embedder = self._bank.core.embedding.embedder
        return embedder is None or embedder.is_floor or self._by_words

    def found(self, question: Question, node_types: Sequence[str], values: Values) -> Reached:
        types = [kind for kind in node_types if kind in ANSWERS]
        recalled = self._recall(question.text, types, values)
        scored = self._take(recalled)
        self._first = list(scored)
        for id, other in self._of_terms(question, types, values).items():
            held = scored.get(id, _Scored(0.0))
            scored[id] = _Scored(max(held.relevance, other.relevance), max(held.sure, other.sure))
        self._scored |= scored
        with self._bank.core.reading() as reader:
            reached = self._valued(reader, scored, types, values)
            if "subgoal" in node_types:
                aims = self._aims(reader, scored, values)
                reached = reached._replace(valued=[*reached.valued, *aims.valued], below=reached.below + aims.below)
        return reached._replace(confidence=recalled.confidence, problems=tuple(_problems(recalled)))

    def reached(
        self,
        question: Question,
        node_ids: Sequence[str],
        through: Sequence[str],
        known: Collection[str],
        values: Values,
    ) -> Reached:
        with self._bank.core.reading() as reader:
            leads = self._leads(reader, node_ids, through)
            passing = [valued.id for valued in self._valued(reader, leads, through, values).valued]
            tied = self._seen.tied(reader, passing, LED_TO, HUB)
        new = list(dict.fromkeys(met.id for of in tied.values() for met in of if met.id not in known))[:MOST_REACHED]
        scored = self._beside(question.text, new)
        self._scored |= scored
        with self._bank.core.reading() as reader:
            reached = self._valued(reader, scored, LED_TO, values)
        return reached._replace(problems=tuple(_hubs(tied)))

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        with self._bank.core.reading() as reader:
            return self._seen.nodes(reader, node_ids)

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        tied = self._graph.get_linked_nodes(list(node_ids), Edge.PROVENANCE)
        return [node for node in tied if node.node_type == "source"]

    # --- asking

    def _recall(self, text: str, types: Sequence[str], values: Values) -> Recall:
        """Return the first page of a recall, with as many hits as one arm brings. This keeps the order stable.

        It has more only if more of a type are requested than by default.
        """
        wanted = [(int(params_of(values, kind)["top_k"]), int(BY_TYPE[kind]["top_k"])) for kind in types]
        count = max([QUOTA, *(most for most, usual in wanted if most > usual)])
        return self._answered(text, types, count, ())

    def _answered(self, text: str, types: Sequence[str], count: int, ids: Sequence[str]) -> Recall:
        from pieria.bank.read.answer import answer, question_of

        key = (text, (*types, *ids))
        if key not in self._asked:
            filter = self._seen.filter(types)
            filter = filter.having(ids=tuple(ids)) if ids else filter
            self._asked[key] = answer(
                self._bank.core, question_of(self._bank.core, text, filter), filter, count, vectors=self._vectors
            )
        return self._asked[key]

    def _of_terms(self, question: Question, types: Sequence[str], values: Values) -> dict[str, _Scored]:
        """Return the hits for the terms given with the query, if they add words to it."""
        if not {*terms(" ".join(question.terms))} - {*terms(question.text)}:
            return {}
        found = self._take(self._recall(", ".join(question.terms), types, values))
        return {id: _Scored(OF_TERMS * one.relevance, OF_TERMS * one.sure) for id, one in found.items()}

    def _beside(self, text: str, ids: Sequence[str]) -> dict[str, _Scored]:
        """Return the relevance of these nodes, scored together with the best hits but always below all hits.

        Nodes that share nothing with the query get 0.
        """
        if not ids:
            return {}
        anchors = [id for id in self._first[:ANCHORS] if id not in ids]
        recalled = self._answered(text, ANSWERS, len(ids) + len(anchors), [*anchors, *ids])
        least = BELOW * min((self._scored[id].relevance for id in self._first), default=1.0)
        found = self._take(recalled)
        near = {id: found.get(id, _Scored(0.0)) for id in ids}
        return {id: _Scored(min(least, one.relevance), one.sure) for id, one in near.items()}

    def _take(self, recalled: Recall) -> dict[str, _Scored]:
        """Return each hit with its score, in strictly falling order."""
        self._by_words = "dense" in recalled.plan["left_out"]
        scored: dict[str, _Scored] = {}
        least = 1.0
        for hit in recalled:
            self._seen.meet(hit.memory)
            least = min(least * BELOW, hit.score)
            scored.setdefault(hit.memory.id, _Scored(least, _sure(hit, self._by_words)))
        return scored

    # --- routing nodes

    def _leads(self, reader: Reader, ids: Sequence[str], types: Sequence[str]) -> dict[str, _Scored]:
        """Return nodes of these types among the ids and their neighbours.

        Each gets the relevance, relative to the best of all, of the best node that leads to it.
        """
        best = max((self._scored[id].relevance for id in ids if id in self._scored), default=0.0) or 1.0
        leads: dict[str, _Scored] = {}
        for id, ends in self._seen.ties(reader, list(ids), types).items():
            share = self._scored[id].relevance / best if id in self._scored else 0.0
            own = [self._seen.met(id)] if self._seen.met(id).node_type in types else []
            for met in (*own, *ends[:HUB]):
                leads[met.id] = _Scored(max(share, leads.get(met.id, _Scored(0.0)).relevance))
        return leads

    def _aims(self, reader: Reader, scored: Mapping[str, _Scored], values: Values) -> Reached:
        """Return the subgoals of the steps among the hits."""
        best = max((one.relevance for one in scored.values()), default=0.0)
        found = self._valued(reader, self._leads(reader, list(scored), ("subgoal",)), ("subgoal",), values)
        share = OF_AIMS * best
        valued = [one._replace(relevance=share * one.relevance, score=share * one.score) for one in found.valued]
        self._scored |= {one.id: _Scored(one.relevance) for one in valued}
        return found._replace(valued=valued)

    # --- value

    def _valued(
        self, reader: Reader, scored: Mapping[str, _Scored], node_types: Sequence[str], values: Values
    ) -> Reached:
        metadata = self._seen.metadata(reader, scored)
        nodes: Mapping[str, Node] = {}
        if values.get("module") is not DefaultValueFunction:
            nodes = {node.id: node for node in self._seen.nodes(reader, list(scored))}
        held = [_held(self._seen.met(id), one, metadata[id], nodes.get(id)) for id, one in scored.items()]
        return passed(held, node_types, values, self._bank.clock, by_record=False)


def _held(met: Met, scored: _Scored, metadata: NodeMetadata, node: Node | None) -> Held:
    return Held(met.id, met.node_type, met.at, scored.relevance, metadata, node, scored.sure)


def _sure(hit: Hit, by_words: bool) -> float:
    """Return the confidence that this hit alone is an answer."""
    return alone(None if by_words else hit.why.get("dense", 0.0), hit.why.get("cover", 0.0))


def _problems(recalled: Recall) -> Iterator[Problem]:
    why = recalled.plan["left_out"].get("dense")
    if why is not None:
        told = f"the query could not be embedded, so only its words were searched: {why}"
        yield Problem(told, "embedding", "adapter")


def _hubs(tied: Mapping[str, Iterable[Met]]) -> Iterator[Problem]:
    hubs = sum(len([*of]) >= HUB for of in tied.values())
    if hubs:
        told = f"{hubs} nodes have more than {HUB} neighbours: the last {HUB} of each were searched"
        yield Problem(told, "multi_hop", "truncated")
