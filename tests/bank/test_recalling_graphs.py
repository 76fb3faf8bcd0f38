"""Recall from a repository: its results, its cost, its telemetry, and which nodes count as used."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import Request, llm_server

from pieria import Bank, Config, EmbeddingResponse, Workspace, telemetry
from pieria.errors import InputError, NotFoundError, PipelineError
from pieria.graph import Changeset, Edge, Episodic, InMemoryBackend, NodeMetadata, Procedural, Semantic, Source, Tag
from pieria.learning import RecallResult
from pieria.notifier import Event
from pieria.workspace.graph_recall import in_context

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
QUESTION = "Where does the ferry leave from?"
MODELS: dict[str, Any] = {"llm": {"model": "none"}, "embedding": {"model": "auto"}}
NODES = [
    Semantic(id="pier", proposition="The ferry leaves from pier nine.", confidence=0.9),
    Semantic(id="tide", proposition="The tide table hangs in the office."),
    Tag(id="ferry", label="ferry"),
    Procedural(id="book", instruction="Book by telephone.", condition="the ferry is full", return_score=0.9),
    Episodic(id="step", observation="The ferry was full.", action="Booked the next one by telephone."),
    Source(id="source", episode_id="e", step_index=0, plain_text="The ferry was full."),
]
TIES = [
    ("ferry", "pier", Edge.MEMBERSHIP), ("ferry", "tide", Edge.MEMBERSHIP), ("step", "source", Edge.PROVENANCE),
]  # fmt: skip


class Listening:
    def __init__(self) -> None:
        self.heard: list[Event] = []

    def notify(self, repo_id: str, event: Event) -> None:
        self.heard.append(event)


class Letters:
    """An embedding by letters that can be made to fail."""

    gone = False

    def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
        return self.embed_batch([text], opts)

    def embed_batch(self, texts: Any, opts: Any = None) -> EmbeddingResponse:
        if self.gone:
            raise OSError("no route to host")
        vectors = [[text.lower().count(letter) + 0.01 for letter in "aefioprtuy"] for text in texts]
        return EmbeddingResponse(vectors, "l")


@pytest.fixture
def listening() -> Listening:
    return Listening()


@pytest.fixture
def letters() -> Letters:
    return Letters()


@pytest.fixture
def workspace(tmp_path: Path, listening: Listening, letters: Letters) -> Iterator[Workspace]:
    settings = {"count_uses": True}
    with Workspace(tmp_path, settings, embedder=letters, notifier=listening, clock=lambda: NOW) as workspace:
        with_sea(workspace)
        yield workspace


def with_sea(workspace: Workspace) -> Bank:
    bank = workspace.open_repo("sea")
    workspace.apply_changeset("sea", Changeset(NODES, TIES))
    assert isinstance(bank, Bank) and bank.sync(20)
    return bank


@pytest.fixture
def sea(workspace: Workspace) -> Bank:
    bank = workspace._repository("sea").bank
    assert bank is not None
    return bank


def pier() -> Semantic:
    return Semantic(id="pier", proposition="Pier nine.", embedding=Letters().embed("pier").vectors[0])


def uses(workspace: Workspace, id: str, found: RecallResult) -> set[int]:
    used = workspace.get_metadata(id, [touched.id for touched in found.touched_nodes])
    return {metadata.access_count for metadata in used.values()}


def events(workspace: Workspace, listening: Listening, name: str) -> list[Event]:
    workspace.close()
    return [event for event in listening.heard if event.name == name]


def test_recall_brings_answers_nodes_candidates_and_a_trace(workspace: Workspace, sea: Bank) -> None:
    before = sea.changes()
    found = workspace.recall("sea", QUESTION)
    assert found.touched_nodes[0].id == "pier"
    assert found.reasoned.semantic is not None and "pier nine" in found.reasoned.semantic
    assert found.reasoned.cited["semantic"] == ("pier",)
    assert [each.node.id for each in found.candidates["semantic"]] == ["pier", "tide"]
    assert [*found.touched_nodes] == sorted(found.touched_nodes, key=lambda touched: -touched.score)
    assert all(touched.node is None for touched in found.touched_nodes)
    # It counts as a use, and reading writes nothing.
    assert sea.changes() == before
    assert uses(workspace, "sea", found) == {1}
    assert workspace.get_metadata("sea", ["ferry"])["ferry"].access_count == 0


def test_detailed_trace_holds_the_nodes(tmp_path: Path) -> None:
    config = Config(**MODELS, trace_verbosity="detailed")
    with Workspace(tmp_path, embedder=Letters(), config=config) as workspace:
        with_sea(workspace)
        found = workspace.recall("sea", QUESTION)
    assert all(touched.node and touched.node.id == touched.id for touched in found.touched_nodes)
    assert found.trace.relevances is not None
    assert found.trace.relevances["pier"] > found.trace.relevances["tide"]


def test_memories_of_other_tools_are_recalled(workspace: Workspace, sea: Bank) -> None:
    note = sea.remember("The ferry leaves from pier ten on Sundays.")
    found = workspace.recall("sea", "Where does the ferry leave from on Sundays?")
    assert next(touched.id for touched in found.touched_nodes if touched.type == "semantic") == note.id
    # A word leads to a memory that its meaning does not.
    sea.remember("Ticket OPS-4711 is about a zzzzz.", id="ticket")
    sea.remember_many([{"text": f"Pier {n} is out of repair, too far, put up a poster."} for n in range(30)])
    assert workspace.recall("sea", "What of OPS-4711?").touched_nodes[0].id == "ticket"


def test_withheld_answers_do_not_count_as_used(workspace: Workspace) -> None:
    for id, backend in {"bank": None, "own": InMemoryBackend(clock=lambda: NOW)}.items():
        workspace.open_repo(id, backend, config=Config(**MODELS, answer_threshold=1.0))
        workspace.apply_changeset(id, Changeset(NODES, TIES, {node.id: NodeMetadata(created_at=NOW) for node in NODES}))
        found = workspace.recall(id, QUESTION)
        assert found.trace.withheld is not None and found.touched_nodes
        assert uses(workspace, id, found) == {0}, id


class Counting(InMemoryBackend):
    """A backend that checks that usage is read and updated under one lock."""

    is_failing = is_locked = False

    @contextmanager
    def exclusively(self) -> Any:
        with super().exclusively():
            self.is_locked = True
            yield
        self.is_locked = False

    def update_metadata(self, metadata: Any) -> None:
        if self.is_failing:
            raise OSError("the disk is full")
        assert self.is_locked
        super().update_metadata(metadata)


def test_uses_in_a_backend_are_counted_under_its_lock(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for counts_uses, is_failing, expected in ((True, False, 1), (True, True, 0), (False, False, 0)):
        (backend := Counting()).is_failing = is_failing
        with Workspace(tmp_path, {"count_uses": counts_uses}, embedder=Letters()) as workspace:
            workspace.open_repo("own", backend)
            workspace.apply_changeset("own", Changeset([pier()], [], {"pier": NodeMetadata()}))
            assert workspace.recall("own", QUESTION).touched_nodes[0].id == "pier"
        assert backend.metadata["pier"].access_count == expected
        assert ("the disk is full" in caplog.text) == is_failing
        caplog.clear()


def test_question_that_cannot_be_embedded_goes_by_its_words(workspace: Workspace, letters: Letters) -> None:
    letters.gone = True
    found = workspace.recall("sea", QUESTION)
    assert found.touched_nodes[0].id == "pier"
    assert any("only its words were searched" in problem for problem in found.trace.problems)


def test_notifier_hears_of_recalls_and_failures(workspace: Workspace, listening: Listening) -> None:
    odd: Any = InMemoryBackend()
    odd.find_candidates = lambda *_, **__: 1 / 0
    workspace.open_repo("odd", odd)
    with pytest.raises(PipelineError) as refused:
        workspace.recall("odd", QUESTION)
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    for asked in (("none", QUESTION, 2), ("sea", 7, 2), ("sea", QUESTION, -1)):
        with pytest.raises((NotFoundError, InputError)):
            workspace.recall(*asked)
    found = workspace.recall("sea", QUESTION)
    [failed, *_] = events(workspace, listening, "recall_failed")
    assert (failed.payload["query"], failed.payload["reason"]) == (QUESTION, refused.value)
    [done] = [event for event in listening.heard if event.name == "recall_executed"]
    assert done.payload == {"query": QUESTION, "results": found}
    assert done.metadata == {"session_id": None, "trace": found.trace}


# --- with a language model


CANDIDATES = {"reasoning": "It says so.", "information": "From pier nine [1]."}


def recalled(folder: Path, *script: Any, **config: Any) -> tuple[RecallResult, list[Request]]:
    with llm_server(*script) as serving:
        settings = {"llm": "server:m", "llm_url": serving.address}
        with Workspace(folder, settings, embedder=Letters(), config=Config(**{**MODELS, **config})) as workspace:
            with_sea(workspace)
            return workspace.recall("sea", QUESTION), serving.requests


def test_recall_asks_a_model_three_to_six_times(tmp_path: Path) -> None:
    least, requests = recalled(tmp_path / "a", "semantic", "ferry\npier", CANDIDATES, refinement_budget=0)
    assert (least.trace.llm_calls, len(requests)) == (3, 3)
    assert (least.trace.mode, least.trace.tags) == ("semantic", ["ferry", "pier"])
    assert least.reasoned.semantic == "From pier nine [1]."
    assert least.reasoned.cited == {"semantic": ("pier",)}
    # A model sees numbers, and no ids.
    shown = requests[-1].messages[-1]["content"]
    assert json.dumps("The ferry leaves from pier nine.") in shown and '"n": 1' in shown
    assert "tide" not in shown.replace("The tide table hangs in the office.", "")
    words = sum(len(message["content"].split()) for request in requests for message in request.messages)
    assert least.trace.tokens["input_tokens"] == words
    assert least.trace.tokens["output_tokens"] > 0
    script = ("mixed", "ferry", {"tags": ["timetable"]}, CANDIDATES, CANDIDATES, CANDIDATES)
    most, requests = recalled(tmp_path / "b", *script, refinement_threshold=1.0)
    assert (most.trace.llm_calls, len(requests)) == (6, 6)
    assert [told["tags"] for told in most.trace.refinements] == [["timetable"]]


def measured(folder: Path, *script: Any, **config: Any) -> tuple[RecallResult, Any, Any]:
    """Return a recall's result, and the measurements and metadata of its telemetry event."""
    heard: list[Any] = []
    detach = telemetry.attach(lambda event, *told: heard.append(told) if event[1:] == ("retrieval", "answered") else 0)
    found, _ = recalled(folder, *script, **config)
    detach()
    [(measurements, metadata)] = heard
    return found, measurements, metadata


