"""When two facts or two procedures say the same, and which nodes lead to them.

Vectors say what a text is about; this module compares the words. Choosing which of two stays does not belong here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, NamedTuple

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Tie
from pieria.graph.edge import Edge
from pieria.graph.nodes import Node
from pieria.graph.view import Statement
from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.particulars import Particulars, are_apart, are_opposed, particulars


class Route(NamedTuple):
    """The type of node that leads to knowledge, and the edge between the two."""

    node_type: str
    edge: Edge


ROUTES: Mapping[str, Route] = {
    "semantic": Route("tag", Edge.MEMBERSHIP),
    "procedural": Route("intent", Edge.HIERARCHICAL),
}
"""The types of knowledge, and what leads to each."""


class StatementWords(NamedTuple):
    """A statement with its particulars. Two statements with different `marks` never say the same."""

    text: Particulars
    condition: Particulars
    outcome: str

    @property
    def marks(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.text.marks, self.condition.marks

    @property
    def sure(self) -> frozenset[str]:
        return self.text.sure | self.condition.sure


def words_of(statement: Statement) -> StatementWords:
    return StatementWords(particulars(statement.text), particulars(statement.condition), statement.outcome)


def may_join(one: StatementWords, other: StatementWords, known: Set[str], is_near: Callable[[str, str], bool]) -> bool:
    """Return whether two statements with near texts say the same.

    Names in `known` count even in small letters. `is_near` compares conditions that have different words.
    """
    if are_apart(one.text, other.text, known) or are_apart(one.condition, other.condition, known):
        return False
    if outcomes_oppose(one.outcome, other.outcome):
        return False
    return _same_condition(one.condition.text, other.condition.text, is_near)


def outcomes_oppose(one: str, other: str) -> bool:
    """Return whether two outcomes exclude each other. They may have other names and numbers: each was seen once."""
    return bool(one and other) and are_opposed(one, other)


def _same_condition(one: str, other: str, is_near: Callable[[str, str], bool]) -> bool:
    if not one.strip() or not other.strip():
        return one.strip() == other.strip()
    return _content(one) == _content(other) or is_near(one, other)


def _content(text: str) -> frozenset[str]:
    found = frozenset(terms(text))
    return found - STOP_WORDS or found


class _Relevance:
    """A value function that uses only similarity."""

    def score(self, relevance: float, node: Any, metadata: Any, params: Any) -> float:
        return relevance


def nearest(backend: GraphBackend, node: Node, most: int) -> list[Node]:
    """Return the stored nodes of the same type nearest to this one; none if it has no vector."""
    if node.embedding is None:
        return []
    asked = {"module": _Relevance, "params": {node.node_type: {"threshold": 0.0, "top_k": most}}}
    return [found for found, _ in backend.find_candidates([node.node_type], node.embedding, [], asked, {})]


def routes(ties: Iterable[Tie], types: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Yield (route, knowledge) for each edge from a tag to a fact or from an intent to a procedure.

    `types` has the node types by id; other nodes are ignored.
    """
    for one, other, edge in ties:
        for here, there in ((one, other), (other, one)):
            route = ROUTES.get(types.get(there, ""))
            if route is not None and (types.get(here), edge) == route:
                yield here, there
