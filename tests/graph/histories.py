"""Random graph histories for Hypothesis, and the plain model to compare them with."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from pieria.graph import Changeset, Edge, Graph, Node, NodeMetadata, Semantic, Subgoal, Tag
from pieria.graph.graph import same_label

IDS = ("a", "b", "c", "d", "e")
MADE = datetime(2026, 1, 1, tzinfo=UTC)

ids = st.sampled_from(IDS)
edges = st.sampled_from(list(Edge))
words = st.sampled_from(["tide", " Tide", "ferry", "STRASSE", "straße"])


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    id, said = draw(ids), draw(words)
    links = draw(st.dictionaries(edges, st.frozensets(ids, max_size=2), max_size=2))
    kind = draw(st.sampled_from([Tag, Subgoal, Semantic]))
    if kind is Tag:
        return Tag(id=id, label=said, links=links, created_at=MADE)
    if kind is Subgoal:
        return Subgoal(id=id, description=said, links=links, created_at=MADE)
    return Semantic(id=id, proposition=said, links=links, embedding=[0.5, 0.25], created_at=MADE)


metadata = st.builds(
    NodeMetadata,
    access_count=st.integers(0, 9),
    created_at=st.just(MADE),
    cumulative_reward=st.floats(0, 9, width=16),
    reward_count=st.integers(0, 9),
)
changesets = st.builds(
    Changeset,
    st.lists(nodes(), max_size=3),
    st.lists(st.tuples(ids, ids, edges), max_size=3),
    st.dictionaries(ids, metadata, max_size=2),
)
Step = Changeset | list[str]  # to apply, or ids to delete
histories = st.lists(st.one_of(changesets, st.lists(ids, min_size=1, max_size=2)), max_size=8)


def fact(id: str, **more: Any) -> Semantic:
    return Semantic(**{"id": id, "proposition": f"what {id} says", "embedding": [1.0, 0.0], **more})


@dataclass
class Model:
    """A plain model of a graph: nodes without ties, and the set of ties."""

    nodes: dict[str, Node] = field(default_factory=dict)
    ties: set[tuple[frozenset[str], Edge]] = field(default_factory=set)

    def take(self, step: Step) -> None:
        if isinstance(step, Changeset):
            self.nodes |= {node.id: node for node in step.additions}
            asked = [(node.id, id, edge) for node in step.additions for edge in Edge for id in node.links[edge]]
            for one, other, edge in (*asked, *step.links):
                if one != other and one in self.nodes and other in self.nodes:
                    self.ties.add((frozenset((one, other)), edge))
        else:
            for id in step:
                self.nodes.pop(id, None)
                self.ties = {(pair, edge) for pair, edge in self.ties if id not in pair}

    def linked(self, id: str, edge: Edge) -> set[str]:
        return {other for pair, kind in self.ties if id in pair and kind == edge for other in pair if other != id}


def taken(graph: Graph, step: Step) -> Graph:
    return graph.apply_changeset(step) if isinstance(step, Changeset) else graph.without(step)


def indexes(nodes: Iterable[Node]) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, set[str]]]:
    by_type: dict[str, set[str]] = {}
    by_tag: dict[str, set[str]] = {}
    by_subgoal: dict[str, set[str]] = {}
    for node in nodes:
        by_type.setdefault(node.node_type, set()).add(node.id)
        if isinstance(node, Tag):
            by_tag.setdefault(same_label(node.label), set()).add(node.id)
        if isinstance(node, Subgoal):
            by_subgoal.setdefault(node.description, set()).add(node.id)
    return by_type, by_tag, by_subgoal
