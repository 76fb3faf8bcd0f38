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
from pieria.learning import RecallResult, RecallTrace
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
        return EmbeddingResponse(
            [[text.lower().count(letter) + 0.01 for letter in "aefioprtuy"] for text in texts], "l"
        )


@pytest.fixture
def listening() -> Listening:
    return Listening()


@pytest.fixture
def letters() -> Letters:
    return Letters()


@pytest.fixture
def workspace(tmp_path: Path, listening: Listening, letters: Letters) -> Iterator[Workspace]:
    settings = {"durability": "off", "count_uses": True}
    with Workspace(tmp_path, settings, embedder=letters, notifier=listening, clock=lambda: NOW) as workspace:
        bank: Any = workspace.open_repo("sea")
        workspace.apply_changeset("sea", Changeset(NODES, TIES))
        assert bank.sync(20)
        yield workspace


def events(workspace: Workspace, listening: Listening, name: str) -> list[Event]:
    workspace.close()
    return [event for event in listening.heard if event.name == name]


def test_a_recall_brings_answers_nodes_candidates_and_a_trace(workspace: Workspace) -> None:
    found = workspace.recall("sea", QUESTION)
    assert isinstance(found, RecallResult)
    assert isinstance(found.trace, RecallTrace)
    assert found.touched_nodes[0].id == "pier"
    assert found.reasoned.semantic is not None
    assert "pier nine" in found.reasoned.semantic
    assert found.reasoned.cited["semantic"] == ("pier",)
    assert [each.node.id for each in found.candidates["semantic"]] == ["pier", "tide"]
    scores = [touched.score for touched in found.touched_nodes]
    assert scores == sorted(scores, reverse=True)
    assert all(touched.node is None for touched in found.touched_nodes)


def test_the_nodes_themselves_come_where_a_trace_is_to_be_detailed(tmp_path: Path) -> None:
    config = Config(**MODELS, trace_verbosity="detailed")
    with Workspace(tmp_path, {"durability": "off"}, embedder=Letters(), config=config) as workspace:
        workspace.open_repo("sea")
        workspace.apply_changeset("sea", Changeset(NODES, TIES))
        found = workspace.recall("sea", QUESTION)
    assert [touched.node and touched.node.id for touched in found.touched_nodes] == [
        touched.id for touched in found.touched_nodes
    ]
    assert found.trace.relevances is not None
    assert found.trace.relevances["pier"] > found.trace.relevances["tide"]


def test_what_was_kept_by_other_tools_is_recalled_among_what_was_learnt(workspace: Workspace) -> None:
    bank = workspace._repository("sea").bank
    assert bank is not None
    note = bank.remember("The ferry leaves from pier ten on Sundays.")
    found = workspace.recall("sea", "Where does the ferry leave from on Sundays?")
    assert next(touched.id for touched in found.touched_nodes if touched.type == "semantic") == note.id


def test_a_word_leads_to_what_its_meaning_does_not(workspace: Workspace, letters: Letters) -> None:
    bank = workspace._repository("sea").bank
    assert bank is not None
    bank.remember("Ticket OPS-4711 is about a zzzzz.", id="ticket")
    bank.remember_many([{"text": f"Pier {n} is out of repair, too far, put up a poster."} for n in range(30)])
    assert workspace.recall("sea", "What of OPS-4711?").touched_nodes[0].id == "ticket"


def test_what_is_recalled_counts_as_used_and_reading_writes_nothing(workspace: Workspace) -> None:
    bank = workspace._repository("sea").bank
    assert bank is not None
    before = bank.changes()
    found = workspace.recall("sea", QUESTION)
    assert bank.changes() == before
    used = workspace.get_metadata("sea", [touched.id for touched in found.touched_nodes])
    assert {metadata.access_count for metadata in used.values()} == {1}
    assert workspace.get_metadata("sea", ["ferry"])["ferry"].access_count == 0


