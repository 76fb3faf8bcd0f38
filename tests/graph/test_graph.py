"""Nodes, ties, changesets and the graph as values: each change makes another, and what was stays as it was."""

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.histories import MADE, Model, histories, indexes, taken

from pieria.errors import InputError
from pieria.graph import (
    Changeset,
    Edge,
    Graph,
    Node,
    NodeMetadata,
    Semantic,
    Tag,
    all_linked_ids,
    cosine_similarity,
    top_k,
)
from pieria.graph.changeset import checked
from pieria.graph.value_function import params_of
from pieria.record.value import DefaultValueFunction


def fact(id: str, **more: Any) -> Semantic:
    return Semantic(id=id, proposition=f"what {id} says", **more)


# --- graph


@given(histories)
def test_a_graph_holds_what_its_history_says_whatever_that_is(history: list[Any]) -> None:
    graph, model = Graph(), Model()
    for step in history:
        graph = taken(graph, step)
        model.take(step)
        assert graph.nodes.keys() == model.nodes.keys()
        for id, node in graph.nodes.items():
            assert replace(node, links={}) == replace(model.nodes[id], links={})
            assert {edge: set(node.links[edge]) for edge in Edge} == {edge: model.linked(id, edge) for edge in Edge}
        built: tuple[Any, ...] = indexes(graph.nodes.values())
        assert (graph.by_type, graph.by_tag, graph.by_subgoal) == built


@given(histories)
def test_a_graph_that_somebody_holds_never_changes(history: list[Any]) -> None:
    graph = Graph()
    held: list[tuple[Graph, bytes]] = []
    for step in history:
        graph = taken(graph, step)
        held.append((graph, pickle.dumps((sorted(graph.nodes.items()), sorted(graph.by_type.items())))))
    for graph, before in held:
        assert pickle.dumps((sorted(graph.nodes.items()), sorted(graph.by_type.items()))) == before


def test_a_graph_grows_and_shrinks_node_by_node() -> None:
    graph = Graph().put_node(fact("a")).put_node(Tag(id="t", label=" Tides ")).link("a", "t", Edge.MEMBERSHIP)
    assert graph.by_tag == {"tides": {"t"}}
    assert [node.id for node in graph.nodes_by_type("semantic")] == ["a"]
    assert graph.link("a", "nobody", Edge.SIBLING) == graph
    smaller = graph.delete_node("t")
    tag = graph.get_node("t")
    assert smaller.get_node("t") is None
    assert tag is not None
    assert all_linked_ids(tag) == {"a"}
    assert smaller.get_node("a") == replace(fact("a"), created_at=smaller.nodes["a"].created_at)


def test_nodes_of_a_type_come_in_the_order_in_which_they_were_made() -> None:
    late, early = fact("a", created_at=MADE + timedelta(1)), fact("z", created_at=MADE)
    assert Graph().put_node(late).put_node(early).nodes_by_type("semantic") == [early, late]


# --- nodes and changesets


def test_a_node_is_a_value_and_knows_every_type_of_tie() -> None:
    node = fact("a", links={"provenance": ["s1", "s2"]})
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


def test_two_nodes_are_not_made_at_the_same_moment_because_one_was() -> None:
    one = fact("a").created_at
    assert fact("b").created_at >= one > datetime(2026, 1, 1, tzinfo=UTC)
    assert one.tzinfo is not None


def test_a_changeset_is_built_step_by_step_and_merged_with_the_others_word_last() -> None:
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


def test_all_that_is_wrong_with_a_changeset_is_told_at_once() -> None:
    wrong: Any = Changeset(
        [fact(""), fact("a", embedding=[math.nan]), "no node"],  # type: ignore[list-item]
        [("a", "b")],  # type: ignore[list-item]
        {"a": 3},  # type: ignore[dict-item]
    )
    with pytest.raises(InputError) as told:
        checked(wrong)
    parameters = [told.value.parameter, *(problem.parameter for problem in told.value.errors)]  # type: ignore[attr-defined]
    assert parameters == [
        "changeset.additions[0].id",
        "changeset.additions[1].embedding",
        "changeset.additions[2]",
        "changeset.links[0]",
        "changeset.metadata['a']",
    ]


def test_metadata_counts_accesses_and_averages_rewards() -> None:
    used = NodeMetadata().record_access().record_access(at=MADE).update_reward(1.0).update_reward(0.5)
    assert (used.access_count, used.last_accessed_at) == (2, MADE)
    assert used.avg_reward() == 0.75
    assert NodeMetadata().avg_reward() == 0.0


# --- similarity

numbers = st.floats(-1e150, 1e150, allow_nan=False)


@given(st.lists(st.tuples(numbers, numbers), max_size=6))
def test_a_cosine_is_symmetric_within_its_bounds_and_does_not_care_for_length(pairs: list[tuple[float, float]]) -> None:
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    found = cosine_similarity(a, b)
    assert -1 <= found <= 1
    assert found == cosine_similarity(b, a)
    assert found == pytest.approx(cosine_similarity([number * 4 for number in a], b))
    if any(a):
        assert cosine_similarity(a, a) == pytest.approx(1)


def test_what_has_no_direction_is_alike_to_nothing_and_lengths_must_agree() -> None:
    assert cosine_similarity([], []) == 0.0
    assert cosine_similarity([0.0, 0.0], [1.0, 0.0]) == 0.0
    with pytest.raises(InputError, match="as many numbers"):
        cosine_similarity([1.0], [1.0, 0.0])


def test_the_most_similar_come_first_and_what_has_no_vector_not_at_all() -> None:
    candidates = [("far", [0.0, 1.0]), ("none", None), ("near", [1.0, 0.0]), ("same", [2.0, 0.0])]
    assert top_k([1.0, 0.0], candidates, 2) == [("near", 1.0), ("same", 1.0)]
    assert top_k([1.0, 0.0], candidates, 0) == []


# --- value


@pytest.mark.parametrize("node_type", ["subgoal", "tag", "intent"])
def test_the_threshold_of_each_type_is_reached_by_a_node_that_was_never_used(node_type: str) -> None:
    params = params_of(None, node_type)
    value = DefaultValueFunction(lambda: MADE).score(1.0, fact("a"), NodeMetadata(created_at=MADE), params)
    assert value > params["threshold"] > 0


def test_parameters_given_for_one_type_leave_the_others_and_the_rest_as_they_are() -> None:
    config = {"params": {"semantic": {"top_k": 3}}}
    assert params_of(config, "semantic")["beta"] == 1.0
    assert params_of(config, "semantic")["top_k"] == 3
    assert params_of(config, "procedural") == params_of(None, "procedural")


def test_a_node_of_no_type_is_refused() -> None:
    with pytest.raises(InputError, match=r"a node of pieria\.graph"):
        checked(Changeset([Node(id="x")]))
