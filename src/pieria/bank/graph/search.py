"""The search of a bank's graph: the one recall of the bank, told by type of node, and what its hits lead to.

Candidates, their order and their confidence are those of `bank.recall`. Modes say which types it looks for, hops what
is looked at beside its hits, and the value function moves what is about as relevant. Nothing is ranked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.graph.cache import GraphReading, Met
from pieria.graph.edge import Edge
from pieria.graph.nodes import Node
from pieria.graph.search import Held, Problem, Question, Reached, passed
from pieria.graph.value_function import Values, params_of
from pieria.recall.arms import QUOTA
from pieria.record.analyser import terms
from pieria.record.certainty import alone
from pieria.record.value import BY_TYPE, DefaultValueFunction

if TYPE_CHECKING:
    from pieria.bank.graph.verbs import BankGraph
    from pieria.graph.metadata import NodeMetadata
    from pieria.recall.answer import Hit, Recall
    from pieria.store.protocol import Reader

HUB = 60
"""From each node that leads on no more are looked at, those that were tied last."""
MOST_REACHED, ANCHORS = 100, 10
"""Nodes that a hop looks at, and the best hits beside which these are scored, so that their scores compare."""
BELOW = 1 - 1e-6
"""The share that the next hit of a page is worth at most, so that they stay in their order."""
OF_TERMS = 0.8
"""The share of its score that an answer to the terms is worth to the question, of which these are only a part."""
OF_AIMS = 0.5
"""The share that a subgoal has of the best step that was taken for it."""
ANSWERS = ("episodic", "semantic", "procedural")
LED_TO = (*ANSWERS, "subgoal")


class _Scored(NamedTuple):
    """How relevant a node is, 0 to 1, and how sure it makes an answer, 0 to 1."""

    relevance: float
    sure: float = 0.0


class GraphSearch:
    """It is made for one search: what one look has asked or read, no other does again."""

    embeds = True

    def __init__(self, graph: BankGraph) -> None:
        self._graph = graph
        self._bank = graph._bank
        self._seen = GraphReading(graph)
        self._asked: dict[tuple[str, tuple[str, ...]], Recall] = {}
        self._vectors: dict[str, Any] = {}
        self._scored: dict[str, _Scored] = {}
        self._first: list[str] = []
        """The ids that the question itself brought, in their order."""
        self._by_words = False

    @property
    def is_floor(self) -> bool:
        """Whether words are all that is gone by: no model is there, or one that knows no more than words."""
        embedder = self._bank._embedding.embedder
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
        with self._bank._reading() as reader:
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
        with self._bank._reading() as reader:
            leads = self._leads(reader, node_ids, through)
            passing = [valued.id for valued in self._valued(reader, leads, through, values).valued]
            tied = self._seen.tied(reader, passing, LED_TO, HUB)
        new = list(dict.fromkeys(met.id for of in tied.values() for met in of if met.id not in known))[:MOST_REACHED]
        scored = self._beside(question.text, new)
        self._scored |= scored
        with self._bank._reading() as reader:
            reached = self._valued(reader, scored, LED_TO, values)
        return reached._replace(problems=tuple(_hubs(tied)))

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        with self._bank._reading() as reader:
            return self._seen.nodes(reader, node_ids)

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        tied = self._graph.get_linked_nodes(list(node_ids), Edge.PROVENANCE)
        return [node for node in tied if node.node_type == "source"]

    # --- asking

    def _recall(self, text: str, types: Sequence[str], values: Values) -> Recall:
        """The first page of a recall: as many hits as an arm brings, so that the order is that of a shorter page.

        More only where more of a type are asked for than by default.
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
                self._bank, question_of(self._bank, text, filter), filter, count, vectors=self._vectors
            )
        return self._asked[key]

    def _of_terms(self, question: Question, types: Sequence[str], values: Values) -> dict[str, _Scored]:
        """What answers the terms beside the question, where these say anything that the question does not."""
        if not {*terms(" ".join(question.terms))} - {*terms(question.text)}:
            return {}
        found = self._take(self._recall(", ".join(question.terms), types, values))
        return {id: _Scored(OF_TERMS * one.relevance, OF_TERMS * one.sure) for id, one in found.items()}

    def _beside(self, text: str, ids: Sequence[str]) -> dict[str, _Scored]:
        """How relevant these are, scored beside the best hits. Behind every hit: recall looked at those first. What
        shares nothing with the question is worth 0.
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
        """Each hit with its score. Whatever else the order of a page goes by, no hit is worth as much as one before."""
        self._by_words = "dense" in recalled.plan["left_out"]
        scored: dict[str, _Scored] = {}
        least = 1.0
        for hit in recalled:
            self._seen.meet(hit.memory)
            least = min(least * BELOW, hit.score)
            scored.setdefault(hit.memory.id, _Scored(least, _sure(hit, self._by_words)))
        return scored

    # --- what leads on

    def _leads(self, reader: Reader, ids: Sequence[str], types: Sequence[str]) -> dict[str, _Scored]:
        """The nodes of these types among these, and tied to them: each beside the best of all as relevant as the best
        node that leads there.
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
        """What the steps among these were taken for."""
        best = max((one.relevance for one in scored.values()), default=0.0)
        found = self._valued(reader, self._leads(reader, list(scored), ("subgoal",)), ("subgoal",), values)
        share = OF_AIMS * best
        valued = [one._replace(relevance=share * one.relevance, score=share * one.score) for one in found.valued]
        self._scored |= {one.id: _Scored(one.relevance) for one in valued}
        return found._replace(valued=valued)

    # --- what it is worth

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
    """How sure it makes an answer, by itself."""
    return alone(None if by_words else hit.why.get("dense", 0.0), hit.why.get("cover", 0.0))


def _problems(recalled: Recall) -> Iterator[Problem]:
    why = recalled.plan["left_out"].get("dense")
    if why is not None:
        told = f"the question could not be embedded, so its words alone are looked for: {why}"
        yield Problem(told, "embedding", "adapter")


def _hubs(tied: Mapping[str, Iterable[Met]]) -> Iterator[Problem]:
    hubs = sum(len([*of]) >= HUB for of in tied.values())
    if hubs:
        told = f"{hubs} nodes lead to more than {HUB} others: of each the last {HUB} were looked at"
        yield Problem(told, "multi_hop", "truncated")
