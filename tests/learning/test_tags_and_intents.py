"""Existing tags are matched by label, and existing intents by vector, and are not written twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.learning.trajectories import (
    GOAL,
    Embedding,
    Told,
    config,
    letters,
    named,
    of,
    telemetry_heard,
    tied,
    trajectory,
)

from pieria import Workspace
from pieria.errors import AdapterError, PromptError
from pieria.graph import (
    Changeset,
    Edge,
    GraphBackend,
    InMemoryBackend,
    Intent,
    Node,
    NodeMetadata,
    Procedural,
    Semantic,
    Tag,
)
from pieria.learning.draft import prepared, settled
from pieria.learning.intent_merger import merge, merging
from pieria.learning.structuring import structured
from pieria.learning.tag_deduplicator import deduplicate
from pieria.models.mind import Procedure, Proposition

ONCE = NodeMetadata().update_reward(0.5)


def at(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0, 0.0]


def spelled(degrees: float) -> str:
    """Return the angle as a word, because intents with other numbers are not the same: `xbf` is 15 degrees."""
    return "x" + "".join("abcdefghij"[int(digit)] for digit in f"{degrees:g}")


def angle(text: str) -> list[float]:
    word = (text.split() or [""])[-1]
    is_angle = len(word) > 1 and word[0] == "x" and set(word[1:]) <= set("abcdefghij")
    return at(float("".join(str("abcdefghij".index(letter)) for letter in word[1:])) if is_angle else 90.0)


ANGLES = Embedding(angle)
"""Embeds a text as the angle spelt at its end."""


def intent(id: str, degrees: float, description: str | None = None) -> Intent:
    return Intent(id=id, description=description or f"Aim {id} {spelled(degrees)}", embedding=at(degrees))


def rewarded(node: Node, other: Node, edge: Edge) -> Changeset:
    changeset = Changeset().add_node(node).add_node(other).put_metadata(node.id, ONCE)
    return changeset.add_link(node.id, other.id, edge)


def tagged(**labels: str) -> Changeset:
    """Return a changeset with a tag of each label, each on a fact of its own."""
    changeset = Changeset()
    for id, label in labels.items():
        fact = Semantic(id=f"of-{id}", proposition=f"The fact of-{id}.", embedding=at(90))
        changeset = changeset.merge(rewarded(Tag(id=id, label=label, embedding=at(90)), fact, Edge.MEMBERSHIP))
    return changeset


def serving(*intents: Intent) -> Changeset:
    """Return a changeset with these intents, each of a procedure of its own."""
    changeset = Changeset()
    for each in intents:
        way = Procedural(id=f"of-{each.id}", instruction=f"Do of-{each.id}.", embedding=at(90))
        changeset = changeset.merge(rewarded(each, way, Edge.HIERARCHICAL))
    return changeset


def ids(changeset: Changeset, kind: str) -> list[str]:
    return [node.id for node in of(changeset, kind)]


@pytest.fixture(params=["in memory", "bank"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphBackend]:
    with Workspace(tmp_path, embedder=ANGLES) as workspace:
        yield InMemoryBackend() if request.param == "in memory" else workspace.open("prepared").graph


def test_first_of_equal_tags_gets_what_all_had() -> None:
    once = deduplicate(tagged(a="Build", b=" build ", c="STRASSE", d="Straße"))
    assert ids(once, "tag") == ["a", "c"]
    assert tied(once, named(once, "Build"), "membership") == {"The fact of-a.", "The fact of-b."}
    assert (once.metadata["a"].reward_count, once.metadata["a"].cumulative_reward) == (2, 1.0)
    assert (once.gained, set(once.metadata)) == ({}, {"a", "c"})


def test_kept_tag_gains_ties_and_rewards_and_loses_nothing(backend: GraphBackend) -> None:
    backend.apply_changeset(tagged(held="Build", cpp="C++", marks="???"))
    used = NodeMetadata(access_count=3, cumulative_reward=2.0, reward_count=4)
    backend.update_metadata({"held": used})
    once = deduplicate(tagged(a="build", b="BUILD ", c="other", d="c++", e="???", f="C"), backend=backend)
    assert ids(once, "tag") == ["c", "f"]
    # A concurrent write that uses the tag before this one is applied.
    backend.update_metadata({"held": replace(used, access_count=9)})
    backend.apply_changeset(once)
    assert {node.id for node in backend.get_linked_nodes(["held"])} == {"of-held", "of-a", "of-b"}
    held = backend.get_metadata(["held"])["held"]
    assert (held.access_count, held.cumulative_reward, held.reward_count) == (9, 3.0, 6)
    assert {node.text for node in backend.get_nodes_by_type(["tag"])} == {"Build", "C++", "???", "other", "C"}
    put_again = Changeset([Tag(id="held", label="build", embedding=at(90))])
    assert ids(deduplicate(put_again, backend=backend), "tag") == ["held"]


def test_backend_without_labels_is_asked_for_its_tags() -> None:
    held = InMemoryBackend()
    held.apply_changeset(tagged(held="Build"))
    plain: Any = SimpleNamespace(get_nodes_by_type=held.get_nodes_by_type)
    assert ids(deduplicate(tagged(a="BUILD"), backend=plain), "tag") == []


def test_cosine_decides_if_an_intent_is_same_reworded_or_new(backend: GraphBackend) -> None:
    backend.apply_changeset(serving(intent("held", 0)))
    backend.update_metadata({"held": NodeMetadata(access_count=3, cumulative_reward=2.0, reward_count=4)})
    mind = Told(merged="Both aims xbf")
    for id, degrees, kept, words in (
        ("same", 10, {"held"}, "Aim held xa"),
        ("near", 30, {"held"}, "Both aims xbf"),
        ("far", 60, {"far", "held"}, "Both aims xbf"),
    ):
        backend.apply_changeset(merge(serving(intent(id, degrees)), backend, mind, ANGLES))
        intents = {node.id: node for node in backend.get_nodes_by_type(["intent"])}
        assert (set(intents), intents["held"].text) == (kept, words)
    assert mind.asked == ["merged"]
    assert intents["held"].embedding == pytest.approx(at(15), abs=0.02)
    assert {node.id for node in backend.get_linked_nodes(["held"])} == {"of-held", "of-same", "of-near"}
    used = backend.get_metadata(["held"])["held"]
    assert (used.access_count, used.cumulative_reward, used.reward_count) == (3, 3.0, 6)


def test_intents_of_one_changeset_are_merged() -> None:
    intents = serving(intent("a", 0), intent("b", 5), intent("c", 30), intent("d", 90))
    made, merges = merging(intents, None, Told(merged="Both xbf"), ANGLES)
    assert [(node.id, node.description) for node in of(made, "intent")] == [("a", "Both xbf"), ("d", "Aim d xja")]
    assert tied(made, named(made, "Both xbf"), "hierarchical") == {"Do of-a.", "Do of-b.", "Do of-c."}
    assert (made.metadata["a"].reward_count, made.gained) == (3, {})
    told = [(one["held"], one["new"], one["merged"]) for one in merges]
    assert told == [("Aim a xa", "Aim b xf", "Aim a xa"), ("Aim a xa", "Aim c xda", "Both xbf")]


def test_kept_intent_comes_first_and_is_compared_as_reworded() -> None:
    backend = InMemoryBackend()
    backend.apply_changeset(serving(intent("held", 0)))
    made = merge(serving(intent("a", 30), intent("b", 45)), backend, Told(merged="Both xea"), ANGLES)
    assert [(node.id, node.description) for node in of(made, "intent")] == [("held", "Both xea")]
    assert {tie[0] for tie in made.links} == {"held"}
    assert made.gained["held"].reward_count == 2


def test_intents_with_other_names_or_numbers_are_reworded() -> None:
    both = serving(intent("a", 0, "Restart web-3"), intent("b", 0, "Restart web-4"))
    alike = replace(both, additions=[replace(node, embedding=at(0)) for node in both.additions])
    made, merges = merging(alike, None, Told(merged="Restart web-3 and web-4"))
    assert [node.text for node in of(made, "intent")] == ["Restart web-3 and web-4"]
    assert [one["similarity"] for one in merges] == [1.0]


def test_without_a_wording_near_intents_count_as_the_same(caplog: pytest.LogCaptureFixture) -> None:
    for problem in (PromptError("merge_intent", "empty_response"), AdapterError("m", "chat", "500")):
        caplog.clear()
        made = merge(serving(intent("a", 0), intent("b", 30)), None, Told(merged=problem), ANGLES)
        assert [(node.id, node.description) for node in of(made, "intent")] == [("a", "Aim a xa")]
        assert "count as the same" in caplog.text


def test_without_vectors_intents_are_the_same_by_their_words() -> None:
    bare = [replace(intent(id, 0, words), embedding=None) for id, words in (("a", "Aim"), ("b", "aim "), ("c", "Goal"))]
    for embedding in (None, letters(AdapterError("letters", "embed", "out of order"))):
        assert ids(merge(serving(*bare), None, Told(), embedding), "intent") == ["a", "c"]


def test_thresholds_are_those_of_the_configuration() -> None:
    for given, kept, asked in (
        ({"intent_merge_threshold": 0.9}, 2, []),
        ({"intent_identity_threshold": 0.85}, 1, []),
        ({}, 1, ["merged"]),
    ):
        mind = Told(merged="Both xbf")
        made = merge(serving(intent("a", 0), intent("b", 30)), None, mind, ANGLES, config(**given))
        assert (len(of(made, "intent")), mind.asked) == (kept, asked)


def test_value_function_chooses_among_near_intents() -> None:
    class MostUsed:
        def score(self, relevance: float, node: Any, metadata: Any, params: Any) -> float:
            return float(metadata.access_count)

    backend = InMemoryBackend()
    backend.apply_changeset(serving(intent("nearest", 1), intent("used", 10)))
    backend.update_metadata({"nearest": NodeMetadata(), "used": NodeMetadata(access_count=5)})
    for given, taken in ((None, "nearest"), ({"module": MostUsed}, "used")):
        made = merge(serving(intent("a", 0)), backend, Told(), ANGLES, None, given)
        assert {tie[0] for tie in made.links} == {taken}


def test_knowledge_learnt_twice_strengthens_the_first(backend: GraphBackend) -> None:
    mind = Told([Proposition("It rains.", ("Rain",))], [Procedure("Stay dry", "it rains", "Take a coat", "dry")], [0.5])
    detailed = config(trace_verbosity="detailed")
    for turn in range(2):
        made = structured(trajectory(0.5, id=f"traj_{turn}"), GOAL, llm=mind, embedding=ANGLES, config=detailed)
        ready = settled(made, backend, mind, ANGLES, detailed)
        assert ready.trace.merged_intents is not None
        assert len(ready.trace.merged_intents) == turn
        backend.apply_changeset(ready.changeset)
    [fact], [way] = (backend.get_nodes_by_type([kind]) for kind in ("semantic", "procedural"))
    assert [len(backend.get_nodes_by_type([kind])) for kind in ("tag", "intent")] == [1, 1]
    for id, rewards in ((fact.id, 1.0), (way.id, 1.0)):
        used = backend.get_metadata([id])[id]
        assert (used.reward_count, used.cumulative_reward, used.access_count) == (2, rewards, 1)
        assert len(backend.get_linked_nodes([id], Edge.PROVENANCE)) == 2
    assert prepared(Changeset(), backend, mind, ANGLES) == Changeset()


def test_other_conditions_outcomes_intents_and_words_are_new(backend: GraphBackend) -> None:
    def learnt(turn: int, intent: str, condition: str, instruction: str, outcome: str) -> int:
        mind = Told([], [Procedure(intent, condition, instruction, outcome)], [0.5])
        made = structured(trajectory(0.5, id=f"traj_{turn}"), GOAL, llm=mind, embedding=ANGLES)
        backend.apply_changeset(settled(made, backend, mind, ANGLES).changeset)
        return len(backend.get_nodes_by_type(["procedural"]))

    told = [
        ("Stay dry xa", "it rains", "Take a coat", "3 were dry"),
        ("Stay dry xa", "it rains", "Take a coat", "5 were dry"),
        ("Stay dry xa", "it rains", "Take a coat", "5 were not dry"),
        ("Stay dry xa", "it snows", "Take a coat", "3 were dry"),
        ("Stay warm xga", "it rains", "Take a coat", "3 were dry"),
        ("Stay dry xa", "it rains", "Take coats", "3 were dry"),
    ]
    assert [learnt(turn, *words) for turn, words in enumerate(told)] == [1, 1, 2, 3, 4, 5]


def test_telemetry_counts_what_was_merged() -> None:
    changeset = tagged(a="x", b="X").merge(serving(intent("i", 0), intent("j", 1), intent("k", 30)))
    with telemetry_heard() as heard:
        prepared(changeset, None, Told(merged="Both xbf"), ANGLES)
    told = {name: (about, measured) for name, measured, about in heard}
    tags, intents = told["tag_deduplicator.deduplicate.stop"], told["intent_merger.merge.stop"]
    assert (tags[0], tags[1]["deduped"]) == ({"tag_count": 2}, 1)
    assert (intents[0], intents[1]["merged"], intents[1]["rewrites"]) == ({"intent_count": 3}, 1, 2)
