"""A bank as a graph: every store keeps the backend contract, and learnt nodes are memories like any other."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.bank.kept import Kept
from tests.graph.histories import histories

from pieria import Bank, Memory, Workspace, telemetry
from pieria.errors import ConflictError, InputError, UnavailableError
from pieria.graph import (
    NODE_TYPES,
    Changeset,
    Edge,
    Episodic,
    GraphBackend,
    InMemoryBackend,
    Node,
    NodeMetadata,
    Procedural,
    Semantic,
    Source,
    Tag,
)
from pieria.graph.contract import check_backend

NUMBERS = 8


def axes(texts: list[str]) -> list[list[float]]:
    """Return vectors that depend only on the length of a text."""
    return [[1.0 if place == len(text) % NUMBERS else 0.1 for place in range(NUMBERS)] for text in texts]


def axis(number: int, *more: int) -> list[float]:
    return [1.0 if place in (number, *more) else 0.0 for place in range(NUMBERS)]


def workspace(kept: Kept) -> Workspace:
    return Workspace(kept.data, {**kept.settings, "durability": "off"}, embedder=axes)


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with workspace(Kept(str(tmp_path))) as opened:
        yield opened.open("notes")


def fact(id: str = "fact", text: str = "The ferry leaves at nine.", **more: Any) -> Semantic:
    return Semantic(id=id, proposition=text, **more)


def step(id: str = "step", **more: Any) -> Episodic:
    return Episodic(id=id, observation="The ferry was full.", action="Booked the next one.", **more)


def kept_in(bank: Bank, id: str) -> Memory:
    memory = bank.get(id)
    assert memory is not None
    return memory


# --- the contract


def test_a_bank_keeps_the_contract_of_backends(kept: Kept) -> None:
    with workspace(kept) as opened:
        names = (f"bank{number}" for number in itertools.count())

        def reopened(backend: GraphBackend) -> GraphBackend:
            bank: Bank = backend._bank  # type: ignore[attr-defined]
            bank.close()
            return opened.open(bank.name).graph

        check_backend(lambda: opened.open(next(names)).graph, dimension=NUMBERS, reopened=reopened)


def as_compared(backend: GraphBackend) -> dict[str, tuple[Node, int, float]]:
    """Return nodes and usage without embeddings, because a bank embeds nodes that come without a vector."""
    nodes = backend.get_nodes_by_type(NODE_TYPES)
    metadata = backend.get_metadata([node.id for node in nodes])
    used = {node.id: metadata.get(node.id, NodeMetadata()) for node in nodes}
    return {
        node.id: (replace(node, embedding=None), used[node.id].access_count, used[node.id].cumulative_reward)
        for node in nodes
    }


def without_vectors(changeset: Changeset) -> Changeset:
    return Changeset(
        [replace(node, embedding=None) for node in changeset.additions], changeset.links, changeset.metadata
    )


def same_types(taken: dict[str, str], changeset: Changeset) -> bool:
    """Return whether each id keeps its first node type, as a bank requires."""
    found = {**taken}
    return all(found.setdefault(node.id, node.node_type) == node.node_type for node in changeset.additions)


@settings(max_examples=12)
@given(histories)
def test_a_bank_and_the_backend_in_memory_agree_about_any_history(history: list[Any]) -> None:
    plain, taken = InMemoryBackend(), dict[str, str]()
    with Workspace("any", {"durability": "off", "embedder": "none"}) as opened:
        bank = opened.open(f"b{len(opened.banks())}")
        for given_step in history:
            if not isinstance(given_step, Changeset):
                plain.delete_nodes(given_step)
                bank.graph.delete_nodes(given_step)
            elif same_types(taken, given_step):
                taken |= {node.id: node.node_type for node in given_step.additions}
                plain.apply_changeset(without_vectors(given_step))
                bank.graph.apply_changeset(without_vectors(given_step))
            assert as_compared(bank.graph) == as_compared(plain)


def test_both_value_candidates_alike(bank: Bank) -> None:
    plain = InMemoryBackend(clock=bank.clock)
    facts = [fact(f"f{number}", embedding=axis(number, number + 1)) for number in range(6)]
    used = {
        node.id: NodeMetadata(access_count=n, cumulative_reward=n / 6, reward_count=1) for n, node in enumerate(facts)
    }
    for backend in (plain, bank.graph):
        backend.apply_changeset(Changeset(facts, [], used))
    for tags in ([], [axis(5)]):
        both = [backend.find_candidates(["semantic"], axis(1), tags, None, None) for backend in (plain, bank.graph)]
        [one, other] = [[(node.id, pytest.approx(score, abs=0.01)) for node, score in found] for found in both]
        assert one == other
        assert len(one) == 6


# --- one memory


def test_a_changeset_of_the_graph_is_one_change_of_the_bank_and_can_be_undone(bank: Bank) -> None:
    before = len(bank.changes())
    changeset = Changeset([fact(), step()], [("fact", "step", Edge.PROVENANCE)], {"fact": NodeMetadata(access_count=2)})
    bank.graph.apply_changeset(changeset)
    [change] = bank.changes()[before:]
    assert change.what == "graph"
    assert {"fact", "step"} <= set(change.ids)
    bank.undo(change.seq)
    assert bank.graph.get_nodes_by_type(NODE_TYPES) == []


def test_to_put_a_node_as_it_stands_changes_nothing(bank: Bank) -> None:
    put = Changeset([fact(embedding=axis(2)), step()], [("fact", "step", Edge.PROVENANCE)], {"fact": NodeMetadata()})
    bank.graph.apply_changeset(put)
    before = bank.changes()
    bank.graph.apply_changeset(put)
    assert bank.changes() == before


def test_what_is_learnt_is_recalled_corrected_and_forgotten_like_any_memory(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact(confidence=0.75), step()]))
    [hit] = bank.recall("when does the ferry leave?", kinds="semantic")
    assert (hit.memory.id, hit.memory.confidence) == ("fact", 0.75)
    bank.update("fact", text="The ferry leaves at ten.")
    bank.update("step", text="The ferry was late → Waited.")
    assert bank.graph.get_node("fact").proposition == "The ferry leaves at ten."  # type: ignore[union-attr]
    corrected = bank.graph.get_node("step")
    assert isinstance(corrected, Episodic)
    assert (corrected.observation, corrected.action) == ("The ferry was late", "Waited.")
    bank.remove("fact")
    assert bank.graph.get_node("fact") is None
    bank.graph.delete_nodes(["step"])
    assert bank.get("step") is None
    assert bank.restore("step").text == "The ferry was late → Waited."


def test_what_came_in_elsewhere_as_one_of_the_kinds_is_a_node(bank: Bank) -> None:
    bank.remember("The harbour closes at dusk.", id="m1", kind="semantic")
    bank.remember("Ring the bell twice.", id="m2", kind="procedural", body={"condition": "The gate is shut."})
    bank.remember("It rained.", id="m3", kind="episodic")
    bank.remember("a line of the log", id="m4", kind="source", session="monday", sequence=4)
    bank.remember("A note is no node.", id="m5")
    nodes = {node.id: node for node in bank.graph.get_nodes_by_type(NODE_TYPES)}
    assert nodes.keys() == {"m1", "m2", "m3", "m4"}
    assert replace(nodes["m1"], embedding=None) == fact(
        "m1", "The harbour closes at dusk.", created_at=kept_in(bank, "m1").at
    )
    assert isinstance(nodes["m2"], Procedural)
    assert nodes["m2"].condition == "The gate is shut."
    assert isinstance(nodes["m3"], Episodic)
    assert (nodes["m3"].observation, nodes["m3"].action) == ("It rained.", "")
    assert isinstance(nodes["m4"], Source)
    assert (nodes["m4"].episode_id, nodes["m4"].step_index, nodes["m4"].plain_text) == (
        "monday",
        4,
        "a line of the log",
    )


def test_a_source_without_text_stays_without_until_it_gets_some(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([Source(id="s", episode_id="ep", step_index=2)]))
    [silent] = bank.graph.get_nodes_by_type(["source"])
    assert silent == Source(
        id="s", episode_id="ep", step_index=2, created_at=silent.created_at, embedding=silent.embedding
    )
    bank.graph.apply_changeset(Changeset([replace(silent, plain_text="It rained.")]))
    [said] = bank.graph.get_nodes_by_type(["source"])
    assert (said.text, kept_in(bank, "s").body) == ("It rained.", {"episode_id": "ep", "step_index": 2})


def test_a_node_that_is_put_again_becomes_the_next_version_and_keeps_what_others_said_of_it(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact()]))
    bank.update("fact", tags=["ferries"], body={"type": "fact"}, importance=0.9)
    bank.graph.apply_changeset(Changeset([fact(text="The ferry leaves at ten.")]))
    memory = kept_in(bank, "fact")
    assert (memory.version, memory.tags, memory.body, memory.importance) == (3, ("ferries",), {"type": "fact"}, 0.9)
    assert bank.history("fact")[0].text == "The ferry leaves at nine."


def test_provenance_leads_from_knowledge_to_evidence_whichever_end_is_named_first(bank: Bank) -> None:
    source = Source(id="source", episode_id="ep", step_index=0, plain_text="The ferry was full.")
    ties = [("step", "fact", Edge.PROVENANCE), ("source", "step", Edge.PROVENANCE)]
    bank.graph.apply_changeset(Changeset([fact(), step(), source], ties))
    assert {(link.source.name, link.target.name) for link in bank.links()} == {("fact", "step"), ("step", "source")}
    receipt = bank.purge("source")
    assert set(receipt.also) == {"step", "fact"}
    with pytest.raises(ConflictError, match="purged"):
        bank.graph.apply_changeset(Changeset([fact()]))


def test_usage_is_counted_once_for_all_doors(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact()], [], {"fact": NodeMetadata(cumulative_reward=0.5, reward_count=1)}))
    bank.touch("fact", reviews=2, reward=1.0)
    [held] = bank.graph.get_metadata(["fact"]).values()
    assert (held.access_count, held.cumulative_reward, held.reward_count) == (1, 1.5, 2)
    bank.graph.update_metadata({"fact": held.record_access()})
    used = bank.usage("fact")["fact"]
    assert (used.accesses, used.reviews, used.rewards) == (2, 2, 1.0), "a bank counts rewards around 0"
    bank.graph.delete_metadata(["fact"])
    used = bank.usage("fact")["fact"]
    assert (used.accesses, used.last_access, used.reviews, used.rewarded) == (0, None, 2, 0)
    assert kept_in(bank, "fact").version == 1


def test_what_is_counted_off_the_read_path_is_seen_in_metadata_and_not_lost_to_it(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact()]))
    bank.core.uses.note(["fact"])
    [held] = bank.graph.get_metadata(["fact"]).values()
    assert held.access_count == 1
    bank.graph.update_metadata({"fact": replace(held, access_count=5)})
    bank.sync()
    assert bank.graph.get_metadata(["fact"])["fact"].access_count == 5


def test_nodes_are_screened_like_all_that_is_written(bank: Bank) -> None:
    said = replace(step(), observation="The code is <private>4711</private> now.", state="<private>4711</private>")
    bank.graph.apply_changeset(Changeset([said, fact(text="It opens. <private>4711</private>")]))
    assert all("4711" not in str(kept_in(bank, id).as_dict()) for id in ("step", "fact"))
    held = bank.graph.get_node("step")
    assert isinstance(held, Episodic)
    assert (held.action, held.state) == ("Booked the next one.", "")


def test_what_a_session_keeps_to_itself_is_no_node_to_others(bank: Bank) -> None:
    bank.remember("Only here.", id="mine", kind="semantic", scope="session", session="monday")
    bank.graph.apply_changeset(Changeset([fact()], [("fact", "mine", Edge.SIBLING)]))
    assert bank.graph.get_node("mine") is None
    assert not bank.graph.get_node("fact").links[Edge.SIBLING]  # type: ignore[union-attr]
    with pytest.raises(ConflictError, match="the id is taken"):
        bank.graph.apply_changeset(Changeset([fact("mine")]))


@pytest.mark.parametrize("id", ["note", "other"])
def test_an_id_that_is_taken_by_another_kind_is_refused_and_nothing_is_kept(bank: Bank, id: str) -> None:
    bank.remember("A note.", id="note")
    bank.graph.apply_changeset(Changeset([Tag(id="other", label="tides")]))
    before = bank.changes()
    with pytest.raises(ConflictError, match="the id is taken"):
        bank.graph.apply_changeset(Changeset([fact(), fact(id)], [("fact", id, Edge.SIBLING)]))
    assert bank.graph.get_node("fact") is None
    assert bank.changes() == before


def test_a_revised_fact_is_put_under_its_new_id_only(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact()]))
    revised = bank.revise("fact", text="The ferry leaves at ten.")
    with pytest.raises(ConflictError, match=f"revised as {revised.id}"):
        bank.graph.apply_changeset(Changeset([fact()]))
    assert [node.id for node in bank.graph.get_nodes_by_type(["semantic"])] == [revised.id]


def test_vectors_of_another_length_or_without_a_space_are_refused(bank: Bank, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="8 numbers"):
        bank.graph.apply_changeset(Changeset([fact(embedding=[1.0, 0.0])]))
    bank.graph.apply_changeset(Changeset([fact()]))
    bank.sync()
    with pytest.raises(InputError, match="query_embedding: expected 8 numbers"):
        bank.graph.find_candidates(["semantic"], [1.0, 0.0])
    with Workspace(tmp_path / "bare") as bare, pytest.raises(UnavailableError, match="no vector space"):
        bare.open("notes").graph.apply_changeset(Changeset([fact(embedding=[1.0])]))


def test_what_was_just_put_without_a_vector_is_a_candidate_at_once(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact()]))
    [(node, score)] = bank.graph.find_candidates(["semantic"], axes(["The ferry leaves at nine."])[0])
    assert node.id == "fact"
    assert score == pytest.approx(0.3, abs=0.01)


def test_the_latest_are_those_that_changed_last_with_their_metadata(bank: Bank) -> None:
    for number in range(3):
        bank.graph.apply_changeset(Changeset([fact(f"f{number}", text=f"Fact {number}.")]))
    bank.update("f0", text="Fact 0, corrected.")
    found = bank.graph.latest(2, ["semantic", "procedural"])
    assert [(node.id, metadata.access_count) for node, metadata in found] == [("f0", 0), ("f2", 0)]
    assert found[0][1].created_at == kept_in(bank, "f0").known_from


def test_pages_hold_each_node_once_whatever_comes_in_meanwhile(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact(str(number)) for number in range(5)]).add_node(step()))
    first = bank.graph.page(["semantic"], 2)
    bank.graph.apply_changeset(Changeset([fact("late")]))
    bank.graph.delete_nodes([first.nodes[0].id])
    second = bank.graph.page(["semantic"], 2, first.cursor)
    last = bank.graph.page(["semantic"], 10, second.cursor)
    assert [node.id for page in (first, second, last) for node in page.nodes] == [*"01234", "late"]
    assert last.cursor is None
    with pytest.raises(InputError, match="same filters"):
        bank.graph.page(["semantic", "episodic"], 2, first.cursor)
    both = bank.graph.page(["semantic", "episodic"], 2)
    assert bank.graph.page(["episodic", "semantic"], 9, both.cursor).cursor is None


def test_everything_that_a_bank_holds_can_be_seen_as_nodes(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact()]))
    for kind in ("note", "drawer", "observation", "summary", "diary", "turn"):
        bank.remember(f"The ferry is late ({kind}).", id=kind, kind=kind, body={"subgoal": "none of a node's"})
    bank.link("summary", "turn", "provenance")
    every = bank.graph.everything
    assert {node.id: node.node_type for node in every.get_nodes_by_type(NODE_TYPES)} == {
        "fact": "semantic", "note": "semantic", "drawer": "semantic", "observation": "semantic", "summary": "semantic",
        "diary": "episodic", "turn": "episodic",
    }  # fmt: skip
    turn = every.get_node("turn")
    assert isinstance(turn, Episodic)
    assert (turn.observation, turn.action, turn.subgoal) == ("The ferry is late (turn).", "", "")
    assert [node.id for node in every.get_linked_nodes(["turn"], Edge.PROVENANCE)] == ["summary"]
    assert {node.id for node, _ in every.find_candidates(["semantic"], axis(3))} >= {"note", "drawer", "fact"}
    assert [node.id for node, _ in every.latest(1, ["episodic"])] == ["turn"]
    every.update_metadata({"note": NodeMetadata(access_count=3)})
    assert bank.usage("note")["note"].accesses == 3
    assert bank.graph.get_node("note") is None


def test_the_whole_graph_is_there_as_a_value(bank: Bank) -> None:
    bank.graph.apply_changeset(Changeset([fact(), Tag(id="t", label="Ferries")], [("t", "fact", Edge.MEMBERSHIP)]))
    graph = bank.graph.graph
    assert graph.nodes.keys() == {"fact", "t"}
    assert graph.by_tag == {"ferries": {"t"}}
    assert graph.nodes["t"].links[Edge.MEMBERSHIP] == {"fact"}


def test_a_graph_of_many_nodes_is_written_at_once(bank: Bank) -> None:
    steps = [step(f"s{number}", embedding=axis(number % NUMBERS)) for number in range(150)]
    facts = [fact(f"f{number}", text=f"Fact {number}.", embedding=axis(number % NUMBERS)) for number in range(150)]
    ties = [(node.id, evidence.id, Edge.PROVENANCE) for node in facts for evidence in steps[:20]]
    bank.graph.apply_changeset(Changeset([*steps, *facts], ties))
    assert len(bank.graph.get_linked_nodes(["s0"], Edge.PROVENANCE)) == 150


def test_writing_is_told_as_a_span(bank: Bank) -> None:
    told: list[tuple[str, Any]] = []
    detach = telemetry.attach(lambda event, _, metadata: told.append((".".join(event[1:]), metadata.get("repo_id"))))
    try:
        bank.graph.apply_changeset(Changeset([fact()]))
    finally:
        detach()
    assert [each for each in told if each[0].startswith("storage")] == [
        ("storage.persist.start", "notes"),
        ("storage.persist.stop", "notes"),
    ]
