"""Existing tags are matched by label, and existing intents by vector, and are not written twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.learning.living import GOAL, Letters, Told, named, of, tied, trajectory

from pieria import Config, Workspace, telemetry
from pieria.errors import AdapterError, PromptError
from pieria.graph import Changeset, Edge, GraphBackend, InMemoryBackend, Intent, NodeMetadata, Procedural, Semantic, Tag
from pieria.learning.draft import prepared, settled
from pieria.learning.intent_merger import merge, merging
from pieria.learning.structuring import structured
from pieria.learning.tag_deduplicator import deduplicate
from pieria.models import EmbeddingResponse
from pieria.models.mind import Procedure, Proposition

ONCE = NodeMetadata().update_reward(0.5)
DIMENSION = 4


@pytest.fixture(params=["in memory", "bank"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphBackend]:
    if request.param == "in memory":
        yield InMemoryBackend()
        return
    with Workspace(tmp_path, embedder=Angles()) as workspace:
        yield workspace.open("prepared").graph


class Angles:
    """Embeds a text as the angle at its end, in degrees."""

    def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
        return self.embed_batch([text])

    def embed_batch(self, texts: Sequence[str], opts: Any = None) -> EmbeddingResponse:
        return EmbeddingResponse([at(float(text.split()[-1]) if text[-1:].isdigit() else 90.0) for text in texts], "a")


def at(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0, 0.0]


def tag(id: str, label: str) -> Tag:
    return Tag(id=id, label=label, embedding=at(90))


def fact(id: str) -> Semantic:
    return Semantic(id=id, proposition=f"The fact {id}.", embedding=at(90))


def intent(id: str, degrees: float, description: str | None = None) -> Intent:
    return Intent(id=id, description=description or f"Aim {id} {degrees:g}", embedding=at(degrees))


def way(id: str) -> Procedural:
    return Procedural(id=id, instruction=f"Do {id}.", embedding=at(90))


def tagged(*tags: Tag) -> Changeset:
    """Return a changeset with each tag on a fact of its own, with a reward."""
    changeset = Changeset()
    for each in tags:
        changeset = changeset.add_node(each).add_node(fact(f"of-{each.id}")).put_metadata(each.id, ONCE)
        changeset = changeset.add_link(each.id, f"of-{each.id}", Edge.MEMBERSHIP)
    return changeset


def serving(*intents: Intent) -> Changeset:
    changeset = Changeset()
    for each in intents:
        changeset = changeset.add_node(each).add_node(way(f"of-{each.id}")).put_metadata(each.id, ONCE)
        changeset = changeset.add_link(each.id, f"of-{each.id}", Edge.HIERARCHICAL)
    return changeset


# --- tags


def test_of_tags_that_say_the_same_the_first_stays_with_what_all_had() -> None:
    once = deduplicate(tagged(tag("a", "Build"), tag("b", " build "), tag("c", "STRASSE"), tag("d", "Straße")))
    assert [node.id for node in of(once, "tag")] == ["a", "c"]
    assert tied(once, named(once, "Build"), "membership") == {"The fact of-a.", "The fact of-b."}
    assert (once.metadata["a"].reward_count, once.metadata["a"].cumulative_reward) == (2, 1.0)
    assert not once.gained
    assert set(once.metadata) == {"a", "c"}


def test_a_tag_that_is_kept_already_gets_the_ties_and_rewards_and_loses_nothing_of_its_own(
    backend: GraphBackend,
) -> None:
    backend.apply_changeset(tagged(tag("held", "Build")))
    used = NodeMetadata(access_count=3, cumulative_reward=2.0, reward_count=4)
    backend.update_metadata({"held": used})
    once = deduplicate(tagged(tag("a", "build"), tag("b", "BUILD "), tag("c", "other")), backend=backend)
    assert [node.id for node in of(once, "tag")] == ["c"]
    # A concurrent write that uses the tag before this one is applied.
    backend.update_metadata({"held": replace(used, access_count=9)})
    backend.apply_changeset(once)
    assert {node.id for node in backend.get_linked_nodes(["held"])} == {"of-held", "of-a", "of-b"}
    held = backend.get_metadata(["held"])["held"]
    assert (held.access_count, held.cumulative_reward, held.reward_count) == (9, 3.0, 6)
    assert {node.text for node in backend.get_nodes_by_type(["tag"])} == {"Build", "other"}


def test_a_label_of_marks_alone_is_found_as_well(backend: GraphBackend) -> None:
    backend.apply_changeset(tagged(tag("held", "C++"), tag("marks", "???")))
    once = deduplicate(tagged(tag("a", "c++"), tag("b", "???"), tag("c", "C")), backend=backend)
    assert [node.id for node in of(once, "tag")] == ["c"]


def test_a_tag_that_is_put_again_stays_itself(backend: GraphBackend) -> None:
    backend.apply_changeset(tagged(tag("held", "Build")))
    assert [node.id for node in of(deduplicate(Changeset([tag("held", "build")]), backend=backend), "tag")] == ["held"]


def test_a_backend_that_finds_no_labels_is_asked_for_its_tags() -> None:
    class Plain:
        def __init__(self) -> None:
            self._inner = InMemoryBackend()

        def __getattr__(self, name: str) -> Any:
            if name == "find_tags":
                raise AttributeError(name)
            return getattr(self._inner, name)

    plain: Any = Plain()
    plain.apply_changeset(tagged(tag("held", "Build")))
    assert of(deduplicate(tagged(tag("a", "BUILD")), backend=plain), "tag") == []


# --- intents


def test_an_intent_is_the_same_newly_worded_or_another_by_its_cosine_to_those_kept(backend: GraphBackend) -> None:
    backend.apply_changeset(serving(intent("held", 0)))
    backend.update_metadata({"held": NodeMetadata(access_count=3, cumulative_reward=2.0, reward_count=4)})
    mind = Told(merged="Both aims 15")
    for id, degrees, kept, words in (
        ("same", 10, ["held"], "Aim held 0"),
        ("near", 30, ["held"], "Both aims 15"),
        ("far", 60, ["far", "held"], "Both aims 15"),
    ):
        made = merge(serving(intent(id, degrees)), backend, mind, Angles())
        backend.apply_changeset(made)
        assert sorted(node.id for node in backend.get_nodes_by_type(["intent"])) == kept
        held = backend.get_node("held")
        assert isinstance(held, Intent)
        assert held.description == words
    assert mind.asked == ["merged"]
    assert isinstance(held, Intent)
    assert held.embedding == pytest.approx(at(15), abs=0.02)
    assert {node.id for node in backend.get_linked_nodes(["held"])} == {"of-held", "of-same", "of-near"}
    used = backend.get_metadata(["held"])["held"]
    assert (used.access_count, used.cumulative_reward, used.reward_count) == (3, 3.0, 6)


def test_intents_of_one_changeset_are_merged_with_each_other() -> None:
    made, merges = merging(
        serving(intent("a", 0), intent("b", 5), intent("c", 30), intent("d", 90)),
        None,
        Told(merged="Both 15"),
        Angles(),
    )
    assert [(node.id, node.description) for node in of(made, "intent")] == [("a", "Both 15"), ("d", "Aim d 90")]
    assert tied(made, named(made, "Both 15"), "hierarchical") == {"Do of-a.", "Do of-b.", "Do of-c."}
    assert (made.metadata["a"].reward_count, made.gained) == (3, {})
    assert [(one["held"], one["new"], one["merged"]) for one in merges] == [
        ("Aim a 0", "Aim b 5", "Aim a 0"),
        ("Aim a 0", "Aim c 30", "Both 15"),
    ]


def test_what_is_kept_goes_before_what_came_with_it_and_is_compared_as_it_is_by_now() -> None:
    backend = InMemoryBackend()
    backend.apply_changeset(serving(intent("held", 0)))
    made = merge(serving(intent("a", 30), intent("b", 45)), backend, Told(merged="Both 40"), Angles())
    assert [(node.id, node.description) for node in of(made, "intent")] == [("held", "Both 40")]
    assert {tie[0] for tie in made.links} == {"held"}
    assert made.gained["held"].reward_count == 2


@pytest.mark.parametrize("problem", [PromptError("merge_intent", "empty_response"), AdapterError("m", "chat", "500")])
def test_where_no_wording_can_be_had_two_intents_count_as_the_same(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    made = merge(serving(intent("a", 0), intent("b", 30)), None, Told(merged=problem), Angles())
    assert [(node.id, node.description) for node in of(made, "intent")] == [("a", "Aim a 0")]
    assert "count as the same" in caplog.text


def test_where_nothing_embeds_only_the_same_words_are_the_same_intent() -> None:
    bare = [replace(intent(id, 0, words), embedding=None) for id, words in (("a", "Aim"), ("b", "aim "), ("c", "Goal"))]
    assert [node.id for node in of(merge(serving(*bare), None, Told()), "intent")] == ["a", "c"]
    broken = Letters(AdapterError("letters", "embed", "out of order"))
    assert [node.id for node in of(merge(serving(*bare), None, Told(), broken), "intent")] == ["a", "c"]


def test_the_thresholds_are_those_of_the_configuration() -> None:
    def kept(**more: Any) -> int:
        config = Config(llm={"model": "none"}, embedding={"model": "auto"}, **more)
        made = merge(serving(intent("a", 0), intent("b", 30)), None, mind, Angles(), config)
        return len(of(made, "intent"))

    mind = Told(merged="Both 15")
    assert (kept(intent_merge_threshold=0.9), mind.asked) == (2, [])
    assert (kept(intent_identity_threshold=0.85), mind.asked) == (1, [])
    assert (kept(), mind.asked) == (1, ["merged"])


def test_a_value_function_chooses_among_those_that_are_near_enough() -> None:
    class MostUsed:
        def score(self, relevance: float, node: Any, metadata: Any, params: Any) -> float:
            return float(metadata.access_count)

    backend = InMemoryBackend()
    backend.apply_changeset(serving(intent("nearest", 1), intent("used", 10)))
    backend.update_metadata({"nearest": NodeMetadata(), "used": NodeMetadata(access_count=5)})
    for given, taken in ((None, "nearest"), ({"module": MostUsed}, "used")):
        made = merge(serving(intent("a", 0)), backend, Told(), Angles(), None, given)
        assert {tie[0] for tie in made.links} == {taken}


# --- both


def test_what_was_structured_twice_is_written_with_the_same_tags_and_intents(backend: GraphBackend) -> None:
    mind = Told([Proposition("It rains.", ("Rain",))], [Procedure("Stay dry", "it rains", "Take a coat", "dry")], [0.5])
    config = Config(llm={"model": "none"}, embedding={"model": "auto"}, trace_verbosity="detailed")
    for turn in range(2):
        made = structured(trajectory(0.5, id=f"traj_{turn}"), GOAL, llm=mind, embedding=Angles(), config=config)
        ready = settled(made, backend, mind, Angles(), config)
        assert ready.trace.merged_intents is not None
        assert len(ready.trace.merged_intents) == turn
        backend.apply_changeset(ready.changeset)
    assert {kind: len(backend.get_nodes_by_type([kind])) for kind in ("tag", "intent", "semantic")} == {
        "tag": 1, "intent": 1, "semantic": 2,
    }  # fmt: skip
    assert prepared(Changeset(), backend, mind, Angles()) == Changeset()


def test_telemetry_tells_how_many_went() -> None:
    heard: list[tuple[Any, Any, Any]] = []
    stop = telemetry.attach(lambda *told: heard.append(told))
    try:
        changeset = tagged(tag("a", "x"), tag("b", "X")).merge(serving(intent("i", 0), intent("j", 1), intent("k", 30)))
        prepared(changeset, None, Told(merged="Both 15"), Angles())
    finally:
        stop()
    told = {event[1:-1]: (metadata, measured) for event, measured, metadata in heard if event[-1] == "stop"}
    tags, intents = told["tag_deduplicator", "deduplicate"], told["intent_merger", "merge"]
    assert (tags[0], tags[1]["deduped"]) == ({"tag_count": 2}, 1)
    assert (intents[0], intents[1]["merged"], intents[1]["rewrites"]) == ({"intent_count": 3}, 1, 2)
