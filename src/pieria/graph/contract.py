"""The contract of every graph backend, as a function to run against your own.

It needs no test framework. A violation raises `AssertionError` with the rule; errors of the backend pass through.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from pieria.errors import PieriaError
from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import (
    NODE_TYPES,
    Episodic,
    Intent,
    Node,
    Procedural,
    Semantic,
    Source,
    Subgoal,
    Tag,
    all_linked_ids,
)
from pieria.graph.similarity import cosine_similarity

_ALIKE = 0.999
"""Least cosine between a vector and its stored form, which may be less precise."""
_THREADS, _EACH = 4, 5
_USED = datetime(2026, 3, 1, 12, tzinfo=UTC)


class _Relevance:
    """A value function that returns the relevance."""

    def score(self, relevance: float, node: Node, metadata: NodeMetadata | None, params: Mapping[str, Any]) -> float:
        return relevance


class _Rewards:
    """A value function that returns the rewards times one of its parameters."""

    def score(self, relevance: float, node: Node, metadata: NodeMetadata | None, params: Mapping[str, Any]) -> float:
        _require(isinstance(node, Semantic), "the value function is given the node")
        _require(metadata is not None, "the value function is given the metadata of a node that has some")
        assert metadata is not None
        return metadata.cumulative_reward * float(params["beta"])


class Check(Protocol):
    def __call__(self, backend: GraphBackend, dimension: int) -> None: ...


def check_backend(
    make: Callable[[], GraphBackend],
    *,
    dimension: int = 8,
    reopened: Callable[[GraphBackend], GraphBackend] | None = None,
) -> None:
    """Raise `AssertionError` if the backend violates the contract of `pieria.graph.GraphBackend`.

    `make` returns an empty backend after `init`, another one for each check. `dimension` is the length of its
    embeddings. `reopened` closes a backend and opens it again, for one that keeps its data.
    """
    for check in CHECKS:
        check(make(), dimension)
    if reopened is not None:
        _check_it_outlives(make(), dimension, reopened)


def _check_nodes_come_back(backend: GraphBackend, dimension: int) -> None:
    given = _one_of_each(dimension)
    backend.apply_changeset(Changeset(list(given)))
    for node in given:
        _same(backend.get_node(node.id), node)
    _require(backend.get_node("unknown") is None, "get_node of an unknown id returns None")


def _check_types(backend: GraphBackend, dimension: int) -> None:
    given = _one_of_each(dimension)
    backend.apply_changeset(Changeset(list(given)))
    for node_type in NODE_TYPES:
        held = backend.get_nodes_by_type([node_type])
        _require([node.node_type for node in held] == [node_type], "get_nodes_by_type returns those of the type")
    pair = {node.node_type for node in backend.get_nodes_by_type(["tag", "intent"])}
    _require(pair == {"tag", "intent"}, "get_nodes_by_type takes several types")
    _require(backend.get_nodes_by_type([]) == [], "get_nodes_by_type of no type returns nothing")


def _check_ties(backend: GraphBackend, dimension: int) -> None:
    fact, step, tag, *_ = _few(dimension)
    ties = [("fact", "step", Edge.PROVENANCE), ("tag", "fact", Edge.MEMBERSHIP), ("fact", "nobody", Edge.SIBLING)]
    ties += [("step", "fact", Edge.PROVENANCE), ("fact", "fact", Edge.SIBLING)]
    backend.apply_changeset(Changeset([fact, step, tag], ties))
    _require(_links(backend, "fact", Edge.PROVENANCE) == {"step"}, "a tie is on the end named first")
    _require(_links(backend, "step", Edge.PROVENANCE) == {"fact"}, "a tie is on the end named second")
    _require(_links(backend, "fact", Edge.MEMBERSHIP) == {"tag"}, "a tie has the type it was made with")
    _require(not _links(backend, "fact", Edge.SIBLING), "no node is tied to itself or to a missing node")
    backend.apply_changeset(Changeset([], [("fact", "nobody", Edge.SIBLING)]))
    backend.apply_changeset(Changeset([_fact("nobody", dimension)]))
    _require(not _links(backend, "nobody", Edge.SIBLING), "a tie that led to nothing is not made later")


def _check_neighbours(backend: GraphBackend, dimension: int) -> None:
    fact, step, tag, other = _few(dimension)
    ties = [("fact", "step", Edge.PROVENANCE), ("tag", "fact", Edge.MEMBERSHIP), ("tag", "other", Edge.MEMBERSHIP)]
    backend.apply_changeset(Changeset([fact, step, tag, other], ties))
    _require(_linked(backend, ["fact"]) == ["step", "tag"], "get_linked_nodes returns the neighbours")
    _require(
        _linked(backend, ["fact"], Edge.MEMBERSHIP) == ["tag"],
        "get_linked_nodes with a type of edge returns those that are tied so",
    )
    _require(_linked(backend, ["fact", "other"], Edge.MEMBERSHIP) == ["tag"], "a neighbour of two comes once")
    _require(_linked(backend, ["unknown"]) == [], "what is not there has no neighbours")
    _require(_linked(backend, []) == [], "get_linked_nodes of no id returns nothing")


def _check_put_again(backend: GraphBackend, dimension: int) -> None:
    fact, step, *_ = _few(dimension)
    backend.apply_changeset(Changeset([fact, step], [("fact", "step", Edge.PROVENANCE)]))
    better = Semantic(id="fact", proposition="The tide turns at six.", confidence=0.5, embedding=_axis(3, dimension))
    backend.apply_changeset(Changeset([better]))
    _same(backend.get_node("fact"), better)
    _require(_links(backend, "fact", Edge.PROVENANCE) == {"step"}, "a node that is put again keeps its ties")
    _require(len(backend.get_nodes_by_type(["semantic"])) == 1, "a node that is put again is there once")
    backend.apply_changeset(Changeset([fact, better]))
    held = backend.get_node("fact")
    _require(held is not None and held.text == better.text, "of two nodes under one id, the last is kept")


def _check_nodes_bring_ties(backend: GraphBackend, dimension: int) -> None:
    fact, step, *_ = _few(dimension)
    backend.apply_changeset(Changeset([fact.linked({Edge.PROVENANCE: ["step", "nobody"]}), step]))
    _require(_links(backend, "fact", Edge.PROVENANCE) == {"step"}, "the ties that a node brings along are made")
    _require(_links(backend, "step", Edge.PROVENANCE) == {"fact"}, "the ties that a node brings along are on both ends")


def _check_deleting(backend: GraphBackend, dimension: int) -> None:
    fact, step, *_ = _few(dimension)
    changeset = Changeset([fact, step], [("fact", "step", Edge.PROVENANCE)], {"fact": NodeMetadata(access_count=3)})
    backend.apply_changeset(changeset)
    backend.delete_nodes(["fact", "unknown"])
    _require(backend.get_node("fact") is None, "a deleted node is not there")
    _require(backend.get_nodes_by_type(["semantic"]) == [], "a deleted node is not among those of its type")
    step_held = backend.get_node("step")
    _require(step_held is not None and not all_linked_ids(step_held), "nothing is tied to a deleted node")
    _require(_linked(backend, ["step"]) == [], "no node has a deleted node as its neighbour")
    _require("fact" not in backend.get_metadata(["fact"]), "a deleted node has no metadata")
    backend.delete_nodes([])
    backend.apply_changeset(Changeset([fact]))
    again = backend.get_node("fact")
    _require(again is not None and not all_linked_ids(again), "what comes under a deleted id has no ties of before")
    counts = backend.get_metadata(["fact"]).get("fact", NodeMetadata())
    _require(counts.access_count == 0, "what comes under a deleted id has no metadata of before")


def _check_metadata(backend: GraphBackend, dimension: int) -> None:
    fact, step, *_ = _few(dimension)
    used = NodeMetadata(access_count=2, last_accessed_at=_USED, cumulative_reward=1.5, reward_count=2, penalty=0.25)
    backend.apply_changeset(Changeset([fact, step], [], {"fact": used, "step": NodeMetadata(access_count=1)}))
    _same_counts(backend, "fact", used)
    lower = NodeMetadata(access_count=1, last_accessed_at=_USED.replace(hour=11), cumulative_reward=0.5, reward_count=1)
    backend.update_metadata({"fact": lower})
    _same_counts(backend, "fact", lower)
    _same_counts(backend, "step", NodeMetadata(access_count=1))
    _require("unknown" not in backend.get_metadata(["fact", "unknown"]), "what is not there has no metadata")
    backend.apply_changeset(Changeset().add_metadata("fact", used).add_metadata("unknown", used))
    _same_counts(backend, "fact", lower.joined(used))
    _require("unknown" not in backend.get_metadata(["unknown"]), "what is not there gains nothing")
    held = backend.get_metadata(["fact"])["fact"]
    _require(held.created_at.tzinfo is not None, "created_at tells its zone")
    backend.delete_metadata(["fact", "unknown"])
    counts = backend.get_metadata(["fact"]).get("fact", NodeMetadata())
    _require((counts.access_count, counts.reward_count) == (0, 0), "after delete_metadata, counts start at zero")
    _require(backend.get_node("fact") is not None, "delete_metadata leaves the node")
    backend.update_metadata({"later": used})
    backend.apply_changeset(Changeset([], [], {"later": used}))
    backend.apply_changeset(Changeset([_fact("later", dimension)]))
    counts = backend.get_metadata(["later"]).get("later", NodeMetadata())
    _require(counts.access_count == 0, "metadata of a missing node is not kept")
    backend.update_metadata({})
    _require(backend.get_metadata([]) == {}, "get_metadata of no id returns nothing")


def _check_candidates(backend: GraphBackend, dimension: int) -> None:
    facts = [_fact("far", dimension, 2), _fact("near", dimension, 0), _fact("half", dimension, 0, 1)]
    backend.apply_changeset(Changeset([*facts, Tag(id="tag", label="tides", embedding=_axis(0, dimension))]))
    found = _found(backend, ["semantic"], _axis(0, dimension), threshold=0.1)
    _require(
        [node.id for node, _ in found] == ["near", "half"], "candidates come with the best first, to the threshold"
    )
    _require(abs(found[0][1] - 1) < 0.01 and abs(found[1][1] - 0.707) < 0.01, "the relevance is the cosine")
    _same(found[0][0], facts[1])
    by_tag = _found(backend, ["semantic"], _axis(0, dimension), [_axis(2, dimension)], threshold=0.9)
    _require({node.id for node, _ in by_tag} == {"near", "far"}, "the nearest of question and tags counts")
    one = _found(backend, ["semantic"], _axis(0, dimension), top_k=1)
    _require([node.id for node, _ in one] == ["near"], "of a type there are no more than its top_k")
    both = _found(backend, ["tag", "semantic"], _axis(0, dimension), threshold=0.9)
    _require([node.id for node, _ in both] == ["tag", "near"], "types come in the order they were asked for")
    opposite = [-number for number in _axis(0, dimension)]
    scores = [score for _, score in _found(backend, ["semantic"], opposite)]
    _require(all(0 <= score < 0.01 for score in scores), "no relevance is below 0")
    _require(_found(backend, ["intent"], _axis(0, dimension)) == [], "where nothing is there is no candidate")


def _check_values(backend: GraphBackend, dimension: int) -> None:
    facts = [_fact("good", dimension, 0, 1), _fact("poor", dimension, 0)]
    rewards = {"good": 3.0, "poor": 1.0}
    metadata = {id: NodeMetadata(cumulative_reward=reward, reward_count=4) for id, reward in rewards.items()}
    backend.apply_changeset(Changeset(facts, [], metadata))
    config = {"module": _Rewards(), "params": {"semantic": {"beta": 2.0}}}
    found = backend.find_candidates(["semantic"], _axis(0, dimension), [], config, {})
    scores = [(node.id, score) for node, score in found]
    _require(scores == [("good", 6.0), ("poor", 2.0)], "the value function decides, with the parameters of the type")
    usual = backend.find_candidates(["semantic"], _axis(0, dimension), [], {}, {})
    _require([node.id for node, _ in usual] == ["good", "poor"], "without a value function there is the default one")
    _require(abs(usual[0][1] - 0.264) < 0.01, "the default value is relevance x recency x frequency x reward")


def _check_all_or_nothing(backend: GraphBackend, dimension: int) -> None:
    fact, *_ = _few(dimension)
    wrong: Any = {"id": "a mapping is no node"}
    _refused("a changeset that holds what is no node", lambda: backend.apply_changeset(Changeset([fact, wrong])))
    _require(backend.get_node("fact") is None, "of a refused changeset nothing is kept")
    _refused("an unknown type of node", lambda: backend.get_nodes_by_type(["no type"]))


def _check_leaves_alone(backend: GraphBackend, dimension: int) -> None:
    fact, step, *_ = _few(dimension)
    changeset = Changeset([fact, step], [("fact", "step", Edge.PROVENANCE)], {"fact": NodeMetadata()})
    before = copy.deepcopy(changeset)
    backend.apply_changeset(changeset)
    _require(changeset == before, "apply_changeset does not change the changeset")
    backend.apply_changeset(changeset)
    _require(_links(backend, "fact", Edge.PROVENANCE) == {"step"}, "a changeset may be applied twice")


def _check_threads(backend: GraphBackend, dimension: int) -> None:
    backend.apply_changeset(Changeset([Tag(id="hub", label="tides", embedding=_axis(0, dimension))]))

    def write(thread: int) -> None:
        for number in range(_EACH):
            id = f"{thread}.{number}"
            fact = _fact(id, dimension, thread % dimension)
            backend.apply_changeset(Changeset([fact], [("hub", id, Edge.MEMBERSHIP)]))
            backend.get_linked_nodes(["hub"], Edge.MEMBERSHIP)

    with ThreadPoolExecutor(_THREADS) as threads:
        for written in [threads.submit(write, thread) for thread in range(_THREADS)]:
            written.result()
    tied = _links(backend, "hub", Edge.MEMBERSHIP)
    _require(len(tied) == _THREADS * _EACH, "no concurrent write of several threads is lost")


def _check_it_outlives(backend: GraphBackend, dimension: int, reopened: Callable[[GraphBackend], GraphBackend]) -> None:
    given = _one_of_each(dimension)
    used = NodeMetadata(access_count=2, last_accessed_at=_USED, cumulative_reward=1.5, reward_count=2)
    backend.apply_changeset(Changeset(list(given), [("semantic", "episodic", Edge.PROVENANCE)], {"semantic": used}))
    backend.apply_changeset(Changeset([], [("tag", "semantic", Edge.MEMBERSHIP)]))
    backend.delete_nodes(["intent"])
    again = reopened(backend)
    for node in given:
        if node.id != "intent":
            _same(again.get_node(node.id), node)
    _require(again.get_node("intent") is None, "what was deleted stays so when it is opened again")
    _require(_links(again, "semantic", Edge.PROVENANCE) == {"episodic"}, "ties are there when it is opened again")
    _require(_links(again, "semantic", Edge.MEMBERSHIP) == {"tag"}, "ties are there when it is opened again")
    _same_counts(again, "semantic", used)


CHECKS: Sequence[Check] = (
    _check_nodes_come_back,
    _check_types,
    _check_ties,
    _check_neighbours,
    _check_put_again,
    _check_nodes_bring_ties,
    _check_deleting,
    _check_metadata,
    _check_candidates,
    _check_values,
    _check_all_or_nothing,
    _check_leaves_alone,
    _check_threads,
)


def _one_of_each(dimension: int) -> tuple[Node, ...]:
    """Return one node of each type, with the type as its id."""
    made = datetime(2026, 2, 1, 8, 30, tzinfo=UTC)
    step = {"observation": "The ferry was full.", "action": "Booked the next one.", "state": "At the harbour."}
    nodes = (
        Episodic(id="episodic", subgoal="Cross over.", reward=0.5, trajectory_id="traj_1", **step),  # type: ignore[arg-type]
        Semantic(id="semantic", proposition="The ferry leaves at nine.", confidence=0.75),
        Procedural(
            id="procedural",
            instruction="Book a day ahead.",
            condition="It is summer.",
            expected_outcome="There is a seat.",
            return_score=0.25,
        ),
        Subgoal(id="subgoal", description="Cross over.", parent_goal="Visit the island."),
        Source(id="source", episode_id="ep_1", step_index=3, plain_text="The ferry was full."),
        Tag(id="tag", label="ferries"),
        Intent(id="intent", description="Travel without waiting."),
    )
    return tuple(
        replace(node, created_at=made, embedding=_axis(number, dimension)) for number, node in enumerate(nodes)
    )


def _few(dimension: int) -> tuple[Semantic, Episodic, Tag, Semantic]:
    step = Episodic(id="step", observation="Water rose.", action="Moved the boat.", embedding=_axis(1, dimension))
    tag = Tag(id="tag", label="tides", embedding=_axis(2, dimension))
    return _fact("fact", dimension), step, tag, _fact("other", dimension, 1)


def _fact(id: str, dimension: int, *axes: int) -> Semantic:
    vector = [0.0] * dimension
    for axis in axes or (0,):
        vector[axis % dimension] = 1.0
    return Semantic(id=id, proposition=f"What {id} says of the tide.", embedding=vector)


def _axis(number: int, dimension: int) -> list[float]:
    return [1.0 if place == number % dimension else 0.0 for place in range(dimension)]


def _found(
    backend: GraphBackend,
    types: Sequence[str],
    query: Sequence[float],
    tags: Sequence[Sequence[float]] = (),
    **params: float,
) -> list[tuple[Node, float]]:
    """Find candidates by relevance alone, with equal parameters for all types."""
    wanted = {"threshold": 0.0, "top_k": 5, **params}
    config = {"module": _Relevance(), "params": {node_type: wanted for node_type in types}}
    return list(backend.find_candidates(types, query, list(tags), config, {}))


def _links(backend: GraphBackend, id: str, edge: Edge) -> set[str]:
    node = backend.get_node(id)
    _require(node is not None, "what was put is there")
    assert node is not None
    return set(node.links[edge])


def _linked(backend: GraphBackend, ids: Sequence[str], edge: Edge | None = None) -> list[str]:
    return sorted(node.id for node in backend.get_linked_nodes(ids, edge))


def _same(held: Node | None, given: Node) -> None:
    _require(held is not None, f"what was put is there: {given.id}")
    assert held is not None
    _require(type(held) is type(given), f"a node comes back as a {type(given).__name__}")
    for part in fields(given):
        if part.name == "embedding":
            near = held.embedding is not None and cosine_similarity(held.embedding, given.embedding or ()) > _ALIKE
            _require(near, f"a {given.node_type} comes back with its embedding")
        elif part.name != "links":
            name = f"{given.node_type}.{part.name}"
            kept, put = getattr(held, part.name), getattr(given, part.name)
            _require(kept == put, f"{name} comes back as it was put: {put!r}, not {kept!r}")


def _same_counts(backend: GraphBackend, id: str, given: NodeMetadata) -> None:
    held = backend.get_metadata([id]).get(id)
    _require(held is not None, "metadata that was set is there")
    for name in ("access_count", "last_accessed_at", "cumulative_reward", "reward_count", "penalty"):
        kept, put = getattr(held, name), getattr(given, name)
        _require(kept == put, f"metadata comes back as it was set: {name} is {kept!r}, not {put!r}")


def _refused(what: str, ask: Callable[[], object]) -> None:
    try:
        ask()
    except PieriaError:
        return
    _require(False, f"{what} is refused with an error of pieria.errors")


def _require(kept: bool, rule: str) -> None:
    """Raise `AssertionError` unless the rule is kept. An `assert` would not run in optimized mode."""
    if not kept:
        raise AssertionError("not kept: " + rule)