def test_telemetry_holds_counts_and_nothing_that_was_said(tmp_path: Path) -> None:
    script = ("mixed", "ferry", {"tags": ["timetable"]}, CANDIDATES, CANDIDATES, CANDIDATES)
    found, counts, about = measured(tmp_path, *script, refinement_threshold=1.0)
    listed = telemetry.POINTS["retrieval.answered"]
    assert (set(counts), set(about)) == (set(listed.measurements), set(listed.metadata))
    assert [each["tags"] for each in about["refinements"]] == [1]
    steps = "get_mode get_plan get_refined_query reason_episodic reason_semantic reason_procedural"
    assert {each["step"]: each["calls"] for each in about["calls"]} == dict.fromkeys(steps.split(), 1)
    assert sum(each["input_tokens"] for each in about["calls"]) == found.trace.tokens["input_tokens"]
    assert {"mode", "terms", "embedding", "hop_0", "multi_hop", "refinement", "reasoning"} <= about["phases"].keys()
    assert sum(count for *_, count in about["found"]) == counts["candidates"] == len(found.touched_nodes)
    assert [one[0] for one in about["touched"]] == [one.id for one in found.touched_nodes]
    said = [QUESTION, "timetable", "pier nine", "It says so", "telephone"]
    assert [words for words in said if words in repr((counts, about))] == []


