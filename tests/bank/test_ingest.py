"""Ingesting a trajectory from elsewhere: once, with a receipt, in one piece, even if several callers send it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock
from tests.models.llm_server import fitting

from pieria import Bank, Workspace
from pieria.errors import AdapterError, ConflictError, InputError
from pieria.graph import NODE_TYPES
from pieria.models.llm import LLMResponse

TRIP: dict[str, Any] = {
    "source_id": "run-7",
    "goal": "Plan a trip to Japan",
    "steps": [
        {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."},
        {"observation": "March 3 to March 17, two weeks.", "action": "Booked the flight with ANA."},
    ],
    "metadata": {"ticket": 7},
}
OTHER = {**TRIP, "source_id": "run-8", "goal": "Plan a trip to Peru"}


class Counting:
    """A language model that gives the smallest valid answer to each request. It can wait or fail."""

    model = "counting"

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self.waits = False
        self.fails_at: int | None = None

    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        return self._answer(messages, "0.5")

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        return self._answer(messages, fitting(schema))

    def _answer(self, messages: Any, content: object) -> LLMResponse:
        self.asked.append(messages)
        self.begun.set()
        if self.waits:
            assert self.may_go_on.wait(10)
        if len(self.asked) == self.fails_at:
            raise AdapterError("counting", "chat", "it is out")
        return LLMResponse(content, self.model, {"input_tokens": 1, "output_tokens": 1})


def nodes(bank: Bank) -> list[str]:
    return sorted(node.id for node in bank.graph.get_nodes_by_type(NODE_TYPES))


def test_same_payload_gets_the_same_receipt_and_writes_nothing(clock: HandClock, kept: Kept) -> None:
    with Workspace(kept.data, kept.settings, clock=clock) as workspace:
        bank = workspace.open("ingest")
        receipt = bank.sessions.ingest(TRIP)
        assert (receipt.source_id, receipt.stored_at, receipt.is_new) == ("run-7", clock.now, True)
        assert set(receipt.node_ids) <= set(nodes(bank)) != set()
        head = bank.changes()[-1].seq
        clock.move(days=1)
        shuffled = {**dict(reversed(TRIP.items())), "steps": [dict(reversed(step.items())) for step in TRIP["steps"]]}
        again = bank.sessions.ingest(shuffled)
        assert (again, again.is_new, bank.changes()[-1].seq) == (receipt, False, head)
        bank.close()
        bank = workspace.open("ingest")
        assert bank.sessions.receipt("run-7") == receipt
        told: list[tuple[int, int]] = []
        receipts = bank.sessions.ingest_many([TRIP, OTHER], progress=lambda done, whole: told.append((done, whole)))
        assert [(one.source_id, one.is_new) for one in receipts] == [("run-7", False), ("run-8", True)]
        assert told == [(1, 2), (2, 2)]
        assert bank.sessions.receipt("run-9") is None


def test_erased_run_is_marked_in_its_receipt_and_not_taken_again(bank: Bank) -> None:
    receipt = bank.sessions.ingest(TRIP)
    erased = {*bank.purge(bank.list(source="run-7", kinds="source")[0].id).also} & set(receipt.node_ids)
    told = bank.sessions.receipt("run-7")
    assert told is not None
    assert erased < set(told.purged) < set(receipt.node_ids) == {*told.node_ids, *told.purged}
    assert bank.sessions.ingest(TRIP).node_ids == told.node_ids
    bank.forget(source="run-7", purge=True)
    for payload in (TRIP, {**TRIP, "goal": "Another"}):
        [again] = bank.sessions.ingest_many([payload])
        assert (again.is_new, again.node_ids, set(again.purged)) == (False, (), set(receipt.node_ids))
    assert nodes(bank) == []
    with bank.core.reading() as reader:
        assert reader.records("receipts")["run-7"]["digest"] is None
    assert bank.sessions.ingest({**TRIP, "source_id": "run-9"}).is_new


def test_run_becomes_knowledge_that_names_its_source(bank: Bank) -> None:
    receipt = bank.sessions.ingest(TRIP)
    kinds = {memory.kind: memory for memory in bank.list(source="run-7", limit=100)}
    assert {"episodic", "source", "subgoal"} <= kinds.keys()
    assert all(memory.meta == {"ticket": 7} for memory in kinds.values())
    steps = {" → ".join(step.values()) for step in TRIP["steps"]}
    assert {node.text for node in bank.graph.get_nodes_by_type(["episodic"])} == steps
    found = [hit.memory.id for hit in bank.recall("Who flies to Tokyo in March?", source="run-7")]
    assert set(found) & set(receipt.node_ids)
    step = {"observation": "The code is <private>4711</private>.", "action": "Opened <private>it</private> all."}
    bank.sessions.ingest({"source_id": "p", "goal": "Open <private>the safe</private> it", "steps": [step]})
    said = " ".join(memory.text for memory in bank.list(limit=100))
    assert "4711" not in said and "safe" not in said


def test_wrong_or_other_payload_is_refused_before_any_is_begun(bank: Bank) -> None:
    wrong = {"source_id": "", "goal": 7, "steps": [{"observation": "x", "reaction": "y"}], "meta": {}}
    with pytest.raises(InputError) as caught:
        bank.sessions.ingest_many([TRIP, wrong])
    told = {error.parameter for error in (caught.value, *caught.value.errors) if isinstance(error, InputError)}
    names = ("meta", "source_id", "goal", "steps[0].reaction", "steps[0].action")
    assert told == {f"trajectories[1].{name}" for name in names}
    expected = "trajectories[1].meta: expected no names but source_id, goal, steps, metadata, got 'meta'"
    assert (caught.value.message, caught.value.hint) == (expected, "Did you mean metadata?")
    with pytest.raises(InputError, match="1 to 10,000 steps"):
        bank.sessions.ingest({**TRIP, "steps": []})
    no_mappings: list[Any] = [[], "", 0, False]
    for metadata in no_mappings:
        with pytest.raises(InputError, match="metadata: expected a mapping"):
            bank.sessions.ingest({**TRIP, "metadata": metadata})
    assert nodes(bank) == []
    bank.sessions.ingest(TRIP)
    before = nodes(bank)
    changes: list[dict[str, Any]] = [{"goal": "Another"}, {"metadata": {}}, {"steps": TRIP["steps"][:1]}]
    for changed in changes:
        with pytest.raises(ConflictError, match="another payload") as other:
            bank.sessions.ingest({**TRIP, **changed})
        assert other.value.ids == ("run-7",)
    with pytest.raises(ConflictError) as other:
        bank.sessions.ingest_many([OTHER, {**TRIP, "goal": "Another"}, {**OTHER, "goal": "Another"}])
    assert other.value.ids == ("run-7", "run-8")
    hidden = {"observation": "<private>all of it</private>", "action": "Nothing."}
    with pytest.raises(InputError, match=r"trajectories\[2\]\.steps\[0\]\.observation: expected some text outside"):
        bank.sessions.ingest_many([TRIP, OTHER, {**OTHER, "source_id": "run-9", "steps": [hidden]}])
    assert (nodes(bank), bank.sessions.receipt("run-8")) == (before, None)


def test_two_callers_of_one_run_share_a_receipt_and_its_cost(tmp_path: Path) -> None:
    llm = Counting()
    with Workspace(tmp_path, llm=llm) as workspace, ThreadPoolExecutor(2) as threads:
        banks = [workspace.open("notes") for _ in range(2)]
        llm.waits = True
        first = threads.submit(banks[0].sessions.ingest, TRIP)
        assert llm.begun.wait(10)
        second = threads.submit(banks[1].sessions.ingest, TRIP)
        llm.may_go_on.set()
        one, other = first.result(), second.result()
        assert (one, one.is_new, other.is_new) == (other, True, False)
        asked = len(llm.asked)
        assert banks[0].sessions.ingest(TRIP) == one
        assert (len(llm.asked), [change.what for change in banks[0].changes()]) == (asked, ["graph"])


def test_nothing_is_kept_where_a_model_fails(tmp_path: Path) -> None:
    llm = Counting()
    with Workspace(tmp_path, llm=llm) as workspace:
        bank = workspace.open("notes")
        llm.fails_at = 4
        with pytest.raises(AdapterError):
            bank.sessions.ingest(TRIP)
        assert (nodes(bank), bank.sessions.receipt("run-7")) == ([], None)
        llm.fails_at = None
        assert bank.sessions.ingest(TRIP).is_new
        assert len(llm.asked) == 5, "the failed request, and none of the others, again"
        assert bank.sessions.tries == {}
