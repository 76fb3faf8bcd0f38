"""Nodes, ties, changesets and graphs are values: a change returns a new one and leaves the old one alone."""

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.histories import MADE, Model, fact, histories, indexes, taken

from pieria.errors import InputError
from pieria.graph import Changeset, Edge, Graph, Node, NodeMetadata, Tag, all_linked_ids, top_k
from pieria.graph.changeset import checked
from pieria.graph.nodes import NODES
from pieria.graph.similarity import cosine_similarity
from pieria.graph.value_function import params_of


def pickled(graph: Graph) -> bytes:
    return pickle.dumps((sorted(graph.nodes.items()), sorted(graph.by_type.items())))


@given(histories)
def test_a_graph_holds_its_history_and_old_ones_never_change(history: list[Any]) -> None:
    graph, model = Graph(), Model()
    held: list[tuple[Graph, bytes]] = []
    for step in history:
        graph = taken(graph, step)
        model.take(step)
        assert graph.nodes.keys() == model.nodes.keys()
        for id, node in graph.nodes.items():
            assert replace(node, links={}) == replace(model.nodes[id], links={})
            assert {edge: set(node.links[edge]) for edge in Edge} == {edge: model.linked(id, edge) for edge in Edge}
        built: tuple[Any, ...] = indexes(graph.nodes.values())
        assert (graph.by_type, graph.by_tag, graph.by_subgoal) == built
        held.append((graph, pickled(graph)))
    assert [pickled(graph) for graph, _ in held] == [before for _, before in held]


def test_a_graph_grows_and_shrinks_node_by_node() -> None:
    graph = Graph().put_node(fact("a")).put_node(Tag(id="t", label=" Tides ")).link("a", "t", Edge.MEMBERSHIP)
    assert graph.by_tag == {"tides": {"t"}}
    assert [node.id for node in graph.nodes_by_type("semantic")] == ["a"]
    assert graph.link("a", "nobody", Edge.SIBLING) == graph
    smaller, tag = graph.delete_node("t"), graph.get_node("t")
    assert smaller.get_node("t") is None
    assert tag is not None and all_linked_ids(tag) == {"a"}
    assert smaller.get_node("a") == replace(fact("a"), created_at=smaller.nodes["a"].created_at)
    late, early = fact("a", created_at=MADE + timedelta(1)), fact("z", created_at=MADE)
    assert Graph().put_node(late).put_node(early).nodes_by_type("semantic") == [early, late]


def test_a_node_is_a_value_with_ties_and_metadata() -> None:
    node = fact("a", links={"provenance": ["s1", "s2"]})
    assert set(Edge.types()) == set(Edge.empty_links()) == set(Edge)
    assert node.links == {**Edge.empty_links(), Edge.PROVENANCE: {"s1", "s2"}}
    assert all_linked_ids(node) == {"s1", "s2"}
    with pytest.raises(FrozenInstanceError):
        node.id = "b"  # type: ignore[misc]
    with pytest.raises(TypeError, match="cannot be changed"):
        node.links[Edge.SIBLING] = frozenset()  # type: ignore[index]
    with pytest.raises(InputError, match="one of membership"):
        fact("a", links={"friendship": ["b"]})
    with pytest.raises(InputError, match="a set of ids"):
        fact("a", links={"sibling": "b"})
    one, later = fact("a").created_at, fact("b").created_at
    assert later >= one > datetime(2026, 1, 1, tzinfo=UTC)
    assert one.tzinfo is not None
    used = NodeMetadata().record_access().record_access(at=MADE).update_reward(1.0).update_reward(0.5)
    assert (used.access_count, used.last_accessed_at) == (2, MADE)
    assert used.avg_reward() == 0.75
    assert NodeMetadata().avg_reward() == 0.0


