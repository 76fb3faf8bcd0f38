"""Recall on the graph uses the bank's recall: the same hits in the same order, by node type."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import letters, vector

from benchmarks.learning.answerable import DAY, learned, read, settings
from pieria import Bank, Config, EmbeddingResponse, Workspace, telemetry
from pieria.graph import Changeset, Edge, Episodic, Procedural, Semantic, Subgoal, Tag
from pieria.graph.search import Question
from pieria.graph.value_function import values_of
from pieria.learning import RecallResult

ANSWERING = ("episodic", "semantic", "procedural")
PAGE = 20
MODELS: dict[str, Any] = {"llm": {"model": "none"}, "embedding": {"model": "auto"}}
NODES = [
    Semantic(id="pier", proposition="The ferry leaves from pier nine."),
    Semantic(id="toll", proposition="Cars pay four crowns."),
    Tag(id="ferry", label="ferry"),
    Subgoal(id="aim", description="Get across"),
    Episodic(id="step", observation="The ferry was full.", action="Booked the next one."),
    Procedural(id="book", instruction="Book by telephone.", condition="the ferry is full"),
]
TIES = [
    ("ferry", "pier", Edge.MEMBERSHIP), ("ferry", "toll", Edge.MEMBERSHIP), ("step", "aim", Edge.HIERARCHICAL),
]  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path, {"embedder": "none", "count_uses": True}) as workspace:
        workspace.open_repo("sea")
        workspace.apply_changeset("sea", Changeset(NODES, TIES))
        yield workspace


def bank_of(workspace: Workspace, name: str = "sea") -> Bank:
    bank = workspace._repository(name).bank
    assert bank is not None
    return bank


def answering(found: RecallResult) -> list[str]:
    return [each.id for each in found.touched_nodes if each.type in ANSWERING]


def test_each_question_finds_the_hits_of_recall_in_order(tmp_path: Path) -> None:
    with Workspace(tmp_path, settings("hashing")) as workspace:
        learned(workspace, "day", read(DAY / "day.json"))
        bank = bank_of(workspace, "day")
        for question in [each["question"] for each in read(DAY / "questions.json")][::3]:
            hits = bank.recall(question, k=PAGE)
            found = workspace.recall("day", question)
            assert answering(found)[: len(hits)] == [hit.memory.id for hit in hits], question
            assert found.confidence == hits.confidence


def test_memories_of_other_tools_come_in_the_same_order(workspace: Workspace) -> None:
    bank = bank_of(workspace)
    bank.remember_many([{"text": f"The ferry left late on day {n}."} for n in range(9)])
    bank.remember("The night ferry leaves from pier ten.", scope="user", id="mine")
    hits = [hit.memory.id for hit in bank.recall("Where does the night ferry leave from?", k=PAGE)]
    found = answering(workspace.recall("sea", "Where does the night ferry leave from?"))
    assert "mine" in hits
    assert found[: len(hits)] == hits
    assert bank.usage("mine")["mine"].accesses > 0


def test_what_a_hop_brings_stands_behind_every_hit(workspace: Workspace) -> None:
    question = "Where does the ferry leave from?"
    hits = [hit.memory.id for hit in bank_of(workspace).recall(question, k=PAGE)]
    assert "toll" not in hits, "no word of the question leads there"
    found = workspace.recall("sea", question, max_hops=1)
    assert answering(found) == [*hits, "toll"]
    assert [(each.phase, each.hop) for each in found.touched_nodes if each.id == "toll"] == [("multi_hop", 1)]
    assert answering(workspace.recall("sea", question, max_hops=0)) == hits
    # A subgoal comes with its steps and behind them.
    scores = {each.id: each.score for each in workspace.recall("sea", "When was the ferry full?").touched_nodes}
    assert 0 < scores["aim"] < scores["step"]


def test_further_terms_of_a_question_are_searched_for(workspace: Workspace) -> None:
    bank = bank_of(workspace)
    bank.remember("Herons nest in the reeds.", id="herons")

    def scores(**terms: Any) -> dict[str, float]:
        asked = Question("Where does the ferry leave from?", **terms)
        found = bank.graph.everything._searching().found(asked, ANSWERING, values_of(None, None))
        return {each.id: each.score for each in found.valued}

    alone, both = scores(), scores(terms=["nesting herons"])
    assert "herons" not in alone and both["herons"] > 0
    assert both == pytest.approx(alone | {"herons": both["herons"]})


def test_as_many_of_a_type_are_found_as_are_asked_for(tmp_path: Path) -> None:
    for most in (3, 25):
        config = Config(**MODELS, value_function={"params": {"semantic": {"top_k": most}}})
        with Workspace(tmp_path / str(most), {"embedder": "none"}, config=config) as workspace:
            bank: Any = workspace.open_repo("sea")
            bank.remember_many([{"text": f"The ferry left late on day {n}."} for n in range(30)])
            found = workspace.recall("sea", "When did the ferry leave late?", max_hops=0)
        assert len(found.candidates["semantic"]) == most


def test_one_recall_event_is_sent_for_the_whole(workspace: Workspace) -> None:
    heard: list[str] = []
    detach = telemetry.attach(lambda event, *_: heard.append(".".join(event[1:])))
    workspace.recall("sea", "Where does the ferry leave from?")
    detach()
    assert "retrieval.answered" in heard
    assert "recall.answered" not in heard


class Halting:
    """An embedding of lower dimension than the bank's. It waits before it embeds the texts about decks."""

    def __init__(self) -> None:
        self.may_go = threading.Event()

    def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
        return EmbeddingResponse([vector(text)[:5]], "halting")

    def embed_batch(self, texts: Sequence[str], opts: Any = None) -> EmbeddingResponse:
        assert not any("deck" in text for text in texts) or self.may_go.wait(20)
        return EmbeddingResponse([vector(text)[:5] for text in texts], "halting")


def test_bank_answers_while_it_moves_to_another_embedder(tmp_path: Path) -> None:
    with Workspace(tmp_path, embedder=letters) as workspace:
        bank: Any = workspace.open_repo("sea")
        workspace.apply_changeset("sea", Changeset(NODES, TIES))
        bank.remember_many([{"text": f"Cars wait on deck {n}."} for n in range(200)])
    with Workspace(tmp_path, embedder=(halting := Halting())) as workspace:
        bank = workspace.open_repo("sea")
        bank.core.embedding.question("asked before, so that its dimension is known", 20)
        # As another process leaves the bank: in a new space that has no vectors yet.
        bank.use_embedder()
        assert bank.stats().pending["vectors"] > 0
        found = workspace.recall("sea", "Where does the ferry to Vega island leave from?")
        assert "pier" in [each.id for each in found.touched_nodes]
        assert found.trace.refinements, "what is missing was asked for, and compared with what was met before"
        halting.may_go.set()
        assert bank.sync(20)
        assert "pier" in [each.id for each in workspace.recall("sea", "Where does the ferry leave?").touched_nodes]
