"""Graph maintenance: the same result in every store, one call at a time, with an event for each."""

import logging
import queue
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock
from tests.waiting import soon

from pieria import Bank, Event, Workspace, telemetry
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.graph import Changeset, Edge, GraphBackend, InMemoryBackend, Node, NodeMetadata, Semantic, Tag
from pieria.graph.view import Pair, tended

MADE = datetime(2026, 4, 1, tzinfo=UTC)
NOW = MADE + timedelta(days=60)
OLD = datetime(2026, 1, 1, tzinfo=UTC)
MODELS: dict[str, Any] = {"llm": {"model": "none"}, "embedding": {"model": "none"}}


def embed(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def test_nodes_changed_since_they_were_looked_at_are_left(kept: Kept) -> None:
    at = [MADE]
    with Workspace(kept.data, kept.settings, embedder=embed, clock=lambda: at[0]) as workspace:
        bank = workspace.open("shared")
        backends: list[GraphBackend] = [bank.graph, InMemoryBackend()]
        for backend in backends:
            at[0] = MADE
            facts = [Semantic(id=id, proposition=id, created_at=MADE, embedding=[1.0, 0.0]) for id in "abcd"]
            made = dict.fromkeys("abcd", NodeMetadata(created_at=MADE))
            backend.apply_changeset(Changeset([*facts, Tag(id="tag", label="tides")], [], made))
            at[0] = NOW
            graph = tended(backend)
            [looks] = graph.looks(["semantic"])
            [tag] = graph.looks(["tag"])
            backend.update_metadata({"a": NodeMetadata(created_at=MADE, access_count=1)})
            backend.apply_changeset(Changeset([Semantic(id="b", proposition="Another.", embedding=[1.0, 0.0])]))
            backend.apply_changeset(Changeset([], [("tag", "c", Edge.MEMBERSHIP)]))
            assert graph.put_away(looks) == ["d"]
            assert graph.put_away_idle(tag) == []
            by_id = {look.id: look for look in looks}
            assert graph.fold([Pair(by_id["b"], by_id["a"]), Pair(by_id["c"], by_id["d"])]) == []
            assert graph.fold([Pair(by_id["a"], by_id["c"])]) == ["a"]
            assert backend.get_metadata(["c"])["c"].access_count == 1


RUN = [
    ("Maya works at Acme.", "Ask Maya for the key of the vault"),
    ("The key is here. When the disk is full, run make clean.", "Open the vault with the key"),
]


def live(bank: Bank, steps: Sequence[tuple[str, str]] = RUN) -> str:
    with bank.session(goal="Open the vault") as session:
        for observation, action in steps:
            session.append(observation, action)
    return session.id


def known(bank: Bank) -> set[str]:
    return {node.id for node in bank.graph.get_nodes_by_type(["semantic", "procedural"])}


def test_session_strengthens_what_the_bank_knows(kept: Kept) -> None:
    with Workspace(kept.data, {**kept.settings, "embedder": "hashing"}) as workspace:
        bank = workspace.open("learning")
        live(bank)
        first = known(bank)
        rewards = {id: used.reward_count for id, used in bank.graph.get_metadata(list(first)).items()}
        with bank.session(goal="Open the vault", auto_commit=False) as waiting:
            for step in RUN:
                waiting.append(*step)
            waiting.close()
            soon(lambda: waiting.state == "ready")
            draft = bank.sessions.draft(waiting.id)
            assert draft is not None and first <= draft.held.keys()
            assert not {node.node_type for node in draft.changeset.additions} & {"semantic", "procedural"}
        assert known(bank) == first and {id.split("_")[0] for id in first} == {"sem", "proc"}
        for id, used in bank.graph.get_metadata(list(first)).items():
            assert (used.reward_count, used.access_count) == (rewards[id] + 1, 1)
            steps = bank.graph.get_linked_nodes([id], Edge.PROVENANCE)
            sessions = {
                memory.origin.session for memory in map(bank.get, [step.id for step in steps]) if memory is not None
            }
            assert len(steps) == len(sessions) == 2
        bank.undo(max(change.seq for change in bank.changes() if change.what == "graph"))
        assert known(bank) == first
        assert {len(bank.graph.get_linked_nodes([id], Edge.PROVENANCE)) for id in first} == {1}


def test_less_trusted_session_never_strengthens_or_narrows(kept: Kept) -> None:
    for way in ("person", "outside"):
        with Workspace(kept.data, {**kept.settings, "embedder": "hashing"}) as workspace:
            live(workspace.open("trusting", via=way))
    with Workspace(kept.data, {**kept.settings, "embedder": "hashing"}) as workspace:
        bank = workspace.open("trusting")
        trusts = [memory.judgement.trust for memory in bank.list(kinds=["semantic", "procedural"], limit=100)]
        assert sorted(trusts) == sorted([0.2, 0.9] * (len(trusts) // 2)) and trusts
        assert bank.graph.consolidate()["deleted"] == 0


class Heard:
    def __init__(self) -> None:
        self.events: queue.Queue[tuple[str, Event]] = queue.Queue()

    def notify(self, repo_id: str, event: Event) -> None:
        if event.name.endswith("_completed"):
            self.events.put((repo_id, event))


class Gated(InMemoryBackend):
    """A backend that records each caller and waits until the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.came: queue.Queue[tuple[str, ...]] = queue.Queue()

    def get_nodes_by_type(self, node_types: Sequence[str]) -> list[Node]:
        self.came.put(tuple(node_types))
        assert self.gate.wait(30)
        return super().get_nodes_by_type(node_types)


def learnt() -> Changeset:
    facts = [Semantic(id=id, proposition=f"What {id} says.", embedding=[1.0, 0.0], created_at=OLD) for id in "ab"]
    ties = [("tag", id, Edge.MEMBERSHIP) for id in "ab"]
    uses = {id: NodeMetadata(created_at=OLD, cumulative_reward=0.9, reward_count=1) for id in "ab"}
    return Changeset([*facts, Tag(id="tag", label="tides")], ties, uses)


@pytest.mark.parametrize("at", ["bank", "backend"])
def test_each_upkeep_returns_a_summary_and_sends_an_event(tmp_path: Path, at: str) -> None:
    clock, heard = HandClock(OLD), Heard()
    config = {**MODELS, "episodic_validation": {"orphan_penalty": 0.5}}
    with Workspace(tmp_path, embedder=embed, notifier=heard, config=config, clock=clock) as workspace:
        workspace.open_repo("mine", backend=InMemoryBackend() if at == "backend" else None)
        workspace.apply_changeset("mine", learnt())
        clock.move(days=60)
        dry = workspace.consolidate_semantics("mine", dry_run=True)
        told: dict[str, Any] = {"validation_completed": workspace.validate_episodic("mine")}
        assert told["validation_completed"]["orphaned"] == 2
        # The configuration of the workspace says what weak grounding costs.
        assert workspace.get_metadata("mine", ["a"])["a"].cumulative_reward == pytest.approx(0.4)
        told["consolidation_completed"] = workspace.consolidate_semantics("mine")
        told["decay_completed"] = workspace.decay_nodes("mine")
        told["repair_completed"] = workspace.repair_graph("mine")
        assert told["consolidation_completed"] == dry and dry["deleted"] == 1
        assert told["decay_completed"]["deleted_ids"] == ["a", "tag"]
        for name, summary in told.items():
            repo_id, event = heard.events.get(timeout=30)
            assert (repo_id, event.name) == ("mine", name)
            assert event.payload == {key: summary[key] for key in event.payload} and event.payload
        assert heard.events.empty()


def test_bank_tends_its_graph_by_its_configuration(tmp_path: Path) -> None:
    def newest(relevance: float, node: Any, metadata: Any, params: Any) -> float:
        return float(node.id == "b")

    config = {**MODELS, "value_function": {"module": newest}, "episodic_validation": {"orphan_penalty": 0.5}}
    with Workspace(tmp_path, embedder=embed, config=config) as workspace:
        bank = workspace.open("mine")
        bank.graph.apply_changeset(learnt())
        bank.graph.validate()
        assert bank.graph.get_metadata(["a"])["a"].cumulative_reward == pytest.approx(0.4)
        assert bank.graph.consolidate()["deleted_ids"] == ["a"]
        assert bank.graph.prune(threshold=0.0)["deleted_ids"] == []
        assert bank.graph.repair()["checked"] > 0


def test_calls_wait_their_turn_and_all_are_made(tmp_path: Path) -> None:
    backend, heard, done = Gated(), Heard(), queue.Queue[str]()
    heard_of: list[tuple[Any, Any, Any]] = []
    detach = telemetry.attach(lambda event, counts, of: heard_of.append((event[1:], counts, of)))
    with Workspace(tmp_path, notifier=heard) as workspace:
        workspace.open_repo("mine", backend=backend)
        workspace.repair_graph_async("mine", lambda _: done.put("repaired"))
        backend.came.get(timeout=30)
        workspace.decay_nodes_async("mine", callback=lambda _: done.put("decayed"))
        workspace.consolidate_semantics_async("mine", 0.9, lambda _: done.put("consolidated"))
        last = threading.Thread(target=workspace.validate_episodic, args=("mine",))
        last.start()
        assert backend.came.empty() and done.empty()
        backend.gate.set()
        # A callback runs when the next call has already started, so two may overlap.
        assert {done.get(timeout=30) for _ in range(3)} == {"repaired", "decayed", "consolidated"}
        last.join()
    detach()
    in_turn = [heard.events.get(timeout=30)[1].name.removesuffix("_completed") for _ in range(4)]
    assert in_turn == ["repair", "decay", "consolidation", "validation"]
    queued = [(counts, of) for event, counts, of in heard_of if event == ("memory_store", "queue")]
    told = [(of["event"], counts["maintenance_active"]) for counts, of in queued]
    assert [one for one in told if one[0] != "enqueue"] == [("maintenance_start", 1), ("maintenance_complete", 0)] * 4
    assert told.count(("enqueue", 0)) == 4


def test_error_is_raised_given_to_the_callback_or_logged(tmp_path: Path) -> None:
    class Refusing(InMemoryBackend):
        def get_nodes_by_type(self, node_types: Sequence[str]) -> list[Node]:
            raise ConflictError("not today")

    outcomes: queue.Queue[Any] = queue.Queue()
    said: queue.Queue[logging.LogRecord] = queue.Queue()
    log, heard = logging.getLogger("pieria.workspace.behind"), QueueHandler(said)
    log.addHandler(heard)
    with Workspace(tmp_path) as workspace:
        workspace.open_repo("mine", backend=Refusing())
        with pytest.raises(ConflictError):
            workspace.decay_nodes("mine")
        for threshold, error in ((0.1, ConflictError), (7, InputError)):
            workspace.decay_nodes_async("mine", callback=outcomes.put, threshold=threshold)
            assert isinstance(outcomes.get(timeout=30), error)
        workspace.decay_nodes_async("mine", threshold=7)
        problem = "threshold: expected a number from 0 to 1, got 7"
        assert said.get(timeout=30).getMessage() == f"graph upkeep of mine failed: {problem}"
        with pytest.raises(InputError, match="callback"):
            workspace.repair_graph_async("mine", "no function")  # type: ignore[arg-type]
        for ask in (workspace.repair_graph, workspace.repair_graph_async, workspace.validate_episodic_async):
            with pytest.raises(NotFoundError):
                ask("elsewhere")
    log.removeHandler(heard)


def test_waiting_call_hears_that_its_repository_was_closed(tmp_path: Path) -> None:
    backend, outcomes = Gated(), queue.Queue[Any]()
    with Workspace(tmp_path) as workspace:
        workspace.open_repo("mine", backend=backend)
        workspace.repair_graph_async("mine")
        backend.came.get(timeout=30)
        workspace.validate_episodic_async("mine", outcomes.put)
        workspace.close_repo("mine")
        backend.gate.set()
        assert isinstance(outcomes.get(timeout=30), NotFoundError)