def test_nonsense_of_a_model_costs_its_part_alone(tmp_path: Path) -> None:
    found, _, about = measured(tmp_path, "perhaps", "ferry", *[{"nothing": 1}] * 12)
    assert (found.trace.mode, found.touched_nodes[0].id) == ("mixed", "pier")
    assert found.reasoned.semantic is None
    assert len(found.trace.problems) >= 3
    assert len(about["failures"]) == len(found.trace.problems)
    assert {"step": "mode", "error": "prompt"} in about["failures"]
    assert "perhaps" not in repr(about) and "nothing" not in repr(about)


# --- in a session


def test_goal_and_last_steps_of_a_session_go_with_a_question(workspace: Workspace, listening: Listening) -> None:
    context = {"goal": "Cross over", "recent_steps": [f"o{n} -> a{n}" for n in range(5)]}
    assert in_context(context, "When?") == (
        "Goal: Cross over\nRecent context:\n- o2 -> a2\n- o3 -> a3\n- o4 -> a4\n\nQuery: When?"
    )
    assert in_context({"goal": "Cross over", "recent_steps": []}, "When?") is None
    assert workspace.recall_in_context("sea", "session_unknown", QUESTION).touched_nodes[0].id == "pier"
    id = workspace.start_session("Cross over", "sea")
    workspace.append(id, "The ferry was full.", "Asked for the next one.")
    found = workspace.recall_in_context("sea", id, QUESTION)
    assert "pier" in [touched.id for touched in found.touched_nodes]
    # The words of the question are looked for, and not the words around it.
    looked_for = " ".join([*found.trace.tags, *(tag for each in found.trace.refinements for tag in each["tags"])])
    assert "ferry" in looked_for
    assert not {"goal", "query", "recent", "context"} & set(looked_for.casefold().split())
    *_, done = events(workspace, listening, "recall_executed")
    assert done.metadata["session_id"] == id
    assert done.payload["query"].startswith("Goal: Cross over\nRecent context:\n- The ferry was full. -> Asked")


def test_observation_stands_once_in_an_answer(workspace: Workspace) -> None:
    id = workspace.start_session("Cross over", "sea")
    workspace.append(id, "The ferry to Vega was full.", "Asked for the next one.")
    workspace.append(id, "The next ferry to Vega leaves at noon.", "Booked it.")
    workspace.close_and_commit(id)
    told = workspace.recall("sea", "What happened when the ferry to Vega was full?").reasoned.episodic
    assert str(told).count("The ferry to Vega was full.") == 1
