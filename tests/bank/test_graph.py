"""A bank as a graph: every store keeps the backend contract, and learnt nodes are memories like any other."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.bank.kept import Kept, held
from tests.graph.histories import histories

from pieria import Bank, Workspace, graph, telemetry
from pieria.errors import ConflictError, InputError, UnavailableError
from pieria.graph import NODE_TYPES, Changeset, Edge, Episodic, InMemoryBackend, NodeMetadata, Semantic, Source, Tag
from pieria.graph.contract import check_backend

NUMBERS = 8
NINE = "The ferry leaves at nine."
TEN = "The ferry leaves at ten."


def axes(texts: list[str]) -> list[list[float]]:
    """Return vectors that depend only on the length of a text."""
    return [[1.0 if place == len(text) % NUMBERS else 0.1 for place in range(NUMBERS)] for text in texts]


def axis(number: int, *more: int) -> list[float]:
    return [1.0 if place in (number, *more) else 0.0 for place in range(NUMBERS)]


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with Workspace(tmp_path, embedder=axes) as opened:
        yield opened.open("notes")


def fact(id: str = "fact", text: str = NINE, **more: Any) -> Semantic:
    return Semantic(id=id, proposition=text, **more)


def step(id: str = "step", **more: Any) -> Episodic:
    return Episodic(id=id, observation="The ferry was full.", action="Booked the next one.", **more)


def put(bank: Bank, *nodes: Any, ties: Any = (), uses: Any = None) -> None:
    bank.graph.apply_changeset(Changeset([*nodes], [*ties], uses or {}))


def test_bank_keeps_the_contract_of_backends(kept: Kept) -> None:
    with Workspace(kept.data, kept.settings, embedder=axes) as opened:
        names = (f"bank{number}" for number in itertools.count())

        def reopened(backend: graph.GraphBackend) -> graph.GraphBackend:
            bank: Bank = backend._bank  # type: ignore[attr-defined]
            bank.close()
            return opened.open(bank.name).graph

        check_backend(lambda: opened.open(next(names)).graph, dimension=NUMBERS, reopened=reopened)


def as_compared(backend: graph.GraphBackend) -> dict[str, Any]:
    """Return nodes and usage without embeddings, because a bank embeds nodes that come without a vector."""
    nodes = {node.id: replace(node, embedding=None) for node in backend.get_nodes_by_type(NODE_TYPES)}
    used = {id: NodeMetadata() for id in nodes} | dict(backend.get_metadata([*nodes]))
    return {id: (node, used[id].access_count, used[id].cumulative_reward) for id, node in nodes.items()}


@settings(max_examples=12)
@given(histories)
def test_bank_and_backend_in_memory_agree_on_any_history(history: list[Any]) -> None:
    with Workspace("any") as opened:
        backends = plain, bank = InMemoryBackend(), opened.open(f"b{len(opened.banks())}").graph
        taken: dict[str, str] = {}
        for change in history:
            if isinstance(change, Changeset):
                # A bank requires that each id keeps its first node type.
                first = {**{node.id: node.node_type for node in reversed(change.additions)}, **taken}
                if any(first[node.id] != node.node_type for node in change.additions):
                    continue
                taken |= {node.id: node.node_type for node in change.additions}
                bare = [replace(node, embedding=None) for node in change.additions]
                for backend in backends:
                    backend.apply_changeset(Changeset(bare, change.links, change.metadata))
            else:
                for backend in backends:
                    backend.delete_nodes(change)
            assert as_compared(bank) == as_compared(plain)


def test_bank_and_backend_in_memory_value_alike(bank: Bank) -> None:
    plain = InMemoryBackend(clock=bank.clock)
    facts = [fact(f"f{number}", embedding=axis(number, number + 1)) for number in range(6)]
    used = {f"f{n}": NodeMetadata(access_count=n, cumulative_reward=n / 6, reward_count=1) for n in range(6)}
    for backend in (plain, bank.graph):
        backend.apply_changeset(Changeset(facts, [], used))
    for tags in ([], [axis(5)]):
        both = [backend.find_candidates(["semantic"], axis(1), tags, None, None) for backend in (plain, bank.graph)]
        [one, other] = [[(node.id, pytest.approx(score, abs=0.01)) for node, score in found] for found in both]
        assert one == other and len(one) == 6


def test_changeset_is_one_change_and_can_be_undone(bank: Bank) -> None:
    nodes = fact(embedding=axis(2)), step()
    told: list[tuple[str, Any]] = []
    detach = telemetry.attach(lambda event, _, metadata: told.append((".".join(event[1:]), metadata.get("repo_id"))))
    for _ in range(2):
        put(bank, *nodes, ties=[("fact", "step", Edge.PROVENANCE)], uses={"fact": NodeMetadata(access_count=2)})
    detach()
    storage = [("storage.persist.start", "notes"), ("storage.persist.stop", "notes")]
    assert [each for each in told if each[0].startswith("storage")][:2] == storage
    [change] = bank.changes()
    assert change.what == "graph"
    assert {"fact", "step"} <= set(change.ids)
    bank.undo(change.seq)
    assert bank.graph.get_nodes_by_type(NODE_TYPES) == []


def test_learnt_node_is_a_memory_like_any_other(bank: Bank) -> None:
    put(bank, fact(confidence=0.75), step())
    [hit] = bank.recall("when does the ferry leave?", kinds="semantic")
    assert (hit.memory.id, hit.memory.confidence) == ("fact", 0.75)
    bank.update("fact", text=TEN, tags=["ferries"], body={"type": "fact"}, importance=0.9)
    bank.update("step", text="The ferry was late → Waited.")
    assert bank.graph.get_node("fact").proposition == TEN  # type: ignore[union-attr]
    corrected = bank.graph.get_node("step")
    assert isinstance(corrected, Episodic)
    assert (corrected.observation, corrected.action) == ("The ferry was late", "Waited.")
    # A node that is put again becomes the next version and keeps what others said of it.
    put(bank, fact(text="The ferry leaves at eleven."))
    memory = held(bank, "fact")
    assert (memory.version, memory.tags, memory.body, memory.importance) == (3, ("ferries",), {"type": "fact"}, 0.9)
    assert bank.history("fact")[0].text == NINE
    revised = bank.revise("fact", text=TEN)
    with pytest.raises(ConflictError, match=f"revised as {revised.id}"):
        put(bank, fact())
    assert [node.id for node in bank.graph.get_nodes_by_type(["semantic"])] == [revised.id]
    bank.remove(revised.id)
    assert bank.graph.get_node(revised.id) is None
    bank.graph.delete_nodes(["step"])
    assert bank.get("step") is None
    assert bank.restore("step").text == "The ferry was late → Waited."


def test_memory_of_a_learnt_kind_is_a_node(bank: Bank) -> None:
    bank.remember("The harbour closes at dusk.", id="m1", kind="semantic")
    bank.remember("Ring the bell twice.", id="m2", kind="procedural", body={"condition": "The gate is shut."})
    bank.remember("It rained.", id="m3", kind="episodic")
    bank.remember("a line of the log", id="m4", kind="source", session="monday", sequence=4)
    bank.remember("A note is no node.", id="m5")
    nodes: dict[str, Any] = {node.id: node for node in bank.graph.get_nodes_by_type(NODE_TYPES)}
    assert nodes.keys() == {"m1", "m2", "m3", "m4"}
    harbour = fact("m1", "The harbour closes at dusk.", created_at=held(bank, "m1").at)
    assert replace(nodes["m1"], embedding=None) == harbour
    assert (nodes["m2"].node_type, nodes["m2"].condition) == ("procedural", "The gate is shut.")
    assert (nodes["m3"].observation, nodes["m3"].action) == ("It rained.", "")
    source = nodes["m4"]
    assert (source.episode_id, source.step_index, source.plain_text) == ("monday", 4, "a line of the log")
    put(bank, Source(id="s", episode_id="ep", step_index=2))
    silent: Any = bank.graph.get_node("s")
    assert (silent.episode_id, silent.step_index, silent.plain_text) == ("ep", 2, None)
    put(bank, replace(silent, plain_text="It rained."))
    assert bank.graph.get_node("s").text == "It rained."  # type: ignore[union-attr]
    assert held(bank, "s").body == {"episode_id": "ep", "step_index": 2}


def test_provenance_leads_to_evidence_and_purges_follow_it(bank: Bank) -> None:
    source = Source(id="source", episode_id="ep", step_index=0, plain_text="The ferry was full.")
    ties = [("step", "fact", Edge.PROVENANCE), ("source", "step", Edge.PROVENANCE)]
    put(bank, fact(), step(), source, ties=ties)
    assert {(link.source.name, link.target.name) for link in bank.links()} == {("fact", "step"), ("step", "source")}
    receipt = bank.purge("source")
    assert set(receipt.also) == {"step", "fact"}
    with pytest.raises(ConflictError, match="purged"):
        put(bank, fact())


def test_use_is_counted_once_for_all_doors(bank: Bank) -> None:
    put(bank, fact(), uses={"fact": NodeMetadata(cumulative_reward=0.5, reward_count=1)})
    bank.touch("fact", reviews=2, reward=1.0)
    [metadata] = bank.graph.get_metadata(["fact"]).values()
    assert (metadata.access_count, metadata.cumulative_reward, metadata.reward_count) == (1, 1.5, 2)
    bank.graph.update_metadata({"fact": metadata.record_access()})
    used = bank.usage("fact")["fact"]
    assert (used.accesses, used.reviews, used.rewards) == (2, 2, 1.0), "a bank counts rewards around 0"
    bank.graph.delete_metadata(["fact"])
    used = bank.usage("fact")["fact"]
    assert (used.accesses, used.last_access, used.reviews, used.rewarded) == (0, None, 2, 0)
    assert held(bank, "fact").version == 1
    # Uses that were noted and not written yet are seen, and do not overwrite what is put.
    bank.core.uses.note(["fact"])
    [metadata] = bank.graph.get_metadata(["fact"]).values()
    assert metadata.access_count == 1
    bank.graph.update_metadata({"fact": replace(metadata, access_count=5)})
    bank.sync()
    assert bank.graph.get_metadata(["fact"])["fact"].access_count == 5


def test_private_parts_and_other_sessions_are_in_no_node(bank: Bank) -> None:
    said = replace(step(), observation="The code is <private>4711</private> now.", state="<private>4711</private>")
    put(bank, said, fact(text="It opens. <private>4711</private>"))
    assert all("4711" not in str(held(bank, id).as_dict()) for id in ("step", "fact"))
    node = bank.graph.get_node("step")
    assert isinstance(node, Episodic)
    assert (node.action, node.state) == ("Booked the next one.", "")
    bank.remember("Only here.", id="mine", kind="semantic", scope="session", session="monday")
    put(bank, fact(), ties=[("fact", "mine", Edge.SIBLING)])
    assert bank.graph.get_node("mine") is None
    assert not bank.graph.get_node("fact").links[Edge.SIBLING]  # type: ignore[union-attr]


def test_taken_ids_and_wrong_vectors_are_refused(bank: Bank, tmp_path: Path) -> None:
    bank.remember("A note.", id="note")
    bank.remember("Only there.", id="mine", kind="semantic", scope="session", session="monday")
    put(bank, Tag(id="other", label="tides"))
    before = bank.changes()
    for id in ("note", "other", "mine"):
        with pytest.raises(ConflictError, match="the id is taken"):
            put(bank, fact(), fact(id), ties=[("fact", id, Edge.SIBLING)])
    with pytest.raises(InputError, match="8 numbers"):
        put(bank, fact(embedding=[1.0, 0.0]))
    assert (bank.graph.get_node("fact"), bank.changes()) == (None, before)
    # A node without a vector is a candidate at once.
    put(bank, fact())
    [(node, score)] = bank.graph.find_candidates(["semantic"], axes([NINE])[0])
    assert node.id == "fact"
    assert score == pytest.approx(0.3, abs=0.01)
    bank.sync()
    with pytest.raises(InputError, match="query_embedding: expected 8 numbers"):
        bank.graph.find_candidates(["semantic"], [1.0, 0.0])
    with Workspace(tmp_path / "bare") as bare, pytest.raises(UnavailableError, match="no vector space"):
        put(bare.open("notes"), fact(embedding=[1.0]))


def test_latest_nodes_and_pages_hold_each_node_once(bank: Bank) -> None:
    for number in range(5):
        put(bank, fact(str(number), text=f"Fact {number}."))
    put(bank, step())
    bank.update("0", text="Fact 0, corrected.")
    found = bank.graph.latest(2, ["semantic", "procedural"])
    assert [(node.id, metadata.access_count) for node, metadata in found] == [("0", 0), ("4", 0)]
    assert found[0][1].created_at == held(bank, "0").known_from
    first = bank.graph.page(["semantic"], 2)
    put(bank, fact("late"))
    bank.graph.delete_nodes([first.nodes[0].id])
    second = bank.graph.page(["semantic"], 2, first.cursor)
    last = bank.graph.page(["semantic"], 10, second.cursor)
    assert [node.id for page in (first, second, last) for node in page.nodes] == [*"01234", "late"]
    assert last.cursor is None
    with pytest.raises(InputError, match="same filters"):
        bank.graph.page(["semantic", "episodic"], 2, first.cursor)
    both = bank.graph.page(["semantic", "episodic"], 2)
    assert bank.graph.page(["episodic", "semantic"], 9, both.cursor).cursor is None


def test_every_memory_can_be_seen_as_a_node(bank: Bank) -> None:
    put(bank, fact())
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
    put(bank, Tag(id="t", label="Ferries"), ties=[("t", "fact", Edge.MEMBERSHIP)])
    whole = bank.graph.graph
    assert whole.nodes.keys() == {"fact", "t"}
    assert whole.by_tag == {"ferries": {"t"}}
    assert whole.nodes["t"].links[Edge.MEMBERSHIP] == {"fact"}


def test_graph_of_many_nodes_is_written_at_once(bank: Bank) -> None:
    numbers = range(150)
    steps = [step(f"s{n}", embedding=axis(n % NUMBERS)) for n in numbers]
    facts = [fact(f"f{n}", text=f"Fact {n}.", embedding=axis(n % NUMBERS)) for n in numbers]
    put(bank, *steps, *facts, ties=[(one.id, of.id, Edge.PROVENANCE) for one in facts for of in steps[:20]])
    assert len(bank.graph.get_linked_nodes(["s0"], Edge.PROVENANCE)) == 150