def test_what_is_kept_back_does_not_count_as_used(workspace: Workspace) -> None:
    backends: list[Any] = [None, InMemoryBackend(clock=lambda: NOW)]
    for id, backend in zip(("bank", "own"), backends, strict=True):
        workspace.open_repo(id, backend, config=Config(**MODELS, answer_threshold=1.0))
        workspace.apply_changeset(id, Changeset(NODES, TIES, {node.id: NodeMetadata(created_at=NOW) for node in NODES}))
        found = workspace.recall(id, QUESTION)
        assert found.trace.withheld is not None and found.touched_nodes
        used = workspace.get_metadata(id, [touched.id for touched in found.touched_nodes])
        assert {metadata.access_count for metadata in used.values()} == {0}, id


def test_in_a_backend_of_ones_own_the_same_is_found_and_counted(workspace: Workspace) -> None:
    letters = Letters()
    backend = InMemoryBackend(clock=lambda: NOW)
    nodes = [Semantic(id=id, proposition=text, embedding=letters.embed(text).vectors[0])
             for id, text in (("pier", "The ferry leaves from pier nine."), ("far", "xxx"))]  # fmt: skip
    workspace.open_repo("own", backend)
    workspace.apply_changeset("own", Changeset(nodes, [], {node.id: NodeMetadata(created_at=NOW) for node in nodes}))
    assert workspace.recall("own", QUESTION).touched_nodes[0].id == "pier"
    assert backend.metadata["pier"].access_count == 1