def test_a_node_prints_short_whatever_it_holds() -> None:
    vector, links = [0.25] * 384, {Edge.SIBLING: frozenset(f"s{number}" for number in range(99))}
    told = {type: repr(kind(id="n1", embedding=vector, links=links, **WORDS[type])) for type, kind in NODES.items()}
    assert told == {
        "episodic": "<Episodic n1: 'The gate is\\nshut. → Rang.'>",
        "semantic": f"<Semantic n1: '{'a' * 60}'…>",
        "procedural": f"<Procedural n1: '{'a' * 60}'>",
        "subgoal": "<Subgoal n1: 'Get in'>",
        "source": "<Source n1: 'step 3 of e1'>",
        "tag": "<Tag n1: 'gates'>",
        "intent": "<Intent n1: 'Get in'>",
    }


WORDS: dict[str, dict[str, Any]] = {
    "episodic": {"observation": "The gate is\nshut.", "action": "Rang."},
    "semantic": {"proposition": "a" * 61},
    "procedural": {"instruction": "a" * 60},
    "subgoal": {"description": "Get in"},
    "source": {"episode_id": "e1", "step_index": 3},
    "tag": {"label": "gates"},
    "intent": {"description": "Get in"},
}


def test_changesets_are_built_and_merged_the_later_last() -> None:
    early, late = NodeMetadata(access_count=1), NodeMetadata(access_count=2)
    one = Changeset().add_node(fact("a", created_at=MADE)).put_metadata("a", early)
    other = Changeset().add_node(fact("b", created_at=MADE)).add_link("a", "b", Edge.SIBLING).put_metadata("a", late)
    both = one.merge(other)
    assert [node.id for node in both.additions] == ["a", "b"]
    assert both.links == [("a", "b", Edge.SIBLING)]
    assert both.metadata == {"a": late}
    assert one.links == []
    assert Changeset().empty
    assert not both.empty


def test_all_errors_of_a_changeset_are_reported_at_once() -> None:
    wrong: Any = Changeset(
        [fact(""), fact("a", embedding=[math.nan]), "no node"],  # type: ignore[list-item]
        [("a", "b")],  # type: ignore[list-item]
        {"a": 3},  # type: ignore[dict-item]
    )
    with pytest.raises(InputError) as caught:
        checked(wrong)
    found = [caught.value.parameter, *(problem.parameter for problem in caught.value.errors)]  # type: ignore[attr-defined]
    places = ("additions[0].id", "additions[1].embedding", "additions[2]", "links[0]", "metadata['a']")
    assert found == [f"changeset.{place}" for place in places]
    with pytest.raises(InputError, match=r"a node of pieria\.graph"):
        checked(Changeset([Node(id="x")]))


numbers = st.floats(-1e150, 1e150, allow_nan=False)


@given(st.lists(st.tuples(numbers, numbers), max_size=6))
def test_a_cosine_is_symmetric_and_does_not_depend_on_length(pairs: list[tuple[float, float]]) -> None:
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    found = cosine_similarity(a, b)
    assert -1 <= found <= 1
    assert found == cosine_similarity(b, a)
    assert found == pytest.approx(cosine_similarity([number * 4 for number in a], b))
    if any(a):
        assert cosine_similarity(a, a) == pytest.approx(1)


def test_the_most_similar_come_first_and_null_vectors_are_alien() -> None:
    assert cosine_similarity([], []) == 0.0
    assert cosine_similarity([0.0, 0.0], [1.0, 0.0]) == 0.0
    with pytest.raises(InputError, match="as many numbers"):
        cosine_similarity([1.0], [1.0, 0.0])
    candidates = [("far", [0.0, 1.0]), ("none", None), ("near", [1.0, 0.0]), ("same", [2.0, 0.0])]
    assert top_k([1.0, 0.0], candidates, 2) == [("near", 1.0), ("same", 1.0)]
    assert top_k([1.0, 0.0], candidates, 0) == []


def test_parameters_of_one_type_leave_the_others_alone() -> None:
    config = {"params": {"semantic": {"top_k": 3}}}
    assert params_of(config, "semantic")["beta"] == 1.0
    assert params_of(config, "semantic")["top_k"] == 3
    assert params_of(config, "procedural") == params_of(None, "procedural")