@pytest.mark.parametrize("failing", [False, True])
def test_uses_are_counted_while_nobody_else_writes_and_a_failure_to_costs_no_answer(
    workspace: Workspace, failing: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Counting(InMemoryBackend):
        """A backend that checks that usage is read and updated under one lock."""

        alone = False

        @contextmanager
        def exclusively(self) -> Any:
            with super().exclusively():
                self.alone = True
                yield
            self.alone = False

        def update_metadata(self, metadata: Any) -> None:
            if failing:
                raise OSError("the disk is full")
            assert self.alone
            super().update_metadata(metadata)

    pier = Semantic(id="pier", proposition="Pier nine.", embedding=Letters().embed("pier").vectors[0])
    workspace.open_repo("own", backend := Counting())
    workspace.apply_changeset("own", Changeset([pier], [], {"pier": NodeMetadata()}))
    assert workspace.recall("own", QUESTION).touched_nodes[0].id == "pier"
    assert backend.metadata["pier"].access_count == (0 if failing else 1)
    assert ("the disk is full" in caplog.text) == failing


def test_a_workspace_that_counts_no_uses_counts_none_of_a_backend_of_ones_own(tmp_path: Path) -> None:
    with Workspace(tmp_path, {"count_uses": False}, embedder=Letters()) as workspace:
        backend: Any = workspace.open_repo("own", InMemoryBackend())
        pier = Semantic(id="pier", proposition="Pier nine.", embedding=Letters().embed("pier").vectors[0])
        workspace.apply_changeset("own", Changeset([pier], [], {"pier": NodeMetadata()}))
        assert workspace.recall("own", QUESTION).touched_nodes[0].id == "pier"
    assert backend.metadata["pier"].access_count == 0


def test_a_question_that_cannot_be_embedded_is_answered_by_its_words(workspace: Workspace, letters: Letters) -> None:
    letters.gone = True
    found = workspace.recall("sea", QUESTION)
    assert found.touched_nodes[0].id == "pier"
    assert any("only its words were searched" in problem for problem in found.trace.problems)


def test_whoever_listens_is_told_of_a_recall_and_of_one_that_failed(workspace: Workspace, listening: Listening) -> None:
    workspace.open_repo("own", InMemoryBackend(), embedding=_broken)
    with pytest.raises(PipelineError) as refused:
        workspace.open_repo("odd", _Odd())
        workspace.recall("odd", QUESTION)
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    found = workspace.recall("sea", QUESTION)
    [failed] = events(workspace, listening, "recall_failed")
    assert (failed.payload["query"], failed.payload["reason"]) == (QUESTION, refused.value)
    [done] = [event for event in listening.heard if event.name == "recall_executed"]
    assert done.payload == {"query": QUESTION, "results": found}
    assert done.metadata == {"session_id": None, "trace": found.trace}


def _broken(texts: list[str]) -> list[list[float]]:
    raise OSError("no route to host")


class _Odd(InMemoryBackend):
    def find_candidates(self, *_: Any, **__: Any) -> Any:
        return 1 / 0


@pytest.mark.parametrize("asked", [("none", QUESTION, 2), ("sea", 7, 2), ("sea", QUESTION, -1)])
def test_what_cannot_be_asked_is_refused(workspace: Workspace, asked: Any) -> None:
    with pytest.raises((NotFoundError, InputError)):
        workspace.recall(*asked)


# --- with a language model


CANDIDATES = {"reasoning": "It says so.", "information": "From pier nine [1]."}


def recalled(folder: Path, *script: Any, **config: Any) -> tuple[RecallResult, list[Request]]:
    with llm_server(*script) as serving:
        settings = {"llm": "server:m", "llm_url": serving.address, "durability": "off"}
        with Workspace(folder, settings, embedder=Letters(), config=Config(**{**MODELS, **config})) as workspace:
            bank: Any = workspace.open_repo("sea")
            workspace.apply_changeset("sea", Changeset(NODES, TIES))
            assert isinstance(bank, Bank)
            return workspace.recall("sea", QUESTION), serving.requests


def test_a_recall_asks_a_model_three_to_six_times_and_tells_how_much_it_read(tmp_path: Path) -> None:
    least, requests = recalled(tmp_path / "a", "semantic", "ferry\npier", CANDIDATES, refinement_budget=0)
    assert (least.trace.llm_calls, len(requests)) == (3, 3)
    assert (least.trace.mode, least.trace.tags) == ("semantic", ["ferry", "pier"])
    assert least.reasoned.semantic == "From pier nine [1]."
    assert least.reasoned.cited == {"semantic": ("pier",)}
    words = sum(len(message["content"].split()) for request in requests for message in request.messages)
    assert least.trace.tokens["input_tokens"] == words
    assert least.trace.tokens["output_tokens"] > 0
    script = ("mixed", "ferry", {"tags": ["timetable"]}, CANDIDATES, CANDIDATES, CANDIDATES)
    most, requests = recalled(tmp_path / "b", *script, refinement_threshold=1.0)
    assert (most.trace.llm_calls, len(requests)) == (6, 6)
    assert [told["tags"] for told in most.trace.refinements] == [["timetable"]]


def test_a_model_that_answers_nonsense_costs_its_part_and_not_the_recall(tmp_path: Path) -> None:
    found, _ = recalled(tmp_path, "perhaps", "ferry", *[{"nothing": 1}] * 12)
    assert (found.trace.mode, found.touched_nodes[0].id) == ("mixed", "pier")
    assert found.reasoned.semantic is None
    assert len(found.trace.problems) >= 3


def measured(folder: Path, *script: Any, **config: Any) -> tuple[RecallResult, Any, Any]:
    """Return a recall's result, and the measurements and metadata of its telemetry event."""
    heard: list[Any] = []
    detach = telemetry.attach(lambda event, *told: heard.append(told) if event[1:] == ("retrieval", "answered") else 0)
    try:
        found, _ = recalled(folder, *script, **config)
    finally:
        detach()
    [(measurements, metadata)] = heard
    return found, measurements, metadata


def test_telemetry_tells_how_a_recall_went_and_nothing_that_was_said(tmp_path: Path) -> None:
    script = ("mixed", "ferry", {"tags": ["timetable"]}, CANDIDATES, CANDIDATES, CANDIDATES)
    found, counts, about = measured(tmp_path, *script, refinement_threshold=1.0)
    listed = telemetry.POINTS["retrieval.answered"]
    assert (set(counts), set(about)) == (set(listed.measurements), set(listed.metadata))
    assert [each["tags"] for each in about["refinements"]] == [1]
    asked = {each["step"]: each["calls"] for each in about["calls"]}
    assert asked == {
        "get_mode": 1,
        "get_plan": 1,
        "get_refined_query": 1,
        "reason_episodic": 1,
        "reason_semantic": 1,
        "reason_procedural": 1,
    }
    assert sum(each["input_tokens"] for each in about["calls"]) == found.trace.tokens["input_tokens"]
    assert {"mode", "terms", "embedding", "hop_0", "multi_hop", "refinement", "reasoning"} <= about["phases"].keys()
    assert sum(count for *_, count in about["found"]) == counts["candidates"] == len(found.touched_nodes)
    assert [one[0] for one in about["touched"]] == [one.id for one in found.touched_nodes]
    said = [QUESTION, "timetable", "pier nine", "It says so", "telephone"]
    assert [words for words in said if words in repr((counts, about))] == []


def test_what_a_model_failed_at_is_told_by_names_alone(tmp_path: Path) -> None:
    found, _, about = measured(tmp_path, "perhaps", "ferry", *[{"nothing": 1}] * 12)
    assert len(about["failures"]) == len(found.trace.problems)
    assert {"step": "mode", "error": "prompt"} in about["failures"]
    assert "perhaps" not in repr(about) and "nothing" not in repr(about)


def test_a_model_sees_the_number_of_each_candidate_and_no_ids(tmp_path: Path) -> None:
    _, requests = recalled(tmp_path, "semantic", "ferry", CANDIDATES, refinement_budget=0)
    shown = requests[-1].messages[-1]["content"]
    assert json.dumps("The ferry leaves from pier nine.") in shown
    assert '"n": 1' in shown
    assert "tide" not in shown.replace("The tide table hangs in the office.", "")


# --- in a session


def test_a_question_in_a_session_goes_with_the_goal_and_the_last_three_steps() -> None:
    context = {"goal": "Cross over", "recent_steps": [f"o{n} -> a{n}" for n in range(5)]}
    assert in_context(context, "When?") == (
        "Goal: Cross over\nRecent context:\n- o2 -> a2\n- o3 -> a3\n- o4 -> a4\n\nQuery: When?"
    )
    assert in_context({"goal": "Cross over", "recent_steps": []}, "When?") is None


def test_a_session_that_is_under_way_goes_with_a_question(workspace: Workspace, listening: Listening) -> None:
    id = workspace.start_session("Cross over", "sea")
    workspace.append(id, "The ferry was full.", "Asked for the next one.")
    found = workspace.recall_in_context("sea", id, QUESTION)
    assert "pier" in [touched.id for touched in found.touched_nodes]
    [done] = events(workspace, listening, "recall_executed")
    assert done.metadata["session_id"] == id
    assert done.payload["query"].startswith("Goal: Cross over\nRecent context:\n- The ferry was full. -> Asked")


def test_rules_look_for_the_words_of_a_question_in_a_session_and_not_for_its_layout(workspace: Workspace) -> None:
    id = workspace.start_session("Cross over", "sea")
    workspace.append(id, "The ferry was full.", "Asked for the next one.")
    found = workspace.recall_in_context("sea", id, QUESTION)
    looked_for = " ".join([*found.trace.tags, *(tag for each in found.trace.refinements for tag in each["tags"])])
    assert "ferry" in looked_for
    assert not {"goal", "query", "recent", "context"} & set(looked_for.casefold().split())


def test_what_was_observed_is_told_once_in_an_answer(workspace: Workspace) -> None:
    id = workspace.start_session("Cross over", "sea")
    workspace.append(id, "The ferry to Vega was full.", "Asked for the next one.")
    workspace.append(id, "The next ferry to Vega leaves at noon.", "Booked it.")
    workspace.close_and_commit(id)
    told = workspace.recall("sea", "What happened when the ferry to Vega was full?").reasoned.episodic
    assert told is not None
    assert told.count("The ferry to Vega was full.") == 1


def test_a_question_in_a_session_that_is_not_known_stands_alone(workspace: Workspace) -> None:
    found = workspace.recall_in_context("sea", "session_unknown", QUESTION)
    assert found.touched_nodes[0].id == "pier"
